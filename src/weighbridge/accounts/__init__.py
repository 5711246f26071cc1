"""What a tree amounts to: parameters, FLOPs, memory. Each account is one walk over the tree."""
