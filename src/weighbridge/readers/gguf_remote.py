"""Architectures of llama.cpp whose classes are published beside their files: their names of tensors, and their keys.

Source: ggml-org/llama.cpp, gguf-py/gguf/constants.py, gguf-py/gguf/tensor_mapping.py, conversion/ (``openelm.py``, ``rwkv.py``, ``plamo.py``, ``bert.py``,
``arctic.py``, ``grok.py``, ``grove.py``, ``jais.py``, ``plm.py``), src/models/ (what the loader asks for: shapes)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weighbridge.readers.gguf_architectures import BERT, FIELDS, GROUPED, LATENT, LLAMA, SPARSE, Architecture, Shapes, latent_sizes
from weighbridge.readers.gguf_hybrids import layers_of, layers_with

OPENELM = {
    "token_embd": "transformer.token_embeddings",
    "output_norm": "transformer.norm",
    "blk": "transformer.layers",
    "attn_norm": "attn_norm",
    "ffn_norm": "ffn_norm",
    "attn_qkv": "attn.qkv_proj",
    "attn_q_norm": "attn.q_norm",
    "attn_k_norm": "attn.k_norm",
    "attn_output": "attn.out_proj",
    "ffn_gate": "ffn.proj_1",
    "ffn_up": "ffn.proj_1",
    "ffn_down": "ffn.proj_2",
}
RWKV6 = {
    "token_embd_norm": "rwkv.blocks.0.pre_ln",
    "token_embd": "rwkv.embeddings",
    "output_norm": "rwkv.ln_out",
    "output": "head",
    "blk": "rwkv.blocks",
    "attn_norm": "ln1",
    "attn_norm_2": "ln2",
    "time_mix_w1.weight": "attention.time_maa_w1",
    "time_mix_w2.weight": "attention.time_maa_w2",
    **{f"time_mix_lerp_{name}.weight": f"attention.time_maa_{name}" for name in "xwkvrg"},
    "time_mix_first.weight": "attention.time_faaaa",
    "time_mix_decay.weight": "attention.time_decay",
    "time_mix_decay_w1.weight": "attention.time_decay_w1",
    "time_mix_decay_w2.weight": "attention.time_decay_w2",
    **{f"time_mix_{name}": f"attention.{name}" for name in "key value receptance gate output".split()},
    "time_mix_ln": "attention.ln_x",
    **{f"channel_mix_lerp_{name}.weight": f"feed_forward.time_maa_{name}" for name in "kr"},
    **{f"channel_mix_{name}": f"feed_forward.{name}" for name in ("key", "receptance", "value")},
}
RWKV7 = {
    "token_embd_norm": "model.layers.0.pre_norm",
    "token_embd": "model.embeddings",
    "output_norm": "model.norm",
    "output": "lm_head",
    "blk": "model.layers",
    "attn_norm": "attn_norm",
    "attn_norm_2": "ffn_norm",
    **{f"time_mix_{name}0.weight": f"attn.{name}_lora.lora.2.bias" for name in "wav"},
    **{f"time_mix_{name}{number}": f"attn.{name}_lora.lora.{place}" for name in "wavg" for number, place in ((1, 0), (2, 2))},
    **{f"time_mix_{name}.weight": f"attn.{name}" for name in ("k_k", "k_a", "r_k")},
    **{f"time_mix_{name}": f"attn.{place}_proj" for name, place in (("key", "k"), ("value", "v"), ("receptance", "r"), ("output", "o"))},
    "time_mix_ln": "attn.g_norm",
    "channel_mix_lerp_k.weight": "ffn.x_k",
    "channel_mix_key": "ffn.key",
    "channel_mix_value": "ffn.value",
}
PLAMO2 = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "output": "lm_head",
    "blk": "model.layers.layers",
    "attn_norm": "pre_mixer_norm",
    "post_attention_norm": "post_mixer_norm",
    "ffn_norm": "pre_mlp_norm",
    "post_ffw_norm": "post_mlp_norm",
    "attn_qkv": "mixer.qkv_proj",
    "attn_output": "mixer.o_proj",
    "attn_q_norm.weight": "mixer.q_weight",
    "attn_k_norm.weight": "mixer.k_weight",
    "ffn_up": "mlp.gate_up_proj",
    "ffn_down": "mlp.down_proj",
    "ssm_in": "mixer.in_proj",
    "ssm_conv1d": "mixer.conv1d",
    "ssm_x": "mixer.bcdt_proj",
    "ssm_dt.bias": "mixer.dt_bias",
    "ssm_dt": "mixer.dt_proj",
    "ssm_a": "mixer.A_log",
    "ssm_d": "mixer.D",
    "ssm_out": "mixer.out_proj",
    **{f"ssm_{ours}_norm.weight": f"mixer.{name}_norm_weight" for ours, name in (("dt", "dt"), ("b", "B"), ("c", "C"))},
}
JINA2 = {
    **BERT,
    "attn_q_norm": "attention.self.layer_norm_q",
    "attn_k_norm": "attention.self.layer_norm_k",
    "attn_norm_2": "layer_norm_1",
    "ffn_gate": "mlp.gated_layers",
    "ffn_up": "mlp.gated_layers",
    "ffn_down": "mlp.wo",
    "layer_output_norm": "mlp.layernorm",
}
JINA2_CODE = {
    **JINA2,
    "ffn_gate": "mlp.up_gated_layer",
    "ffn_up": "mlp.up_gated_layer",
    "ffn_down": "mlp.down_layer",
    "layer_output_norm": "layer_norm_2",
}
NOMIC_MOE = {
    "token_embd": "embeddings.word_embeddings",
    "token_types": "embeddings.token_type_embeddings",
    "token_embd_norm": "emb_ln",
    "blk": "encoder.layers",
    "attn_qkv": "attn.Wqkv",
    "attn_output": "attn.out_proj",
    "attn_output_norm": "norm1",
    "layer_output_norm": "norm2",
    "ffn_up": "mlp.fc1",
    "ffn_down": "mlp.fc2",
    "ffn_gate_inp": "mlp.router.layer",
    "ffn_up_exps.weight": "mlp.experts.mlp.w1",
    "ffn_down_exps.weight": "mlp.experts.mlp.w2",
}
BLOCK_SPARSE = {
    **LLAMA,
    "ffn_gate_inp": "block_sparse_moe.gate",
    "ffn_gate_exps.weight": "block_sparse_moe.experts.gate_up_proj",
    "ffn_up_exps.weight": "block_sparse_moe.experts.gate_up_proj",
    "ffn_down_exps.weight": "block_sparse_moe.experts.down_proj",
}
ARCTIC = {
    **BLOCK_SPARSE,
    "ffn_norm_exps": "post_attention_layernorm",
    "ffn_norm": "residual_layernorm",
    "ffn_gate": "residual_mlp.w1",
    "ffn_down": "residual_mlp.w2",
    "ffn_up": "residual_mlp.w3",
}
GROK = {
    **BLOCK_SPARSE,
    "attn_norm": "pre_attn_norm",
    "attn_output_norm": "post_attn_norm",
    "ffn_norm": "pre_moe_norm",
    "layer_output_norm": "post_moe_norm",
    "post_ffw_norm": "post_moe_norm",
}
GROVE = {
    **LLAMA,
    **SPARSE,
    "ffn_gate_chexps.weight": "mlp.chunk_experts.gate_up_proj",
    "ffn_up_chexps.weight": "mlp.chunk_experts.gate_up_proj",
    "ffn_down_chexps.weight": "mlp.chunk_experts.down_proj",
}
JAIS = {
    "token_embd": "transformer.wte",
    "output_norm": "transformer.ln_f",
    "output": "lm_head",
    "blk": "transformer.h",
    "attn_norm": "ln_1",
    "attn_qkv": "attn.c_attn",
    "attn_output": "attn.c_proj",
    "ffn_norm": "ln_2",
    "ffn_up": "mlp.c_fc",
    "ffn_gate": "mlp.c_fc2",
    "ffn_down": "mlp.c_proj",
}
OPENELM_FIELDS = {
    "embedding_length": "model_dim",
    "block_count": "num_transformer_layers",
    "attention.key_length": "head_dim",
    "context_length": "max_context_length",
}
RWKV_FIELDS = {"embedding_length": "hidden_size", "block_count": "num_hidden_layers", "feed_forward_length": "intermediate_size"}
RWKV6_FIELDS = {
    **RWKV_FIELDS,
    "wkv.head_size": "head_size",
    "time_mix_extra_dim": "time_mix_extra_dim",
    "time_decay_extra_dim": "time_decay_extra_dim",
}
RWKV7_FIELDS = {
    **RWKV_FIELDS,
    "wkv.head_size": "head_dim",
    "attention.decay_lora_rank": "decay_low_rank_dim",
    "attention.iclr_lora_rank": "a_low_rank_dim",
    "attention.value_residual_mix_lora_rank": "v_low_rank_dim",
    "attention.gate_lora_rank": "gate_low_rank_dim",
}
PLAMO2_FIELDS = {
    **RWKV_FIELDS,
    "attention.key_length": "hidden_size_per_head",
    "ssm.state_size": "mamba_d_state",
    "ssm.conv_kernel": "mamba_d_conv",
    "ssm.time_step_rank": "mamba_num_heads",
}
NOMIC_MOE_FIELDS = {
    **FIELDS,
    "expert_count": "num_experts",
    "expert_used_count": "moe_top_k",
    "moe_every_n_layers": "moe_every_n_layers",
}
MIXTURE_FIELDS = {
    **FIELDS,
    **GROUPED,
    "expert_count": "num_local_experts",
    "expert_used_count": "num_experts_per_tok",
    "expert_feed_forward_length": "moe_intermediate_size",
}
GROVE_FIELDS = {
    **MIXTURE_FIELDS,
    "expert_count": "num_experts",
    "experts_per_group": "num_experts_per_group",
    "expert_chunk_feed_forward_length": "small_experts_intermediate_size",
}
JAIS_FIELDS = {
    "embedding_length": "n_embd",
    "block_count": "n_layer",
    "feed_forward_length": "n_inner",
    "attention.head_count": "n_head",
    "context_length": "n_positions",
}


def _openelm(stated: Mapping[str, Any], shapes: Shapes) -> dict[str, Any]:
    """Give each layer its heads and its MLP's width, which the file states as they are, and the config as multiples."""
    keys = {"num_query_heads": "attention.head_count", "num_kv_heads": "attention.head_count_kv", "ffn_multipliers": "feed_forward_length"}
    lists = {field: _for_each(stated, key) for field, key in keys.items()}
    hidden, widths = stated.get("embedding_length"), lists["ffn_multipliers"]
    if isinstance(hidden, int) and hidden > 0 and all(isinstance(width, int) for width in widths):
        lists["ffn_multipliers"] = [width / hidden for width in widths]
    return {**lists, "ffn_dim_divisor": 1, "normalize_qk_projections": "blk.0.attn_q_norm.weight" in shapes}


def _for_each(stated: Mapping[str, Any], key: str) -> list[Any]:
    value = stated.get(key)
    return list(value) if isinstance(value, tuple) else [value] * layers_of(stated)


def _plamo2(stated: Mapping[str, Any], shapes: Shapes) -> dict[str, Any]:
    """Tell the heads of the layers that have attention, and how far these are apart."""
    heads, kv_heads = (_for_each(stated, f"attention.head_count{ending}") for ending in ("", "_kv"))
    held = layers_with(stated, shapes, "attn_qkv.weight")
    places = [number for number, here in enumerate(held) if here]
    step = places[1] - places[0] if len(places) > 1 else 2 * (places[0] if places else len(held))
    return {
        "num_attention_heads": max((count for count in heads if isinstance(count, int)), default=None),
        "num_key_value_heads": max((count for count in kv_heads if isinstance(count, int)), default=None),
        "mamba_enabled": not held or not all(held),
        "mamba_step": max(step, 2),
    }


def _plm(stated: Mapping[str, Any], shapes: Shapes) -> dict[str, Any]:
    return {key: value for key, value in latent_sizes(stated, shapes).items() if key != "q_lora_rank"}


REMOTE = {
    "openelm": Architecture("openelm", "OpenELMForCausalLM", OPENELM, OPENELM_FIELDS, ties=False, settled=_openelm),
    "rwkv6": Architecture(
        "rwkv6",
        "Rwkv6ForCausalLM",
        RWKV6,
        RWKV6_FIELDS,
        apart=lambda stated: {"blk.*.time_mix_lerp_fused.weight": tuple(rf"rwkv.blocks.\1.attention.time_maa_{name}" for name in "wkvrg")},
    ),
    "rwkv7": Architecture(
        "rwkv7",
        "RWKV7ForCausalLM",
        RWKV7,
        RWKV7_FIELDS,
        apart=lambda stated: {"blk.*.time_mix_lerp_fused.weight": tuple(rf"model.layers.\1.attn.x_{name}" for name in "rwkvag")},
        added=tuple(f"blk.0.time_mix_v{number}.weight" for number in range(3)),
    ),
    "plamo2": Architecture("plamo2", "Plamo2ForCausalLM", PLAMO2, PLAMO2_FIELDS, settled=_plamo2),
    "jina-bert-v2": Architecture("jina_bert", "JinaBertModel", JINA2, FIELDS, ties=False, stated=(("add_pooling_layer", False),)),
    "jina-bert-v2 with norms on queries and keys": Architecture(
        "jina_bert",
        "JinaBertModel",
        JINA2_CODE,
        FIELDS,
        ties=False,
        stated=(("add_pooling_layer", False), ("auto_map", {"AutoModel": "jinaai/jina-bert-v2-qk-post-norm--modeling_bert.JinaBertModel"})),
    ),
    "nomic-bert-moe": Architecture(
        "nomic_bert_moe",
        "NomicBertModel",
        NOMIC_MOE,
        NOMIC_MOE_FIELDS,
        ties=False,
        biased=(("qkv_proj_bias", "attn_qkv.bias"), ("mlp_fc1_bias", "ffn_up.bias"), ("mlp_fc2_bias", "ffn_down.bias")),
        left_out=(".mlp.experts.bias",),
    ),
    "arctic": Architecture("arctic", "ArcticForCausalLM", ARCTIC, {**MIXTURE_FIELDS, "feed_forward_length": "intermediate_size"}),
    "grok": Architecture(
        "grok", "Grok1ForCausalLM", GROK, MIXTURE_FIELDS, settled=lambda stated, shapes: {"residual_moe": "blk.0.ffn_up.weight" in shapes}
    ),
    "grovemoe": Architecture("grove_moe", "GroveMoeForCausalLM", GROVE, GROVE_FIELDS),
    "jais": Architecture("jais", "JAISLMHeadModel", JAIS, JAIS_FIELDS),
    "plm": Architecture("plm", "PLMForCausalLM", LATENT, {**FIELDS, "attention.kv_lora_rank": "kv_lora_rank"}, settled=_plm),
}
"""By ``general.architecture``; names with a space are variants."""
