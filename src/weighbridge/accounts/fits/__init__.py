"""Whether a model fits a device: the largest batch, the longest context, what makes it fit, and how fast it can be at most."""
