"""ColPali and its kin: a model that sees, and a small vector for each of its tokens, by which pages are found.

Source: arXiv 2407.01449 (ColPali); names as in transformers 5.23.0, models/colpali/modeling_colpali.py and its siblings.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.composite import composed, submodel, under
from weighbridge.blueprints.modules.vlm_common import NEUTRAL
from weighbridge.config.family import Family
from weighbridge.config.fields import Sizes, size
from weighbridge.core.parts import linear, part
from weighbridge.core.tree import Part


def retrieval(c: Sizes) -> Part:
    """Describe the model inside, and the linear layer to the small vectors."""
    return part("", under("vlm", submodel(c.vlm)), linear("embedding_proj_layer", c.vlm.text.hidden, c.dim), kind="model")


def kin(model_type: str, name: str, inside: str) -> Family:
    """Return one type: its one class, around a model of type *inside*."""
    fields = (composed("vlm", "vlm_config", inside), size("dim", "embedding_dim", 128, "E", "width of the shared space"))
    return Family(model_type, fields, {f"{name}ForRetrieval": retrieval}, f"{name}ForRetrieval", NEUTRAL)


FAMILIES = {
    entry.model_type: entry
    for entry in (
        kin("colpali", "ColPali", "paligemma"),
        kin("colqwen2", "ColQwen2", "qwen2_vl qwen2_5_vl"),
        kin("colmodernvbert", "ColModernVBert", "modernvbert"),
    )
}
