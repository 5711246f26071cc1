"""Model types whose code stands beside their files on the Hub, and not in the reference library."""
