"""How expressions are printed: one module per engine that runs them. Data about SQL, no engine."""
