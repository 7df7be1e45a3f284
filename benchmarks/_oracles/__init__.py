"""Independent implementations, in an environment of their own: dpsql neither needs nor imports them."""
