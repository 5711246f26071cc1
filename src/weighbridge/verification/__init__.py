"""A config held against a checkpoint, and one model against another, tensor by tensor."""
