"""nanoGPT: GPT-2 as Karpathy's repository trains it, with biases or without.

Source: karpathy/nanoGPT, model.py: ``GPTConfig`` (``model_args`` of its checkpoints), which names no model type and is known by its
keys. The repository counts without the position table; ``weigh reconcile`` knows that convention.
"""

from __future__ import annotations

from weighbridge.config.family import Family
from weighbridge.config.fields import Config, derived, size, switch
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Part

FIELDS = (
    size("vocab", "vocab_size", 50304, "V", "vocabulary size"),
    size("positions", "block_size", 1024, "S", "positions"),
    size("layers", "n_layer", 12, "L", "layers"),
    size("heads", "n_head", 12, "A", "attention heads"),
    size("hidden", "n_embd", 768, "H", "hidden size"),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "n_embd", "n_head"),
    switch("bias", "bias", True),
)


def gpt(c: Config) -> Part:
    """Describe GPT: embeddings of tokens and positions, layers with a norm before each half, and a head that is the token table again."""
    H = c.hidden
    attention = part(
        "attn",
        linear("c_attn", H, 3 * H, bias=c.bias),
        linear("c_proj", H, H, bias=c.bias),
        attend(causal=True, heads=c.heads, head_dim=c.head_dim),
        kind="self_attention",
    )
    mlp = part("mlp", linear("c_fc", H, 4 * H, bias=c.bias), linear("c_proj", 4 * H, H, bias=c.bias), kind="feed_forward")
    block = part("h", layer_norm("ln_1", H, bias=c.bias), attention, layer_norm("ln_2", H, bias=c.bias), mlp, kind="layer", repeat=c.layers)
    body = (embedding("wte", c.vocab, H), embedding("wpe", c.positions, H), block, layer_norm("ln_f", H, bias=c.bias))
    head = linear("lm_head", H, c.vocab, bias=False, tied_to="transformer.wte.weight")
    return part("", part("transformer", *body, kind="backbone"), head, kind="model")


FAMILIES = {"nanogpt": Family("nanogpt", FIELDS, {"nanogpt.GPT": gpt}, "nanogpt.GPT", frozenset(("dropout",)))}
