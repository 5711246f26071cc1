"""ColPali, ColQwen and ColModernVBERT: a vision-language model with a small vector per token, for document retrieval.

Source: arXiv 2407.01449 (ColPali); names as in transformers 5.23.0, models/colpali/modeling_colpali.py and its siblings.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, size
from weighbridge.core.parts import linear, part
from weighbridge.core.tree import Part


def retrieval(c: Config) -> Part:
    """Describe the model inside, and the linear layer to the small vectors."""
    return part("", as_child("vlm", submodel(c.vlm)), linear("embedding_proj_layer", c.vlm.text.hidden, c.dim), kind="model")


def family_of(model_type: str, name: str, inside: str) -> Family:
    """Return one type: its one class, around a model of type *inside*."""
    fields = (model_config("vlm", "vlm_config", inside), size("dim", "embedding_dim", 128, "E", "width of the shared space"))
    return Family(model_type, fields, {f"{name}ForRetrieval": retrieval}, f"{name}ForRetrieval", IGNORED_KEYS)


FAMILIES = {
    entry.model_type: entry
    for entry in (
        family_of("colpali", "ColPali", "paligemma"),
        family_of("colqwen2", "ColQwen2", "qwen2_vl qwen2_5_vl"),
        family_of("colmodernvbert", "ColModernVBert", "modernvbert"),
    )
}
