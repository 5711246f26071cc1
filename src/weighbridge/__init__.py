"""Weigh a transformer without loading it.

>>> import weighbridge
>>> weighbridge.count("bert-base-uncased").unique
109482240
"""

from weighbridge.core.errors import ConfigError, ReadError, SourceError, UnknownArchitecture, UsageError, WeighbridgeError
from weighbridge.model import Model, count, model

__version__ = "0.1.0"
__all__ = [
    "ConfigError",
    "Model",
    "ReadError",
    "SourceError",
    "UnknownArchitecture",
    "UsageError",
    "WeighbridgeError",
    "count",
    "model",
]
