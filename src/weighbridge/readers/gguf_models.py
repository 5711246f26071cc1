"""What a GGUF file says of its model, in the reference library's words: the config that its metadata amounts to, and its tensors' names.

llama.cpp has names and keys of its own for every architecture. Its converters permute some matrices, transpose some, and put some together;
none of that changes a count.

Source: ggml-org/llama.cpp, gguf-py/gguf/constants.py (keys, architectures), gguf-py/gguf/tensor_mapping.py (names), convert_hf_to_gguf.py
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from weighbridge.errors import ReadError
from weighbridge.readers.gguf import Skipped
from weighbridge.readers.listing import Listing

FIELDS = {
    "embedding_length": "hidden_size", "block_count": "num_hidden_layers", "feed_forward_length": "intermediate_size",
    "attention.head_count": "num_attention_heads", "context_length": "max_position_embeddings",
}  # fmt: skip
"""Metadata keys behind the architecture's name that every model has: the config's."""

GROUPED = {"attention.head_count_kv": "num_key_value_heads", "attention.key_length": "head_dim"}
EXPERTS = {
    "expert_count": "num_experts", "expert_used_count": "num_experts_per_tok", "expert_feed_forward_length": "moe_intermediate_size",
    "expert_shared_feed_forward_length": "shared_expert_intermediate_size",
}  # fmt: skip

LLAMA = {
    "token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head", "blk": "model.layers",
    "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj", "attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm",
    "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
}  # fmt: skip
"""Pieces of names: those of a file, and the reference's."""

SPARSE = {
    "ffn_gate_inp": "mlp.gate", "ffn_gate_inp_shexp": "mlp.shared_expert_gate", "ffn_gate_shexp": "mlp.shared_expert.gate_proj",
    "ffn_up_shexp": "mlp.shared_expert.up_proj", "ffn_down_shexp": "mlp.shared_expert.down_proj",
    "ffn_gate_exps.weight": "mlp.experts.gate_up_proj", "ffn_up_exps.weight": "mlp.experts.gate_up_proj",
    "ffn_down_exps.weight": "mlp.experts.down_proj",
}  # fmt: skip
"""Of experts, which lie in one array of three dimensions for each of the three matrices."""

NORMED = {
    "post_attention_norm": "post_attention_layernorm",
    "ffn_norm": "pre_feedforward_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm",
}
AFTER = {"post_attention_norm": "post_attention_layernorm", "post_ffw_norm": "post_feedforward_layernorm"}
BERT = {
    "token_embd": "embeddings.word_embeddings", "position_embd": "embeddings.position_embeddings", "token_types": "embeddings.token_type_embeddings",
    "token_embd_norm": "embeddings.LayerNorm", "blk": "encoder.layer", "attn_q": "attention.self.query", "attn_k": "attention.self.key",
    "attn_v": "attention.self.value", "attn_output": "attention.output.dense", "attn_output_norm": "attention.output.LayerNorm",
    "ffn_up": "intermediate.dense", "ffn_down": "output.dense", "layer_output_norm": "output.LayerNorm",
}  # fmt: skip
NOMIC = {
    **BERT, "blk": "layers", "attn_qkv": "self_attn.qkv_proj", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj", "attn_output_norm": "post_attention_layernorm", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj", "layer_output_norm": "post_mlp_layernorm",
}  # fmt: skip
GPT2 = {
    "token_embd": "transformer.wte", "position_embd": "transformer.wpe", "output_norm": "transformer.ln_f", "output": "lm_head",
    "blk": "transformer.h", "attn_norm": "ln_1", "attn_qkv": "attn.c_attn", "attn_output": "attn.c_proj", "ffn_norm": "ln_2",
    "ffn_up": "mlp.c_fc", "ffn_down": "mlp.c_proj",
}  # fmt: skip
NEOX = {
    "token_embd": "gpt_neox.embed_in", "output_norm": "gpt_neox.final_layer_norm", "output": "embed_out", "blk": "gpt_neox.layers",
    "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm", "attn_qkv": "attention.query_key_value",
    "attn_output": "attention.dense", "ffn_up": "mlp.dense_h_to_4h", "ffn_down": "mlp.dense_4h_to_h",
}  # fmt: skip


class Architecture(NamedTuple):
    """One of llama.cpp's architectures.

    Attributes:
        model_type, class_name: The reference's.
        names: Pieces of names, those of a file and the reference's.
        fields: Metadata keys and the config's.
        ties: Whether the file tells by a missing ``output.weight`` that the output matrix is the embeddings.
        biased: Config keys that are true if the first layer holds the bias that stands behind them.
        stated: What is true of every such file.
    """

    model_type: str
    class_name: str
    names: dict[str, str] = LLAMA
    fields: dict[str, str] = {**FIELDS, **GROUPED}
    ties: bool = True
    biased: tuple[tuple[str, str], ...] = ()
    stated: tuple[tuple[str, object], ...] = ()


ATTENTION_BIAS = (("attention_bias", "attn_q.bias"),)
ATTENTION_AND_MLP_BIAS = (*ATTENTION_BIAS, ("mlp_bias", "ffn_up.bias"))
SPARSE_FIELDS = {**FIELDS, **GROUPED, **EXPERTS}
ARCHITECTURES = {
    "llama": Architecture("llama", "LlamaForCausalLM", biased=ATTENTION_AND_MLP_BIAS),
    "mixtral": Architecture("mixtral", "MixtralForCausalLM", {**LLAMA, **SPARSE}, {**SPARSE_FIELDS, "expert_count": "num_local_experts"}),
    "qwen2": Architecture("qwen2", "Qwen2ForCausalLM"),
    "qwen3": Architecture("qwen3", "Qwen3ForCausalLM", biased=ATTENTION_BIAS),
    "qwen2moe": Architecture("qwen2_moe", "Qwen2MoeForCausalLM", {**LLAMA, **SPARSE}, SPARSE_FIELDS),
    "qwen3moe": Architecture("qwen3_moe", "Qwen3MoeForCausalLM", {**LLAMA, **SPARSE}, SPARSE_FIELDS, biased=ATTENTION_BIAS),
    "gemma": Architecture("gemma", "GemmaForCausalLM"),
    "gemma2": Architecture("gemma2", "Gemma2ForCausalLM", {**LLAMA, **NORMED}),
    "gemma3": Architecture("gemma3_text", "Gemma3ForCausalLM", {**LLAMA, **NORMED}),
    "phi3": Architecture("phi3", "Phi3ForCausalLM", {**LLAMA, "attn_qkv": "self_attn.qkv_proj", "ffn_up": "mlp.gate_up_proj"}),
    "granite": Architecture("granite", "GraniteForCausalLM", biased=ATTENTION_AND_MLP_BIAS),
    "smollm3": Architecture("smollm3", "SmolLM3ForCausalLM", biased=ATTENTION_BIAS),
    "olmo": Architecture("olmo", "OlmoForCausalLM", biased=ATTENTION_BIAS),
    "olmo2": Architecture("olmo2", "Olmo2ForCausalLM", {**LLAMA, **AFTER}, biased=ATTENTION_BIAS),
    "exaone4": Architecture("exaone4", "Exaone4ForCausalLM", {**LLAMA, **AFTER}),
    "command-r": Architecture("cohere", "CohereForCausalLM", biased=(*ATTENTION_BIAS, ("use_qk_norm", "attn_q_norm.weight"))),
    "cohere2": Architecture("cohere2", "Cohere2ForCausalLM", biased=ATTENTION_BIAS),
    "ernie4_5": Architecture("ernie4_5", "Ernie4_5ForCausalLM", biased=(("use_bias", "attn_q.bias"),)),
    "nemotron": Architecture("nemotron", "NemotronForCausalLM", biased=ATTENTION_AND_MLP_BIAS),
    "arcee": Architecture("arcee", "ArceeForCausalLM", biased=ATTENTION_AND_MLP_BIAS),
    "hunyuan-dense": Architecture(
        "hunyuan_v1_dense", "HunYuanDenseV1ForCausalLM",
        {**LLAMA, "attn_q_norm": "self_attn.query_layernorm", "attn_k_norm": "self_attn.key_layernorm"}, biased=ATTENTION_BIAS),
    "starcoder2": Architecture(
        "starcoder2", "Starcoder2ForCausalLM", {**LLAMA, "ffn_up": "mlp.c_fc", "ffn_down": "mlp.c_proj"}, biased=(("use_bias", "attn_q.bias"),)),
    "stablelm": Architecture("stablelm", "StableLmForCausalLM", biased=(("use_qkv_bias", "attn_q.bias"),)),
    "phi2": Architecture(
        "phi", "PhiForCausalLM",
        {**LLAMA, "output_norm": "model.final_layernorm", "attn_output": "self_attn.dense", "ffn_up": "mlp.fc1", "ffn_down": "mlp.fc2"}),
    "gptneox": Architecture("gpt_neox", "GPTNeoXForCausalLM", NEOX, FIELDS, biased=(("attention_bias", "attn_qkv.bias"),)),
    "gpt2": Architecture(
        "gpt2", "GPT2LMHeadModel", GPT2,
        {"embedding_length": "n_embd", "block_count": "n_layer", "feed_forward_length": "n_inner", "attention.head_count": "n_head",
         "context_length": "n_positions"}, ties=False),
    "bert": Architecture("bert", "BertModel", BERT, FIELDS, ties=False, stated=(("add_pooling_layer", False),)),
    "nomic-bert": Architecture(
        "nomic_bert", "NomicBertModel", NOMIC, FIELDS, ties=False,
        biased=(("qkv_proj_bias", "attn_qkv.bias"), ("mlp_fc1_bias", "ffn_up.bias"), ("mlp_fc2_bias", "ffn_down.bias")),
        stated=(("add_pooling_layer", False),)),
}  # fmt: skip
"""By ``general.architecture``; ``mixtral`` is a ``llama`` with experts."""


def architecture_of(listing: Listing) -> Architecture | None:
    """Return what is known of a file's architecture, or None if it is no GGUF file, or of one that is not in the table."""
    if listing.format != "gguf":
        return None
    name = listing.metadata.get("general.architecture")
    if name == "llama" and listing.metadata.get("llama.expert_count"):
        name = "mixtral"
    return ARCHITECTURES.get(name) if isinstance(name, str) else None


def config_of(listing: Listing) -> dict[str, Any]:
    """Return the config that a GGUF file's metadata amounts to, as the reference library writes it.

    What the metadata leaves open is taken from the tensors: whether linear layers have biases, and whether there is an output matrix.

    Raises:
        ReadError: An architecture that is not in the table, or a layer unlike the others.
    """
    name = listing.metadata.get("general.architecture")
    known = architecture_of(listing)
    if known is None:
        raise ReadError(
            f"the architecture {name!r:.60} has no table of names; known: {', '.join(ARCHITECTURES)}. Name a config beside the file"
        )
    names = {tensor.name for tensor in listing.tensors}
    config: dict[str, Any] = {"model_type": known.model_type, "architectures": [known.class_name], **dict(known.stated)}
    for key, field in known.fields.items():
        value = listing.metadata.get(f"{name}.{key}")
        if value is not None:
            config[field] = _alike(f"{name}.{key}", value)
    config["vocab_size"] = _vocabulary(listing, f"{name}.vocab_size")
    types = next((tensor.shape[0] for tensor in listing.tensors if tensor.name == "token_types.weight"), None)
    if types is not None:
        config["type_vocab_size"] = types
    if known.ties:
        config["tie_word_embeddings"] = "output.weight" not in names
    return {**config, **{key: f"blk.0.{bias}" in names for key, bias in known.biased}}


def _alike(key: str, value: object) -> object:
    """Return a value; of one for each layer the one that all share."""
    if isinstance(value, tuple) and len(set(value)) == 1:
        return value[0]
    if isinstance(value, tuple | Skipped):
        raise ReadError(f"{key} differs from layer to layer; name a config beside the file")
    return value


def _vocabulary(listing: Listing, key: str) -> object:
    stated = listing.metadata.get(key)
    tokens = listing.metadata.get("tokenizer.ggml.tokens")
    if stated is None and isinstance(tokens, Skipped):
        return tokens.length
    if stated is None:
        return next((tensor.shape[0] for tensor in listing.tensors if tensor.name == "token_embd.weight"), None)
    return stated


def steps_of(listing: Listing) -> tuple[tuple[str, str], ...]:
    """Return the renamings, as patterns and what takes their place, from a file's names to the reference's.

    >>> steps_of(Listing("gguf", (), {"general.architecture": "gpt2"}))[0]
    ('(^|\\\\.)token_embd(?=\\\\.|$)', '\\\\1transformer.wte')
    """
    known = architecture_of(listing)
    return () if known is None else _steps(known)


def steps_for_names(names: Iterable[str]) -> Iterator[tuple[tuple[str, str], ...]]:
    """Yield the renamings of every architecture, if *names* are those of a GGUF file, of which nothing else is known.

    >>> len(list(steps_for_names(["blk.0.attn_q.weight"]))) == len(ARCHITECTURES)
    True
    """
    if any(name.startswith("blk.") for name in names):
        yield from map(_steps, ARCHITECTURES.values())


def _steps(known: Architecture) -> tuple[tuple[str, str], ...]:
    return tuple((rf"(^|\.){piece.replace('.', chr(92) + '.')}(?=\.|$)", rf"\1{name}") for piece, name in known.names.items())
