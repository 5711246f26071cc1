"""Llama: "Open and Efficient Foundation Language Models" (Touvron et al., 2023), and the many models with the same structure.

Source: arXiv 2302.13971, section 2.2; class and tensor names as in transformers 5.23.0, models/llama/modeling_llama.py
and the modular_*.py files of the others, which say how they differ.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import (
    FIELDS,
    IGNORED_KEYS,
    NO_BIAS,
    NO_MLP_BIAS,
    NO_OUT_BIAS,
    NO_QKV_BIAS,
    Body,
    attention,
    with_heads,
)
from weighbridge.blueprints.modules.sliding_window import window, windowed_layers
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, constant, switch, variant
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.parts import embedding, gated_mlp, part, plain_mlp, replace, rms_norm
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Tensor

if TYPE_CHECKING:
    from collections.abc import Mapping


def llama(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers of attention and a gated MLP with a norm before each, and a last norm."""
    layer = part(
        "layers",
        attention(c, before=sinks(c)),
        gated_mlp("mlp", c.hidden, c.mlp, bias=c.mlp_bias) if c.gated else plain_mlp("mlp", c.hidden, c.mlp, bias=c.mlp_bias),
        *(rms_norm(name, c.hidden) for name in c.norms),
        kind="layer",
        repeat=c.layers,
    )
    return (embedding("embed_tokens", c.vocab, c.hidden), layer, rms_norm("norm", c.hidden))


def sinks(c: Config) -> tuple[Tensor, ...]:
    """Describe attention sinks: one learned score per head that takes part in the softmax."""
    return (Tensor("sinks", (c.heads,), "bias"),) if c.sinks else ()


def all_biases(key: str, default: bool = False) -> dict[str, Field]:
    """Return the fields of the three biases, all switched by one key."""
    return {word: switch(word, key, default) for word in ("qkv_bias", "out_bias", "mlp_bias")}


def _layers_after_full(c: Config) -> int:
    """Count the layers with a window in Qwen: those after the first ``max_window_layers``, which attend to everything."""
    return max(0, c.layers - c.late) if c.limited else 0


def _layers_without_rotary(c: Config) -> int:
    """Count the layers without rotary embeddings in SmolLM3: they have the window where it is switched on."""
    if not c.limited:
        return 0
    rotary = c.rotary_layers if isinstance(c.rotary_layers, list) else [(index + 1) % c.interval for index in layer_range(c.layers)]
    return sum(not each for each in rotary)


def _three_of_four(c: Config) -> int:
    """Count the layers with a window where every fourth layer attends to everything."""
    return int(c.layers) * 3 // 4


LLAMA = variant(
    FIELDS,
    constant("gated", True),
    constant("norms", ("input_layernorm", "post_attention_layernorm")),
    constant("sinks", False),
)
PERI_NORMS = ("input_layernorm", "post_attention_layernorm", "post_norm1", "post_norm2")
LATE_WINDOW = (
    switch("limited", "use_sliding_window", False),
    Field("late", "max_window_layers", 28, "choice"),
    window(),
    windowed_layers(_layers_after_full),
)
"""In Qwen, attention is limited only if it is switched on, and only after the first ``max_window_layers`` layers."""
ATTENTION_BIAS = (switch("qkv_bias", "attention_bias", False), switch("out_bias", "attention_bias", False))
QKV_BIAS = constant("qkv_bias", True)

QWEN2 = variant(LLAMA, *NO_BIAS, QKV_BIAS, *LATE_WINDOW, vocab=151936, mlp=22016, kv_heads=32)
QWEN3 = variant(QWEN2, *ATTENTION_BIAS, head_dim=128, qk_norm="head")

TYPES: dict[str, tuple[str, str, tuple[Field, ...]]] = {
    "llama": ("Llama", "lm sequence token qa", LLAMA),
    "mistral": ("Mistral", "lm sequence token qa", variant(LLAMA, *NO_BIAS, mlp=14336, kv_heads=8, window=window())),
    "ministral": (
        "Ministral",
        "lm sequence token qa",
        variant(LLAMA, *NO_BIAS, mlp=14336, kv_heads=8, window=window(), windowed=windowed_layers()),
    ),
    "ministral3": (
        "Ministral3",
        "lm sequence token qa",
        variant(LLAMA, *NO_BIAS, vocab=131072, mlp=14336, layers=34, kv_heads=8, head_dim=128, window=window(default=None)),
    ),
    "qwen2": ("Qwen2", "lm sequence token qa", QWEN2),
    "qwen3": ("Qwen3", "lm sequence token qa", QWEN3),
    "granite": ("Granite", "lm", LLAMA),
    "granite4_vision_text": ("Granite4VisionText", "", LLAMA),
    "granite_swa": (
        "GraniteSWA",
        "lm",
        variant(
            LLAMA,
            vocab=100352,
            hidden=2560,
            mlp=8192,
            layers=24,
            heads=20,
            kv_heads=4,
            tied=True,
            sinks=True,
            window=window(default=128),
            windowed=windowed_layers(_three_of_four),
        ),
    ),
    "hyperclovax": (
        "HyperCLOVAX",
        "lm",
        variant(LLAMA, norms=Field("norms", "use_post_norm", True, "choice", read=lambda post: PERI_NORMS if post else PERI_NORMS[:2])),
    ),
    "smollm3": (
        "SmolLM3",
        "lm sequence token qa",
        variant(
            (
                Field("rotary_layers", "no_rope_layers", None, "choice", report_default=False),
                Field("interval", "no_rope_layer_interval", 4, "choice", report_default=False),
                *LLAMA,
            ),
            vocab=128256,
            hidden=2048,
            layers=36,
            heads=16,
            kv_heads=4,
            tied=True,
            limited=switch("limited", "use_sliding_window", False),
            window=window(default=None),
            windowed=windowed_layers(_layers_without_rotary),
        ),
    ),
    "internlm3": (
        "Llama",
        "lm",
        variant(
            LLAMA,
            vocab=128512,
            mlp=10240,
            layers=48,
            kv_heads=2,
            head_dim=128,
            qkv_bias=switch("qkv_bias", "attention_bias", False, "qkv_bias"),
            out_bias=switch("out_bias", "attention_bias", False, "qkv_bias"),
            mlp_bias=switch("mlp_bias", "mlp_bias", False, "bias"),
        ),
    ),
    "iquestcoder": ("Llama", "lm", variant(LLAMA, vocab=76800, hidden=5120, mlp=27648, layers=80, heads=40, kv_heads=8, head_dim=128)),
    "ernie4_5": (
        "Ernie4_5",
        "lm",
        variant(
            LLAMA, vocab=103424, hidden=1024, mlp=3072, layers=18, heads=16, kv_heads=2, head_dim=128, tied=True, **all_biases("use_bias")
        ),
    ),
    "hunyuan_v1_dense": (
        "HunYuanDenseV1",
        "lm sequence",
        variant(LLAMA, NO_MLP_BIAS, vocab=290943, qk_norm="head", qk_names=("query_layernorm", "key_layernorm")),
    ),
    "seed_oss": (
        "SeedOss",
        "lm sequence token qa",
        variant(
            LLAMA,
            vocab=155136,
            mlp=27648,
            layers=64,
            heads=80,
            kv_heads=8,
            head_dim=128,
            qkv_bias=True,
            out_bias=switch("out_bias", "attention_out_bias", False),
        ),
    ),
    "cwm": (
        "Cwm",
        "lm",
        variant(
            LLAMA,
            NO_QKV_BIAS,
            NO_OUT_BIAS,
            vocab=128256,
            hidden=6144,
            mlp=21504,
            layers=64,
            heads=48,
            kv_heads=8,
            head_dim=128,
            window=window(default=8192),
            windowed=windowed_layers(_three_of_four),
        ),
    ),
    "arcee": ("Arcee", "lm sequence token qa", variant(LLAMA, hidden=2560, mlp=18432, gated=False)),
}
"""By model type: what its class names begin with; its heads (language model, sequence or token classification, question answering); its fields."""

UNDER_TRANSFORMER = {"llama", "ministral", "qwen2", "qwen3", "smollm3", "seed_oss", "arcee", "exaone4"}
"""Types whose class for question answering holds the body under the name ``transformer``."""

REMOTE = {"internlm3": "InternLM3", "iquestcoder": "IQuestCoder"}
"""What the class names of published configs begin with, where the reference library takes Llama's classes for them."""


def families(types: Mapping[str, tuple[str, str, tuple[Field, ...]]], body: Body = llama) -> dict[str, Family]:
    """Return the families of a table such as :data:`TYPES`."""
    return {
        model_type: Family(
            model_type,
            fields,
            with_heads(name, body, heads, qa="transformer" if model_type in UNDER_TRANSFORMER else ""),
            name + "Model",
            IGNORED_KEYS,
        )
        for model_type, (name, heads, fields) in types.items()
    }


def _with_published_names(family: Family) -> Family:
    """Add the class names that published configs of a type have in ``architectures``."""
    added = {name.replace("Llama", REMOTE[family.model_type]): made for name, made in family.classes.items()}
    return replace(family, classes={**family.classes, **added}, remote=frozenset(added))


FAMILIES = {name: _with_published_names(family) if name in REMOTE else family for name, family in families(TYPES).items()}
FAMILIES["emu3_text_model"] = Family(
    "emu3_text_model",
    variant(LLAMA, vocab=184622, mlp=14336, kv_heads=8),
    with_heads("Emu3", llama, "lm", base="TextModel"),
    "Emu3TextModel",
    IGNORED_KEYS,
)
