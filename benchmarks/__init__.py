"""Benchmarks: figures of one run, as ratios."""
