"""One rule per relational operator; each docstring is its lemma and proof. See privacy/track.py for the invariant."""
