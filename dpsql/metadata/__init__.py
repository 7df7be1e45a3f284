"""The YAML that owners write: read, checked, written."""
