"""Verify a checkpoint against its config, and compare two models, tensor by tensor."""
