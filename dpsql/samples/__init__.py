"""Made-up datasets with the shapes that are talked about: seeded, offline, made in seconds."""
