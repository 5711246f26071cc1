"""Benchmarks: figures of one run, as ratios."""

from benchmarks.usage import print_usage

print_usage("benchmarks")
