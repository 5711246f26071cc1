"""The modules of sentence-transformers in sequence: a transformer, then what makes one vector of its tokens.

Source: sentence-transformers 6.2.0, base/modules and sentence_transformer/modules: ``SentenceTransformer`` is a sequence whose modules
bear the names that ``modules.json`` gives them. The transformer is what ``AutoModel`` builds, of T5 the encoder alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from weighbridge.config.family import Blueprint
from weighbridge.config.fields import Config
from weighbridge.config.sentence_modules import SentenceModule
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import layer_norm, linear, part, replace
from weighbridge.core.tree import Part

CLASS = "SentenceTransformer"
WITHOUT_TENSORS = frozenset("Pooling Normalize Dropout".split())
ENCODERS = {"t5": "T5EncoderModel", "mt5": "MT5EncoderModel", "umt5": "UMT5EncoderModel"}
"""Of which types the transformer is not the base class."""


def sentence_transformer(transformer: Blueprint, modules: Sequence[SentenceModule]) -> Blueprint:
    """Return the blueprint of the sequence; *transformer* describes the first module.

    Raises:
        ConfigError: A module that is not described, or one without its sizes.
    """
    behind = tuple(made for module in modules[1:] for made in describe_module(module))

    def blueprint(c: Config) -> Part:
        whole = part(modules[0].name, replace(transformer(c), name="model"), kind="backbone")
        return part("", whole, *behind, kind="model")

    return blueprint


def describe_module(module: SentenceModule) -> tuple[Part, ...]:
    """Describe one module behind the transformer; a pooling has no tensors.

    >>> from weighbridge.config.sentence_modules import SentenceModule
    >>> dense = SentenceModule("2", "Dense", {"in_features": 768, "out_features": 256, "bias": False})
    >>> [child.children[0].shape for child in describe_module(dense)[0].children]
    [(256, 768)]
    """
    if module.kind in WITHOUT_TENSORS:
        return ()
    if module.kind == "LayerNorm":
        return (part(module.name, layer_norm("norm", _size(module, "dimension")), kind="pooler", stream="one"),)
    if module.kind != "Dense":
        raise ConfigError(Text("{kind} of sentence-transformers is not described", kind=module.kind), key=f"modules.{module.name}.type")
    inputs, outputs = _size(module, "in_features"), _size(module, "out_features")
    maps = [linear("linear", inputs, outputs, bias=bool(module.config.get("bias", True)))]
    if module.config.get("use_residual") and inputs != outputs:
        maps.append(linear("residual", inputs, outputs, bias=False))
    return (part(module.name, *maps, kind="pooler", stream="one"),)


def _size(module: SentenceModule, key: str) -> int:
    value = module.config.get(key)
    if type(value) is not int or not 0 < value < 2**31:
        raise ConfigError(Text("expected a size, found {value!r:.60}", value=value), key=f"modules.{module.name}.{key}", value=value)
    return value
