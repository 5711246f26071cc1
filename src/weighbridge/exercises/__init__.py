"""Counting exercises, made from the tree of any described model and a seed, and marked step by step."""
