"""What releases cost (loss) and what has been spent (ledger)."""
