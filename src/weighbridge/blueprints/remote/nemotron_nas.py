"""Llama-Nemotron (2024): Llama after a search that thinned each layer out; its code stands beside its files on the Hub.

Source: arXiv 2411.19146 (Puzzle) and 2505.00949; modeling_decilm.py of nvidia/Llama-3_3-Nemotron-Super-49B-v1. Held to the published
size (49.9 billion), not to a live class.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import FIELDS, IGNORED_KEYS, attention, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, constant, sequence, variant, with_changes
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import embedding, gated_mlp, linear, part, rms_norm, stack
from weighbridge.core.tree import Node

if TYPE_CHECKING:
    from typing import Any


class Block(NamedTuple):
    """What the search left of a layer.

    Attributes:
        kv_heads: Key-value heads; 0 where there is no attention, -1 where one matrix stands in its place.
        mlp: Width inside the feed-forward network; 0 where there is none.
    """

    kv_heads: int
    mlp: int


def ffn_width(multiple: float, hidden: int) -> int:
    """Return two thirds of *multiple* times *hidden*, rounded up to a multiple of 256, as the class does.

    >>> ffn_width(5.25, 8192), ffn_width(0.5, 8192)
    (28672, 2816)
    """
    return -(-int(2 * multiple * hidden / 3) // 256) * 256


def _blocks(c: Config) -> list[Block]:
    if c.configs is None:
        raise ConfigError("missing: what the search left of each layer", key="block_configs")
    if len(c.configs) != c.layers:
        raise ConfigError(
            Text("{found} entries for {layers} layers", found=len(c.configs), layers=c.layers),
            key="block_configs",
            hint="one for each layer",
        )
    return [_block(c, entry, f"block_configs.{index}") for index, entry in enumerate(c.configs)]


def _block(c: Config, entry: Any, path: str) -> Block:
    if not isinstance(entry, dict) or not all(isinstance(entry.get(half), dict) for half in ("attention", "ffn")):
        raise ConfigError(Text("expected attention and ffn, found {value!r:.60}", value=entry), key=path, value=entry)
    attended, ffn = entry["attention"], entry["ffn"]
    if ffn.get("replace_with_linear"):
        raise ConfigError(
            "a feed-forward network that one matrix replaces is not described", key=f"{path}.ffn.replace_with_linear", value=True
        )
    return Block(_kv_heads(c, attended, f"{path}.attention"), _width(c, ffn, f"{path}.ffn"))


def _kv_heads(c: Config, attended: dict[str, Any], path: str) -> int:
    if attended.get("no_op"):
        return 0
    if attended.get("replace_with_linear"):
        return -1
    each = attended.get("n_heads_in_group")
    if type(each) is not int or each < 1 or c.heads % each:
        text = Text("expected a divisor of the {heads} heads, found {value!r:.60}", heads=c.heads, value=each)
        raise ConfigError(text, key=f"{path}.n_heads_in_group", value=each)
    return c.heads // each


def _width(c: Config, ffn: dict[str, Any], path: str) -> int:
    if ffn.get("no_op"):
        return 0
    multiple: Any = ffn.get("ffn_mult")
    if type(multiple) not in (int, float) or not 0 < multiple < 10**4:
        raise ConfigError(Text("expected a multiple, found {value!r:.60}", value=multiple), key=f"{path}.ffn_mult", value=multiple)
    return ffn_width(multiple, c.hidden)


NEMOTRON_NAS = variant(
    FIELDS,
    sequence("configs", "block_configs", None),
    constant("blocks", _blocks),
    kv_heads=constant("kv_heads", None),
    mlp=constant("mlp", None),
)


def nemotron_nas(c: Config) -> tuple[Node, ...]:
    """Describe Llama's layers, each with the attention and the feed-forward network that the search left it, or without."""
    H = c.hidden

    def layer(block: Block) -> tuple[Node, ...]:
        attended: tuple[Node, ...] = ()
        if block.kv_heads == -1:
            matrix = part("self_attn", linear("linear_attn", H, H, bias=c.out_bias))
            attended = (matrix, rms_norm("input_layernorm", H))
        elif block.kv_heads:
            attended = (attention(with_changes(c, kv_heads=block.kv_heads)), rms_norm("input_layernorm", H))
        if not block.mlp:
            return attended
        return (*attended, gated_mlp("mlp", H, block.mlp, bias=c.mlp_bias), rms_norm("post_attention_layernorm", H))

    return (embedding("embed_tokens", c.vocab, H), *stack("layers", c.blocks, c.layers, layer), rms_norm("norm", H))


MORE_IGNORED_KEYS = IGNORED_KEYS | {"intermediate_size", "num_key_value_heads", "pretraining_tp"}
FAMILIES = {
    "nemotron-nas": Family("nemotron-nas", NEMOTRON_NAS, with_heads("DeciLM", nemotron_nas, "lm"), "DeciLMModel", MORE_IGNORED_KEYS)
}
