"""Readers of checkpoints: one format a file; headers only, no weights are read and no code in them is run."""

from weighbridge.readers.checkpoint import as_model, listing_at, read_listing, rows
from weighbridge.readers.formats import FORMATS, Format, list_open, read_file
from weighbridge.readers.listing import Listing, StoredTensor

__all__ = ["FORMATS", "Format", "Listing", "StoredTensor", "as_model", "list_open", "listing_at", "read_file", "read_listing", "rows"]
