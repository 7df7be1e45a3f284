"""The relational IR: what a statement means once every name is resolved. Frozen values, no behaviour, no SQL text."""
