"""Types, intervals and domains: the vocabulary of inference."""
