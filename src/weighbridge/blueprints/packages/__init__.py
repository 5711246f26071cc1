"""Classes of other packages than the reference library, each held to its own package's live class."""
