"""What is told of a plan: EXPLAIN, the privacy report, the release record, half-widths."""
