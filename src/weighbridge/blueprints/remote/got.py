"""GOT-OCR 2.0 by its own code: Segment Anything's encoder before a small Qwen2, whose config it shares.

Source: arXiv 2409.01704; modeling_GOT.py and got_vision_b.py of stepfun-ai/GOT-OCR2_0. Held to the total of the published file (716,033,280, the words twice), not to a live
class. The library's own ``got_ocr2`` is another layout of the same tensors.
"""

from __future__ import annotations

from weighbridge.blueprints.decoders.llama import QWEN2, llama
from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS, with_heads
from weighbridge.blueprints.modules.deepseek_sam import with_one_way
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, variant
from weighbridge.core.length import unknown
from weighbridge.core.parts import linear, replace
from weighbridge.core.tree import Node

VIEWS = unknown("how many views an image is cut into depends on its sides")
WIDTH, IMAGE = 1024, 1024
"""Width of what the tower puts out, and the side of a view; the code has both fixed."""


def got(c: Config) -> tuple[Node, ...]:
    """Describe the text, the tower and the map between them, which the code gives no other width than the tower's."""
    towers = with_one_way(IMAGE, "vision_tower_high"), linear("mm_projector_vary", WIDTH, WIDTH)
    return (*llama(c), *(replace(one, stream=VIEWS, requires="images", executions="images") for one in towers))


FIELDS = variant(QWEN2, vocab=151860, hidden=WIDTH, mlp=2816, layers=24, heads=16, kv_heads=16, tied=True)
KEYS = IGNORED_KEYS | frozenset(
    """freeze_vision_tower im_end_token im_patch_token im_start_token image_token_len sliding_window use_im_start_end use_sliding_window vision_select_layer
    vision_tower""".split()
)
FAMILIES = {"GOT": Family("GOT", FIELDS, with_heads("GOTQwen", got, "lm"), "GOTQwenForCausalLM", KEYS)}
