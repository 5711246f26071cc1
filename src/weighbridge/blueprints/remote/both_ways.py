"""Language models that read in both directions: LLaDA and Dream, which fill in masked words, and Llama and Qwen3 as embedders; their code stands beside their files.

Source: arXiv 2502.09992 (LLaDA), modeling_llada.py of GSAI-ML/LLaDA-8B-Instruct; arXiv 2508.15487, modeling_dream.py of Dream-org/Dream-v0-Instruct-7B;
llama_bidirectional_model.py of nvidia/llama-nemotron-embed-1b-v2; modeling.py of perplexity-ai/pplx-embed-v1-0.6b.
Held to totals of published files, not to a live class. None keeps a cache.
"""

from __future__ import annotations

from weighbridge.blueprints.decoders.llama import LLAMA, QWEN3, llama
from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS, with_heads
from weighbridge.blueprints.modules.words import one_of, read_none
from weighbridge.config.family import Blueprint, Family
from weighbridge.config.fields import Config, choice, constant, size, switch, variant
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, embedding, linear, part, replace, rms_norm
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Attend, Node, Part


def both_ways(node: Node) -> Node:
    """Return a tree whose attention sees what comes behind as well, so that nothing is kept from step to step."""
    if isinstance(node, Attend):
        return replace(node, causal=False, cache=None)
    if isinstance(node, Part):
        return replace(node, children=tuple(both_ways(child) for child in node.children))
    return node


def reading_both_ways(blueprint: Blueprint) -> Blueprint:
    """Return the blueprint of a class that reads in both directions."""

    def described(c: Config) -> Part:
        tree = both_ways(blueprint(c))
        assert isinstance(tree, Part)
        return tree

    return described


def llada(c: Config) -> Part:
    """Describe LLaDAModelLM: Llama's layers under OLMo's names."""
    H, D = c.hidden, exact(c.hidden, c.heads)
    layer = part(
        "blocks",
        rms_norm("attn_norm", H),
        rms_norm("ff_norm", H),
        linear("q_proj", H, H, bias=c.qkv_bias),
        *(linear(f"{name}_proj", H, c.kv_heads * D, bias=c.qkv_bias) for name in "kv"),
        linear("attn_out", H, H, bias=False),
        attend(heads=c.heads, kv_heads=c.kv_heads, head_dim=D),
        linear("ff_proj", H, c.mlp, bias=False),
        linear("up_proj", H, c.mlp, bias=False),
        linear("ff_out", c.mlp, H, bias=False),
        kind="layer",
        repeat=c.layers,
    )
    head = (linear("ff_out", H, c.table, bias=False, tied_to="model.transformer.wte.weight" if c.tied else None),)
    inside = part("transformer", embedding("wte", c.table, H), layer, rms_norm("ln_f", H), *head, kind="decoder")
    return part("", part("model", inside, kind="backbone"), kind="model")


def rotary(value: object) -> object:
    """Refuse positions that are no rotation: a table of them, or ALiBi."""
    if not value:
        raise ConfigError(Text("{value!r:.60} is not described", value=value), key="rope", value=value)
    return value


LLADA = (
    size("vocab", "vocab_size", 126464, "V", "vocabulary size"),
    size("table", "embedding_size", lambda c: c.vocab, "B", "rows of the table of words", null=lambda c: c.vocab),
    size("hidden", "d_model", 4096, "H", "hidden size", "hidden_size"),
    size("mlp", "mlp_hidden_size", 12288, "I", "intermediate size"),
    size("layers", "n_layers", 32, "L", "layers", "num_hidden_layers"),
    size("heads", "n_heads", 32, "A", "attention heads", "num_attention_heads"),
    size("kv_heads", "n_kv_heads", lambda c: c.heads, "K", "key-value heads", null=lambda c: c.heads),
    switch("tied", "weight_tying", False),
    switch("qkv_bias", "include_qkv_bias", False),
    choice("block", "block_type", "llama", read=one_of("block_type", "llama")),
    choice("norm", "layer_norm_type", "rms", read=one_of("layer_norm_type", "rms")),
    *(
        read_none(key)
        for key in ("alibi", "include_bias", "attention_layer_norm", "bias_for_layer_norm", "input_emb_norm", "multi_query_attention")
    ),
    choice("rotary", "rope", True, read=rotary, report_default=False),
)
LLADA_KEYS = frozenset(
    """activation_type alibi_bias_max attention_dropout attention_layer_norm_with_affine block_group_size embedding_dropout flash_attention
    init_cutoff_factor init_device init_fn init_std layer_norm_with_affine mask_token_id max_sequence_length mlp_ratio precision residual_dropout
    rms_norm_eps rope_full_precision rope_theta scale_logits""".split()
)
QWEN = variant(LLAMA, qkv_bias=constant("qkv_bias", True), out_bias=constant("out_bias", False), vocab=152064, mlp=22016)
DREAM = reading_both_ways(with_heads("Dream", llama, "lm")["DreamForCausalLM"])
EMBEDDER = reading_both_ways(with_heads("Llama", llama, "")["LlamaModel"])
CONTEXTS = reading_both_ways(with_heads("Qwen3", llama, "")["Qwen3Model"])
MORE: frozenset[str] = IGNORED_KEYS | frozenset("mask_token_id pooling temperature attn_implementation pretraining_tp".split())
FAMILIES = {
    "llada": Family("llada", LLADA, {"LLaDAModelLM": llada}, "LLaDAModelLM", LLADA_KEYS),
    "Dream": Family("Dream", QWEN, {"DreamModel": DREAM}, "DreamModel", MORE),
    "llama_bidirec": Family("llama_bidirec", LLAMA, {"LlamaBidirectionalModel": EMBEDDER}, "LlamaBidirectionalModel", MORE),
    "bidirectional_pplx_qwen3": Family(
        "bidirectional_pplx_qwen3", QWEN3, {"PPLXQwen3Model": CONTEXTS}, "PPLXQwen3Model", MORE | {"use_bidirectional_attention"}
    ),
}
