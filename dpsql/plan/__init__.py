"""Plans as data, and how their expressions and relations are printed for an engine."""
