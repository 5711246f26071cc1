"""Every way in which people count, and which of them gives a number."""
