"""What a query needs around its plan: SQL for the vault and for scratch, choices that come before it, intervals of rows."""
