"""The architectures of llama.cpp that have a blueprint: their names of tensors, and their keys.

Source: ggml-org/llama.cpp, gguf-py/gguf/constants.py (keys, architectures), gguf-py/gguf/tensor_mapping.py (names), convert_hf_to_gguf.py
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any, NamedTuple, TypeAlias

FIELDS = {
    "embedding_length": "hidden_size",
    "block_count": "num_hidden_layers",
    "feed_forward_length": "intermediate_size",
    "attention.head_count": "num_attention_heads",
    "context_length": "max_position_embeddings",
}
"""Metadata keys behind the architecture's name that every model has: the config's."""

GROUPED = {"attention.head_count_kv": "num_key_value_heads", "attention.key_length": "head_dim"}
EXPERTS = {
    "expert_count": "num_experts",
    "expert_used_count": "num_experts_per_tok",
    "expert_feed_forward_length": "moe_intermediate_size",
    "expert_shared_feed_forward_length": "shared_expert_intermediate_size",
}

LLAMA = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "output": "lm_head",
    "blk": "model.layers",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
"""Pieces of names: those of a file, and the reference's."""

SPARSE = {
    "ffn_gate_inp": "mlp.gate",
    "ffn_gate_inp_shexp": "mlp.shared_expert_gate",
    "ffn_gate_shexp": "mlp.shared_expert.gate_proj",
    "ffn_up_shexp": "mlp.shared_expert.up_proj",
    "ffn_down_shexp": "mlp.shared_expert.down_proj",
    "ffn_gate_exps.weight": "mlp.experts.gate_up_proj",
    "ffn_up_exps.weight": "mlp.experts.gate_up_proj",
    "ffn_gate_up_exps.weight": "mlp.experts.gate_up_proj",
    "ffn_down_exps.weight": "mlp.experts.down_proj",
}
"""Of experts, which lie in one array of three dimensions for each of the three matrices."""

NORMED = {
    "post_attention_norm": "post_attention_layernorm",
    "ffn_norm": "pre_feedforward_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm",
}
AFTER = {"post_attention_norm": "post_attention_layernorm", "post_ffw_norm": "post_feedforward_layernorm"}
BERT = {
    "token_embd": "embeddings.word_embeddings",
    "position_embd": "embeddings.position_embeddings",
    "token_types": "embeddings.token_type_embeddings",
    "token_embd_norm": "embeddings.LayerNorm",
    "blk": "encoder.layer",
    "attn_q": "attention.self.query",
    "attn_k": "attention.self.key",
    "attn_v": "attention.self.value",
    "attn_output": "attention.output.dense",
    "attn_output_norm": "attention.output.LayerNorm",
    "ffn_up": "intermediate.dense",
    "ffn_down": "output.dense",
    "layer_output_norm": "output.LayerNorm",
}
NOMIC = {
    **BERT,
    "blk": "layers",
    "attn_qkv": "self_attn.qkv_proj",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_output_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "layer_output_norm": "post_mlp_layernorm",
}
GPT2 = {
    "token_embd": "transformer.wte",
    "position_embd": "transformer.wpe",
    "output_norm": "transformer.ln_f",
    "output": "lm_head",
    "blk": "transformer.h",
    "attn_norm": "ln_1",
    "attn_qkv": "attn.c_attn",
    "attn_output": "attn.c_proj",
    "ffn_norm": "ln_2",
    "ffn_up": "mlp.c_fc",
    "ffn_down": "mlp.c_proj",
}
NEOX = {
    "token_embd": "gpt_neox.embed_in",
    "output_norm": "gpt_neox.final_layer_norm",
    "output": "embed_out",
    "blk": "gpt_neox.layers",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "attn_qkv": "attention.query_key_value",
    "attn_output": "attention.dense",
    "ffn_up": "mlp.dense_h_to_4h",
    "ffn_down": "mlp.dense_4h_to_h",
}
HEADS_AS_IN_BLOOM = {
    "token_embd": "transformer.word_embeddings",
    "token_embd_norm": "transformer.word_embeddings_layernorm",
    "output_norm": "transformer.ln_f",
    "output": "lm_head",
    "blk": "transformer.h",
    "attn_norm": "input_layernorm",
    "attn_qkv": "self_attention.query_key_value",
    "attn_output": "self_attention.dense",
    "ffn_norm": "post_attention_layernorm",
    "ffn_up": "mlp.dense_h_to_4h",
    "ffn_down": "mlp.dense_4h_to_h",
}
MPT = {
    "token_embd": "transformer.wte",
    "output_norm": "transformer.norm_f",
    "output": "lm_head",
    "blk": "transformer.blocks",
    "attn_norm": "norm_1",
    "attn_qkv": "attn.Wqkv",
    "attn_output": "attn.out_proj",
    "ffn_norm": "norm_2",
    "ffn_up": "ffn.up_proj",
    "ffn_down": "ffn.down_proj",
}
MAMBA = {
    "token_embd": "backbone.embeddings",
    "output_norm": "backbone.norm_f",
    "output": "lm_head",
    "blk": "backbone.layers",
    "attn_norm": "norm",
    "ssm_a": "mixer.A_log",
    "ssm_d": "mixer.D",
    "ssm_conv1d": "mixer.conv1d",
    "ssm_in": "mixer.in_proj",
    "ssm_x": "mixer.x_proj",
    "ssm_dt": "mixer.dt_proj",
    "ssm_out": "mixer.out_proj",
}
SHARED = {
    **LLAMA,
    **SPARSE,
    "ffn_gate_shexp": "mlp.shared_experts.gate_proj",
    "ffn_up_shexp": "mlp.shared_experts.up_proj",
    "ffn_down_shexp": "mlp.shared_experts.down_proj",
}
"""Of experts that every token sees, as DeepSeek names them."""

LATENT = {
    **SHARED,
    "attn_q_a": "self_attn.q_a_proj",
    "attn_q_a_norm": "self_attn.q_a_layernorm",
    "attn_q_b": "self_attn.q_b_proj",
    "attn_kv_a_mqa": "self_attn.kv_a_proj_with_mqa",
    "attn_kv_a_norm": "self_attn.kv_a_layernorm",
    "attn_kv_b": "self_attn.kv_b_proj",
    "attn_k_b": "self_attn.kv_b_proj",
    "attn_v_b": "self_attn.kv_b_proj",
}
"""Of keys and values through one narrow matrix; what widens them again is in files since April 2025 cut into the keys' and the values'."""

GPT_OSS = {
    **LLAMA,
    **SPARSE,
    "attn_sinks.weight": "self_attn.sinks",
    "ffn_gate_inp": "mlp.router",
    "post_attention_norm": "post_attention_layernorm",
    "ffn_gate_exps.bias": "mlp.experts.gate_up_proj_bias",
    "ffn_up_exps.bias": "mlp.experts.gate_up_proj_bias",
    "ffn_down_exps.bias": "mlp.experts.down_proj_bias",
}

Shapes: TypeAlias = Mapping[str, tuple[int, ...]]
"""The tensors of a file."""

Settle: TypeAlias = Callable[[Mapping[str, Any], Shapes], dict[str, Any]]
"""Of a file's metadata, whose keys have lost the architecture's name, and its tensors."""


def latent_sizes(stated: Mapping[str, Any], names: Container[str]) -> dict[str, Any]:
    """Tell the widths of a head's halves; since April 2025 the plain keys speak of the narrow matrix, and those of MLA of the heads."""
    rope = stated.get("rope.dimension_count")
    key = stated.get("attention.key_length_mla", stated.get("attention.key_length"))
    value = stated.get("attention.value_length_mla", stated.get("attention.value_length"))
    known = {"q_lora_rank": stated.get("attention.q_lora_rank"), **_layers(stated, names)}
    if not isinstance(rope, int) or not isinstance(key, int) or not isinstance(value, int):
        return known
    return {**known, "qk_nope_head_dim": key - rope, "qk_rope_head_dim": rope, "v_head_dim": value}


def _layers(stated: Mapping[str, Any], names: Container[str]) -> dict[str, Any]:
    """Subtract the multi-token-prediction layers from the file's layer count."""
    further, layers = stated.get("nextn_predict_layers"), stated.get("block_count")
    return {"num_hidden_layers": layers - further} if isinstance(further, int) and isinstance(layers, int) else {}


def _falcon(stated: Mapping[str, Any], names: Container[str]) -> dict[str, Any]:
    grouped = stated.get("attention.head_count_kv", 1) != 1
    norms = {"num_ln_in_parallel_attn": 1} if grouped and "blk.0.attn_norm_2.weight" not in names else {}
    return {"new_decoder_architecture": grouped, "multi_query": not grouped, **norms}


def _expand(stated: Mapping[str, Any], names: Container[str]) -> dict[str, Any]:
    inner, hidden = stated.get("ssm.inner_size"), stated.get("embedding_length")
    if not isinstance(inner, int) or not isinstance(hidden, int) or hidden <= 0 or inner % hidden:
        return {}
    return {"expand": inner // hidden}


def _one_key(stated: Mapping[str, Any], names: Container[str]) -> dict[str, Any]:
    return {"multi_query": stated.get("attention.head_count_kv") == 1}


def whole_heads(stated: Mapping[str, Any], names: Container[str]) -> dict[str, Any]:
    """Return the width of a head as llama.cpp takes it where a file states none, for classes that have none by themselves."""
    hidden, heads = stated.get("embedding_length"), stated.get("attention.head_count")
    if "attention.key_length" in stated or not isinstance(hidden, int) or not isinstance(heads, int) or heads <= 0:
        return {}
    return {"head_dim": hidden // heads}


class Architecture(NamedTuple):
    """One of llama.cpp's architectures.

    Attributes:
        model_type, class_name: The reference's.
        names: Pieces of names, those of a file and the reference's.
        fields: Metadata keys and the config's.
        ties: Whether the file tells by a missing ``output.weight`` that the output matrix is the embeddings.
        biased: Config keys that are true if the first layer holds the bias that stands after them.
        stated: What is true of every such file.
        settled: Makes of the metadata (keys without the architecture's name) and the names what no single key says.
        apart: Names of tensors that hold several of the reference's in one, and those, by a file's metadata; a star is a layer's number.
        in_metadata: How the reference's names of parameters end that a file keeps in its metadata.
        left_out: How the reference's names begin, or end, of what the converter leaves out.
        added: Names of tensors (a star is a layer's number) that the converter adds and the reference has not.
    """

    model_type: str
    class_name: str
    names: dict[str, str] = LLAMA
    fields: dict[str, str] = {**FIELDS, **GROUPED}
    ties: bool = True
    biased: tuple[tuple[str, str], ...] = ()
    stated: tuple[tuple[str, object], ...] = ()
    settled: Settle | None = None
    apart: Callable[[Mapping[str, Any]], dict[str, tuple[str, ...]]] = lambda stated: {}
    in_metadata: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    added: tuple[str, ...] = ()


ATTENTION_BIAS = (("attention_bias", "attn_q.bias"),)
ATTENTION_AND_MLP_BIAS = (*ATTENTION_BIAS, ("mlp_bias", "ffn_up.bias"))
SPARSE_FIELDS = {**FIELDS, **GROUPED, **EXPERTS}
LOCAL_FIELDS = {**FIELDS, **GROUPED, "expert_count": "num_local_experts", "expert_used_count": "num_experts_per_tok"}
ROUTED_FIELDS = {
    **FIELDS,
    **GROUPED,
    "expert_count": "n_routed_experts",
    "expert_used_count": "num_experts_per_tok",
    "expert_shared_count": "n_shared_experts",
    "expert_feed_forward_length": "moe_intermediate_size",
    "leading_dense_block_count": "first_k_dense_replace",
    "nextn_predict_layers": "num_nextn_predict_layers",
}
LATENT_FIELDS = {
    **{key: field for key, field in ROUTED_FIELDS.items() if key not in GROUPED},
    "attention.kv_lora_rank": "kv_lora_rank",
}
FALCON_FIELDS = {
    **FIELDS,
    "feed_forward_length": "ffn_hidden_size",
    "attention.head_count_kv": "num_kv_heads",
}
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
        {**LLAMA, "attn_q_norm": "self_attn.query_layernorm", "attn_k_norm": "self_attn.key_layernorm"},
        biased=ATTENTION_BIAS, settled=whole_heads),
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
    "falcon": Architecture(
        "falcon", "FalconForCausalLM", HEADS_AS_IN_BLOOM, FALCON_FIELDS, biased=(("bias", "attn_qkv.bias"),), settled=_falcon),
    "falcon with two norms": Architecture(
        "falcon", "FalconForCausalLM", {**HEADS_AS_IN_BLOOM, "attn_norm": "ln_mlp", "attn_norm_2": "ln_attn"}, FALCON_FIELDS,
        biased=(("bias", "attn_qkv.bias"),), settled=_falcon),
    "bloom": Architecture(
        "bloom", "BloomForCausalLM", HEADS_AS_IN_BLOOM,
        {"embedding_length": "hidden_size", "block_count": "n_layer", "attention.head_count": "n_head"}),
    "mpt": Architecture(
        "mpt", "MptForCausalLM", MPT,
        {"embedding_length": "d_model", "block_count": "n_layers", "attention.head_count": "n_heads", "context_length": "max_seq_len"}),
    "starcoder": Architecture(
        "gpt_bigcode", "GPTBigCodeForCausalLM", GPT2,
        {"embedding_length": "n_embd", "block_count": "n_layer", "feed_forward_length": "n_inner", "attention.head_count": "n_head",
         "context_length": "n_positions"}, settled=_one_key),
    "glm4": Architecture(
        "glm4", "Glm4ForCausalLM",
        {**LLAMA, "ffn_up": "mlp.gate_up_proj", "post_attention_norm": "post_self_attn_layernorm", "post_ffw_norm": "post_mlp_layernorm"},
        biased=ATTENTION_BIAS),
    "seed_oss": Architecture(
        "seed_oss", "SeedOssForCausalLM", {**LLAMA, "post_attention_norm": "post_attention_layernorm"},
        biased=(*ATTENTION_AND_MLP_BIAS, ("attention_out_bias", "attn_output.bias"))),
    "mistral3": Architecture("ministral3", "Ministral3ForCausalLM"),
    "jais2": Architecture("jais2", "Jais2ForCausalLM", biased=ATTENTION_AND_MLP_BIAS),
    "mamba": Architecture(
        "mamba", "MambaForCausalLM", MAMBA,
        {"embedding_length": "hidden_size", "block_count": "num_hidden_layers", "ssm.conv_kernel": "conv_kernel",
         "ssm.state_size": "state_size", "ssm.time_step_rank": "time_step_rank"},
        biased=(("use_bias", "ssm_in.bias"), ("use_conv_bias", "ssm_conv1d.bias")), settled=_expand),
    "olmoe": Architecture("olmoe", "OlmoeForCausalLM", {**LLAMA, **SPARSE}, SPARSE_FIELDS, biased=ATTENTION_BIAS),
    "granitemoe": Architecture(
        "granitemoe", "GraniteMoeForCausalLM",
        {**LLAMA, **{piece: name.replace("mlp.", "block_sparse_moe.") for piece, name in SPARSE.items()},
         "ffn_gate_inp": "block_sparse_moe.router"}, LOCAL_FIELDS, biased=ATTENTION_BIAS),
    "phimoe": Architecture(
        "phimoe", "PhimoeForCausalLM", {**LLAMA, **SPARSE, "ffn_gate_inp": "mlp.router"}, LOCAL_FIELDS, biased=ATTENTION_BIAS,
        settled=lambda stated, names: {"lm_head_bias": "output.bias" in names}),
    "minimax-m2": Architecture("minimax_m2", "MiniMaxM2ForCausalLM", {**LLAMA, **SPARSE}, LOCAL_FIELDS),
    "hunyuan-moe": Architecture(
        "hunyuan_v1_moe", "HunYuanMoEV1ForCausalLM",
        {**LLAMA, **{piece: name.replace("shared_expert.", "shared_mlp.") for piece, name in SPARSE.items()}, "ffn_gate_inp": "mlp.gate.wg",
         "attn_q_norm": "self_attn.query_layernorm", "attn_k_norm": "self_attn.key_layernorm"},
        {**FIELDS, **GROUPED, "expert_count": "num_experts", "expert_used_count": "moe_topk"}, biased=ATTENTION_BIAS),
    "gpt-oss": Architecture("gpt_oss", "GptOssForCausalLM", GPT_OSS, {**LOCAL_FIELDS, "expert_feed_forward_length": "intermediate_size"}),
    "dots1": Architecture("dots1", "Dots1ForCausalLM", SHARED, ROUTED_FIELDS, biased=ATTENTION_BIAS),
    "glm4moe": Architecture(
        "glm4_moe", "Glm4MoeForCausalLM", {**SHARED, "post_attention_norm": "post_attention_layernorm"}, ROUTED_FIELDS,
        biased=(*ATTENTION_BIAS, ("use_qk_norm", "attn_q_norm.weight")), settled=_layers),
    "deepseek2": Architecture("deepseek_v2", "DeepseekV2ForCausalLM", LATENT, LATENT_FIELDS, settled=latent_sizes),
    "deepseek2 of version 3": Architecture("deepseek_v3", "DeepseekV3ForCausalLM", LATENT, LATENT_FIELDS, settled=latent_sizes),
}  # fmt: skip
"""By ``general.architecture``; of those that llama.cpp puts under one name, :data:`VARIANTS` tells which it is."""

VARIANTS: dict[str, tuple[tuple[str, Callable[[Mapping[str, Any], Container[str]], bool]], ...]] = {
    "llama": (("mixtral", lambda stated, names: bool(stated.get("llama.expert_count"))),),
    "falcon": (("falcon with two norms", lambda stated, names: "blk.0.attn_norm_2.weight" in names),),
    "t5": (("t5 without gates", lambda stated, names: "enc.blk.0.ffn_gate.weight" not in names),),
    "t5encoder": (("t5encoder without gates", lambda stated, names: "enc.blk.0.ffn_gate.weight" not in names),),
    "jina-bert-v2": (("jina-bert-v2 with norms on queries and keys", lambda stated, names: "blk.0.attn_q_norm.weight" in names),),
    "chatglm": (("chatglm with its matrices apart", lambda stated, names: "blk.0.attn_q.weight" in names),),
    "deepseek2": (("deepseek2 of version 3", lambda stated, names: stated.get("deepseek2.expert_gating_func") == 2),),
}
"""Other entries of the table that a name can mean, and whether a file's metadata and names of tensors say so."""
