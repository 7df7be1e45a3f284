"""Noise: exact samplers over integers, and the tails, thresholds and scales that go with them."""
