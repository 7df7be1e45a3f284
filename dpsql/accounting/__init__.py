"""What a release costs (loss) and what has been spent (ledger)."""
