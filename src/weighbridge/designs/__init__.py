"""The other way round: which config has this many parameters, one unknown at a time or a whole design."""
