"""Hold what a text claims against itself, against models, and against the conventions people count by."""
