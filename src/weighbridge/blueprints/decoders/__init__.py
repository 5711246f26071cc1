"""Dense causal language models."""
