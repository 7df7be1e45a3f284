"""The privacy rules: which relations are private (track), what a release may change by (bound), which noise (measure).

Nothing here imports an engine: a proof cannot depend on data.
"""
