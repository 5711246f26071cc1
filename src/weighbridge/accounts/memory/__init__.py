"""Bytes of a model at work: weights, gradients, optimizer states, and what autograd keeps of a forward pass."""
