"""Plans to a backend's SQL.

relation    IR relations, for the vault and for scratch alike
clean       a private table's cleaned projection
bounding    a Stage: keys to ordinals, values to the grid, A, B, C, totals to the noise grid
finish      the noisy table of a stage as the columns the analyst asked for
"""
