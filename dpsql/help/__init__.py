"""What users read: one Markdown file a topic, shipped with the package."""
