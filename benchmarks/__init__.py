"""Benchmarks: one module per question, each with `main(argv)`. `python -m benchmarks NAME` answers one."""
