"""Further architectures of llama.cpp: encoder-decoders, state spaces and models whose layers are of several kinds.

Of the latter the metadata does not tell which layer is of which kind; the names of the tensors do.

Source: ggml-org/llama.cpp, gguf-py/gguf/constants.py, gguf-py/gguf/tensor_mapping.py, convert_hf_to_gguf.py (``T5Model``, ``JambaModel``, ``Mamba2Model``,
``LFM2Model``, ``LFM2MoeModel``, ``Qwen3NextModel``, ``FalconH1Model``, ``GPTJ``, ``ModernBertModel``, ``Qwen2VLModel`` and their like)
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from weighbridge.readers.gguf_architectures import (
    ATTENTION_AND_MLP_BIAS,
    ATTENTION_BIAS,
    FIELDS,
    GROUPED,
    LLAMA,
    MAMBA,
    NORMED,
    SHARED,
    SPARSE,
    SPARSE_FIELDS,
    Architecture,
)

MOST_LAYERS = 10_000
"""Layers that are asked for by name; a file's metadata may claim any number."""


def layers_of(stated: Mapping[str, Any]) -> int:
    """Return the number of layers without multi-token-prediction layers; 0 if the file claims more layers than its tensors name."""
    layers, further = stated.get("block_count"), stated.get("nextn_predict_layers", 0)
    return layers - further if isinstance(layers, int) and isinstance(further, int) and 0 <= further <= layers <= MOST_LAYERS else 0


def layers_with(stated: Mapping[str, Any], names: Container[str], tensor: str) -> list[bool]:
    """Tell for each layer whether it has a tensor."""
    count = layers_of(stated)
    return [f"blk.{number}.{tensor}" in names for number in range(count)]


def layer_kinds(stated: Mapping[str, Any], names: Container[str], attention: str, other: str) -> dict[str, Any]:
    """Return the kind of each layer, and the number of key heads, which the file gives layer by layer."""
    held = layers_with(stated, names, "attn_q.weight")
    return {"layer_types": [attention if here else other for here in held], **_kv_heads(stated)}


def _kv_heads(stated: Mapping[str, Any]) -> dict[str, Any]:
    heads = stated.get("attention.head_count_kv")
    return {"num_key_value_heads": max(heads) if isinstance(heads, tuple) and heads else heads} if heads else {}


def _interval(held: list[bool], period: str, offset: str) -> dict[str, int]:
    """Return at which step, and from which layer on, layers are of a kind."""
    places = [number for number, here in enumerate(held) if here]
    if not places:
        return {period: len(held) + 1, offset: len(held)}
    return {period: places[1] - places[0] if len(places) > 1 else len(held), offset: places[0]}


def _jamba(stated: Mapping[str, Any], names: Container[str]) -> dict[str, Any]:
    attention, experts = (layers_with(stated, names, tensor) for tensor in ("attn_q.weight", "ffn_gate_inp.weight"))
    return {
        **_interval(attention, "attn_layer_period", "attn_layer_offset"),
        **_interval(experts, "expert_layer_period", "expert_layer_offset"),
        **_expansion(stated, "mamba_expand"),
        **_kv_heads(stated),
        "num_experts": stated.get("expert_count", 1),
    }


def _expansion(stated: Mapping[str, Any], name: str) -> dict[str, Any]:
    inner, hidden = stated.get("ssm.inner_size"), stated.get("embedding_length")
    whole = isinstance(inner, int) and isinstance(hidden, int) and hidden > 0 and not inner % hidden
    return {name: inner // hidden} if whole and isinstance(inner, int) and isinstance(hidden, int) else {}


def per_head(stated: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the width of a head of a state space."""
    inner, heads = stated.get("ssm.inner_size"), stated.get("ssm.time_step_rank")
    return {name: inner // heads} if isinstance(inner, int) and isinstance(heads, int) and heads > 0 else {}


def _t5(stated: Mapping[str, Any], names: Container[str]) -> dict[str, Any]:
    gated = "enc.blk.0.ffn_gate.weight" in names
    layers = stated.get("decoder_block_count", stated.get("block_count"))
    return {"feed_forward_proj": "gated-gelu" if gated else "relu", **({} if layers is None else {"num_decoder_layers": layers})}


SSM = {
    "ssm_in": "in_proj",
    "ssm_conv1d": "conv1d",
    "ssm_x": "x_proj",
    "ssm_dt": "dt_proj",
    "ssm_a": "A_log",
    "ssm_d": "D",
    "ssm_out": "out_proj",
    "ssm_dt_norm": "dt_layernorm",
    "ssm_b_norm": "b_layernorm",
    "ssm_c_norm": "c_layernorm",
    "ssm_norm": "norm",
}
"""Pieces of the names of a state space."""

SECOND = {"ssm_dt.bias": "dt_bias", **{piece: name for piece, name in SSM.items() if piece != "ssm_dt"}}
"""Those of a state space of the second kind, whose step has a bias alone."""


def prefix_names(pieces: Mapping[str, str], module: str) -> dict[str, str]:
    """Return pieces of names as those of a module.

    >>> prefix_names({"ssm_in": "in_proj"}, "mamba")
    {'ssm_in': 'mamba.in_proj'}
    """
    return {piece: f"{module}.{name}" for piece, name in pieces.items()}


MAMBA2 = {**{piece: name for piece, name in MAMBA.items() if not piece.startswith("ssm_")}, **prefix_names(SECOND, "mixer")}
FED = {"ffn_gate": "feed_forward.gate_proj", "ffn_up": "feed_forward.up_proj", "ffn_down": "feed_forward.down_proj"}
JAMBA = {
    **LLAMA,
    **prefix_names(SSM, "mamba"),
    **FED,
    "output_norm": "model.final_layernorm",
    "ffn_norm": "pre_ff_layernorm",
    "ffn_gate_inp": "feed_forward.router",
    "ffn_gate_exps.weight": "feed_forward.experts.gate_up_proj",
    "ffn_up_exps.weight": "feed_forward.experts.gate_up_proj",
    "ffn_down_exps.weight": "feed_forward.experts.down_proj",
}
FALCON_H1 = {
    **{piece: name for piece, name in LLAMA.items() if piece != "ffn_norm"},
    **prefix_names(SECOND, "mamba"),
    **FED,
    "output_norm": "model.final_layernorm",
    "ffn_norm.weight": "pre_ff_layernorm.weight",
    "ffn_norm": "pre_ff_layernorm.weight",
}
"""The converter writes one norm without an ending."""

LFM2 = {
    **LLAMA,
    "token_embd_norm": "model.embedding_norm",
    "shortconv.conv": "conv.conv",
    "shortconv.in_proj": "conv.in_proj",
    "shortconv.out_proj": "conv.out_proj",
    "attn_norm": "operator_norm",
    "ffn_norm": "ffn_norm",
    "attn_output": "self_attn.out_proj",
    "attn_q_norm": "self_attn.q_layernorm",
    "attn_k_norm": "self_attn.k_layernorm",
    "ffn_gate": "feed_forward.w1",
    "ffn_up": "feed_forward.w3",
    "ffn_down": "feed_forward.w2",
    "ffn_gate_inp": "feed_forward.gate",
    "ffn_gate_exps.weight": "feed_forward.experts.gate_up_proj",
    "ffn_up_exps.weight": "feed_forward.experts.gate_up_proj",
    "ffn_down_exps.weight": "feed_forward.experts.down_proj",
}
QWEN3_NEXT = {
    **LLAMA,
    **SPARSE,
    **prefix_names(SECOND, "linear_attn"),
    "ssm_in": "linear_attn.in_proj_qkvz",
    "attn_qkv": "linear_attn.in_proj_qkvz",
    "attn_gate": "linear_attn.in_proj_qkvz",
    "ssm_ba": "linear_attn.in_proj_ba",
    "post_attention_norm": "post_attention_layernorm",
}
T5 = {
    "token_embd": "shared",
    "output": "lm_head",
    **{f"{side}.output_norm": f"{word}.final_layer_norm" for side, word in (("enc", "encoder"), ("dec", "decoder"))},
    **{
        f"{side}.blk.*.{piece}": f"{word}.block.*.layer.{place}.{name}"
        for side, word, last in (("enc", "encoder", 1), ("dec", "decoder", 2))
        for piece, place, name in (
            ("attn_q", 0, "SelfAttention.q"),
            ("attn_k", 0, "SelfAttention.k"),
            ("attn_v", 0, "SelfAttention.v"),
            ("attn_o", 0, "SelfAttention.o"),
            ("attn_rel_b", 0, "SelfAttention.relative_attention_bias"),
            ("attn_norm", 0, "layer_norm"),
            ("cross_attn_q", 1, "EncDecAttention.q"),
            ("cross_attn_k", 1, "EncDecAttention.k"),
            ("cross_attn_v", 1, "EncDecAttention.v"),
            ("cross_attn_o", 1, "EncDecAttention.o"),
            ("cross_attn_norm", 1, "layer_norm"),
            ("ffn_norm", last, "layer_norm"),
            ("ffn_down", last, "DenseReluDense.wo"),
        )
    },
    **{
        f"{side}.blk.*.{piece}": f"{word}.block.*.layer.{last}.DenseReluDense.{name}"
        for side, word, last in (("enc", "encoder", 1), ("dec", "decoder", 2))
        for piece, name in (("ffn_gate", "wi_0"), ("ffn_up", "wi_1"))
    },
}
PLAIN_T5 = {piece: name.replace("wi_1", "wi") for piece, name in T5.items()}
GPTJ = {
    "token_embd": "transformer.wte",
    "output_norm": "transformer.ln_f",
    "output": "lm_head",
    "blk": "transformer.h",
    "attn_norm": "ln_1",
    "attn_q": "attn.q_proj",
    "attn_k": "attn.k_proj",
    "attn_v": "attn.v_proj",
    "attn_output": "attn.out_proj",
    "ffn_up": "mlp.fc_in",
    "ffn_down": "mlp.fc_out",
}
MODERN_BERT = {
    "token_embd": "embeddings.tok_embeddings",
    "token_embd_norm": "embeddings.norm",
    "output_norm": "final_norm",
    "blk": "layers",
    "attn_qkv": "attn.Wqkv",
    "attn_output": "attn.Wo",
    "ffn_up": "mlp.Wi",
    "ffn_down": "mlp.Wo",
    "ffn_norm": "mlp_norm",
}
EURO_BERT = {piece: name.removeprefix("model.") for piece, name in LLAMA.items()}

BAICHUAN = {**LLAMA, **dict.fromkeys(("attn_q", "attn_k", "attn_v"), "self_attn.W_pack")}
INTERNLM2 = {
    **LLAMA,
    "token_embd": "model.tok_embeddings",
    "output": "output",
    **dict.fromkeys(("attn_q", "attn_k", "attn_v"), "attention.wqkv"),
    "attn_output": "attention.wo",
    "ffn_gate": "feed_forward.w1",
    "ffn_up": "feed_forward.w3",
    "ffn_down": "feed_forward.w2",
    "attn_norm": "attention_norm",
    "ffn_norm": "ffn_norm",
}
BITNET = {**LLAMA, "attn_sub_norm": "self_attn.attn_sub_norm", "ffn_sub_norm": "mlp.ffn_sub_norm"}
ERNIE = {
    **{f"exp_probs_b{ending}": "mlp.gate.moe_statics.e_score_correction_bias" for ending in (".bias", "")},
    **SHARED,
}
GRANITE_HYBRID = {
    **LLAMA,
    **prefix_names(SECOND, "mamba"),
    "ffn_gate_inp": "block_sparse_moe.router",
    "ffn_gate_exps.weight": "block_sparse_moe.experts.gate_up_proj",
    "ffn_up_exps.weight": "block_sparse_moe.experts.gate_up_proj",
    "ffn_down_exps.weight": "block_sparse_moe.experts.down_proj",
    **dict.fromkeys(("ffn_gate_shexp", "ffn_up_shexp", "ffn_gate", "ffn_up"), "shared_mlp.input_linear"),
    **dict.fromkeys(("ffn_down_shexp", "ffn_down"), "shared_mlp.output_linear"),
}
"""Without experts the shared part stands under the plain names."""

T5_FIELDS = {
    "embedding_length": "d_model",
    "block_count": "num_layers",
    "feed_forward_length": "d_ff",
    "attention.head_count": "num_heads",
    "attention.key_length": "d_kv",
    "attention.relative_buckets_count": "relative_attention_num_buckets",
}
JAMBA_FIELDS = {
    **FIELDS,
    "ssm.conv_kernel": "mamba_d_conv",
    "ssm.state_size": "mamba_d_state",
    "ssm.time_step_rank": "mamba_dt_rank",
    "expert_used_count": "num_experts_per_tok",
}
MAMBA2_FIELDS = {
    "embedding_length": "hidden_size",
    "block_count": "num_hidden_layers",
    "ssm.conv_kernel": "conv_kernel",
    "ssm.state_size": "state_size",
    "ssm.time_step_rank": "num_heads",
    "ssm.group_count": "n_groups",
}
HEADED_MAMBA = {
    "ssm.conv_kernel": "mamba_d_conv",
    "ssm.state_size": "mamba_d_state",
    "ssm.time_step_rank": "mamba_n_heads",
    "ssm.group_count": "mamba_n_groups",
}
"""Of Mamba 2 beside attention, where configs say ``mamba_`` before its sizes."""

FALCON_H1_FIELDS = {**FIELDS, **GROUPED, **HEADED_MAMBA, "ssm.inner_size": "mamba_d_ssm"}
LFM2_FIELDS = {**FIELDS, "shortconv.l_cache": "conv_L_cache"}
LFM2_MOE_FIELDS = {
    **LFM2_FIELDS,
    "expert_count": "num_experts",
    "expert_used_count": "num_experts_per_tok",
    "expert_feed_forward_length": "moe_intermediate_size",
    "leading_dense_block_count": "num_dense_layers",
}
QWEN3_NEXT_FIELDS = {
    **SPARSE_FIELDS,
    "ssm.conv_kernel": "linear_conv_kernel_dim",
    "ssm.state_size": "linear_key_head_dim",
    "ssm.group_count": "linear_num_key_heads",
    "ssm.time_step_rank": "linear_num_value_heads",
}
GPTJ_FIELDS = {
    "embedding_length": "n_embd",
    "block_count": "n_layer",
    "feed_forward_length": "n_inner",
    "attention.head_count": "n_head",
    "context_length": "n_positions",
    "rope.dimension_count": "rotary_dim",
}
AFMOE_FIELDS = {
    **SPARSE_FIELDS,
    "expert_shared_count": "num_shared_experts",
    "leading_dense_block_count": "num_dense_layers",
}
AFMOE = {
    "exp_probs_b.bias": "mlp.expert_bias",
    "exp_probs_b": "mlp.expert_bias",
    **SHARED,
    **NORMED,
    "ffn_gate_inp": "mlp.router.gate",
    "attn_gate": "self_attn.gate_proj",
    "ffn_norm": "pre_mlp_layernorm",
    "post_ffw_norm": "post_mlp_layernorm",
}

ERNIE_FIELDS = {
    **FIELDS,
    **GROUPED,
    "expert_count": "moe_num_experts",
    "expert_used_count": "moe_k",
    "expert_feed_forward_length": "moe_intermediate_size",
    "expert_shared_count": "moe_num_shared_experts",
    "leading_dense_block_count": "moe_layer_start_index",
    "interleave_moe_layer_step": "moe_layer_interval",
}
GRANITE_HYBRID_FIELDS = {
    **FIELDS,
    **HEADED_MAMBA,
    "attention.key_length": "head_dim",
    "expert_count": "num_local_experts",
    "expert_used_count": "num_experts_per_tok",
    "expert_shared_feed_forward_length": "shared_intermediate_size",
}

HYBRIDS = {
    "t5": Architecture("t5", "T5ForConditionalGeneration", T5, T5_FIELDS, settled=_t5),
    "t5 without gates": Architecture("t5", "T5ForConditionalGeneration", PLAIN_T5, T5_FIELDS, settled=_t5),
    "t5encoder": Architecture("t5", "T5EncoderModel", T5, T5_FIELDS, ties=False, settled=_t5),
    "t5encoder without gates": Architecture("t5", "T5EncoderModel", PLAIN_T5, T5_FIELDS, ties=False, settled=_t5),
    "jamba": Architecture("jamba", "JambaForCausalLM", JAMBA, JAMBA_FIELDS, settled=_jamba),
    "mamba2": Architecture(
        "mamba2", "Mamba2ForCausalLM", MAMBA2, MAMBA2_FIELDS, biased=(("use_bias", "ssm_in.bias"), ("use_conv_bias", "ssm_conv1d.bias")),
        settled=lambda stated, names: {**_expansion(stated, "expand"), **per_head(stated, "head_dim")}),
    "falcon-h1": Architecture(
        "falcon_h1", "FalconH1ForCausalLM", FALCON_H1, FALCON_H1_FIELDS,
        biased=(*ATTENTION_AND_MLP_BIAS, ("mamba_proj_bias", "ssm_in.bias"), ("mamba_conv_bias", "ssm_conv1d.bias"), ("mamba_rms_norm", "ssm_norm.weight")),
        settled=lambda stated, names: per_head(stated, "mamba_d_head")),
    "lfm2": Architecture(
        "lfm2", "Lfm2ForCausalLM", LFM2, LFM2_FIELDS, stated=(("block_auto_adjust_ff_dim", False),),
        biased=(("conv_bias", "shortconv.conv.bias"),), settled=lambda stated, names: layer_kinds(stated, names, "full_attention", "conv")),
    "lfm2moe": Architecture(
        "lfm2_moe", "Lfm2MoeForCausalLM", LFM2, LFM2_MOE_FIELDS, biased=(("conv_bias", "shortconv.conv.bias"),),
        settled=lambda stated, names: layer_kinds(stated, names, "full_attention", "conv")),
    "qwen3next": Architecture(
        "qwen3_next", "Qwen3NextForCausalLM", QWEN3_NEXT, QWEN3_NEXT_FIELDS, biased=ATTENTION_BIAS,
        settled=lambda stated, names: {
            "layer_types": layer_kinds(stated, names, "full_attention", "linear_attention")["layer_types"], **per_head(stated, "linear_value_head_dim")}),
    "gptj": Architecture("gptj", "GPTJForCausalLM", GPTJ, GPTJ_FIELDS, ties=False),
    "afmoe": Architecture("afmoe", "AfmoeForCausalLM", AFMOE, AFMOE_FIELDS),
    "exaone-moe": Architecture(
        "exaone_moe", "ExaoneMoeForCausalLM", SHARED,
        {**SPARSE_FIELDS, "expert_shared_count": "num_shared_experts", "leading_dense_block_count": "first_k_dense_replace"}),
    "modern-bert": Architecture("modernbert", "ModernBertModel", MODERN_BERT, FIELDS, ties=False),
    "eurobert": Architecture("eurobert", "EuroBertModel", EURO_BERT, ties=False, biased=ATTENTION_AND_MLP_BIAS),
    "minicpm": Architecture("minicpm", "MiniCPMForCausalLM"),
    "baichuan": Architecture("baichuan", "BaichuanForCausalLM", BAICHUAN, FIELDS, ties=False),
    "orion": Architecture("orion", "OrionForCausalLM", ties=False),
    "internlm2": Architecture("internlm2", "InternLM2ForCausalLM", INTERNLM2, ties=False, biased=(("bias", "attn_q.bias"),)),
    "bitnet": Architecture("bitnet", "BitNetForCausalLM", BITNET),
    "ernie4_5-moe": Architecture("ernie4_5_moe", "Ernie4_5_MoeForCausalLM", ERNIE, ERNIE_FIELDS, biased=(("use_bias", "attn_q.bias"),)),
    "granitehybrid": Architecture(
        "granitemoehybrid", "GraniteMoeHybridForCausalLM", GRANITE_HYBRID, GRANITE_HYBRID_FIELDS,
        biased=(*ATTENTION_BIAS, ("mamba_proj_bias", "ssm_in.bias"), ("mamba_conv_bias", "ssm_conv1d.bias")),
        settled=lambda stated, names: {
            "num_local_experts": 0, **layer_kinds(stated, names, "attention", "mamba"), **_expansion(stated, "mamba_expand"),
            **per_head(stated, "mamba_d_head"), **({"num_local_experts": stated["expert_count"]} if "expert_count" in stated else {})}),
    "qwen2vl": Architecture("qwen2", "Qwen2ForCausalLM"),
    "qwen3vl": Architecture("qwen3", "Qwen3ForCausalLM", biased=ATTENTION_BIAS),
    "qwen3vlmoe": Architecture("qwen3_moe", "Qwen3MoeForCausalLM", {**LLAMA, **SPARSE}, SPARSE_FIELDS, biased=ATTENTION_BIAS),
    "dream": Architecture("qwen2", "Qwen2ForCausalLM"),
    "gemma-embedding": Architecture("gemma3_text", "Gemma3TextModel", {piece: name.removeprefix("model.") for piece, name in {**LLAMA, **NORMED}.items()}),
}  # fmt: skip
"""By ``general.architecture``; of a model that sees, the file holds the part that reads, which is that of the model named here."""
