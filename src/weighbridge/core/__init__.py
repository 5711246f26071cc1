"""The foundations: errors, sizes, the tree, its parts, formulas. They know nothing of configs or files."""
