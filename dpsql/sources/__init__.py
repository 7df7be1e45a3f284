"""Which data and which ledger belong to a catalog, and which files an interface may touch."""
