"""Causal language models with a mixture of experts."""
