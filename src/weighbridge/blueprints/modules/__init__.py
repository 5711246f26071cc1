"""Parts that many architectures share."""
