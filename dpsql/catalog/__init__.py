"""What the owner says about the data: strict YAML (or a dict) becomes a frozen Catalog, or every problem at once."""
