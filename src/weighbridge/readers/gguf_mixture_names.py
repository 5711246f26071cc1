"""What llama.cpp calls the tensors of further architectures, and the names of the published code: keys and values through one narrow matrix, linear attention, tables for each layer.

Source: ggml-org/llama.cpp, gguf-py/gguf/tensor_mapping.py, conversion/ (one file a family: ``llama.py``, ``qwen.py``, ``minicpm.py``, ``gemma.py``,
``glm.py``, ``nemotron.py``, ``apertus.py``, ``kimi_linear.py``, ``bailing.py``, ``bert.py``)
"""

from __future__ import annotations

from weighbridge.readers.gguf_architectures import BERT, LATENT, LLAMA, NORMED, SPARSE
from weighbridge.readers.gguf_hybrids import SECOND, prefix_names

LLAMA4 = {
    **LLAMA,
    **{piece: name.replace("mlp.", "feed_forward.") for piece, name in {**LLAMA, **SPARSE}.items() if name.startswith("mlp.")},
    "ffn_gate_inp": "feed_forward.router",
}
QWEN35 = {
    **LLAMA,
    **SPARSE,
    **prefix_names(SECOND, "linear_attn"),
    "attn_qkv": "linear_attn.in_proj_qkv",
    "attn_gate": "linear_attn.in_proj_z",
    "ssm_alpha": "linear_attn.in_proj_a",
    "ssm_beta": "linear_attn.in_proj_b",
    "post_attention_norm": "post_attention_layernorm",
}
PER_LAYER = {
    "per_layer_token_embd": "model.embed_tokens_per_layer",
    "per_layer_model_proj": "model.per_layer_model_projection",
    "per_layer_proj_norm": "model.per_layer_projection_norm",
    "inp_gate": "per_layer_input_gate",
    "proj": "per_layer_projection",
}
"""Of tables that give every layer an input of its own."""

GEMMA3N = {
    **LLAMA,
    **NORMED,
    **PER_LAYER,
    "post_norm": "post_per_layer_input_norm",
    "altup_correct_coef": "altup.correction_coefs",
    "altup_predict_coef": "altup.prediction_coefs",
    "altup_router": "altup.modality_router",
    "altup_router_norm": "altup.router_norm",
    "altup_correct_scale.weight": "altup.correct_output_scale",
    "altup_correct_scale": "altup.correct_output_scale",
    "laurel_l": "laurel.linear_left",
    "laurel_r": "laurel.linear_right",
    "laurel_post_norm": "laurel.post_laurel_norm",
}
GEMMA4 = {
    **LLAMA,
    **NORMED,
    **PER_LAYER,
    "post_norm": "post_per_layer_input_norm",
    "layer_output_scale.weight": "layer_scalar",
    "layer_output_scale": "layer_scalar",
    "pre_ffw_norm_2": "pre_feedforward_layernorm_2",
    "post_ffw_norm_1": "post_feedforward_layernorm_1",
    "post_ffw_norm_2": "post_feedforward_layernorm_2",
    "ffn_gate_inp.weight": "router.proj.weight",
    "ffn_gate_inp.scale": "router.scale",
    "ffn_gate_up_exps.weight": "experts.gate_up_proj",
    "ffn_down_exps.weight": "experts.down_proj",
    "ffn_down_exps.scale": "router.per_expert_scale",
}
GLM_DSA = {
    "indexer.attn_q_b": "self_attn.indexer.wq_b",
    "indexer.attn_k": "self_attn.indexer.wk",
    "indexer.k_norm": "self_attn.indexer.k_norm",
    "indexer.proj": "self_attn.indexer.weights_proj",
    **LATENT,
}
NEMOTRON_H = {
    "token_embd": "model.embeddings",
    "output_norm": "model.norm_f",
    "output": "lm_head",
    "blk": "model.layers",
    "attn_norm": "norm",
    **prefix_names(SECOND, "mixer"),
    "attn_q": "mixer.q_proj",
    "attn_k": "mixer.k_proj",
    "attn_v": "mixer.v_proj",
    "attn_output": "mixer.o_proj",
    "ffn_up": "mixer.up_proj",
    "ffn_down": "mixer.down_proj",
    "ffn_gate_inp": "mixer.gate",
    "ffn_up_exps.weight": "mixer.experts.up_proj",
    "ffn_down_exps.weight": "mixer.experts.down_proj",
    "ffn_up_shexp": "mixer.shared_experts.up_proj",
    "ffn_down_shexp": "mixer.shared_experts.down_proj",
    "ffn_latent_in": "mixer.fc1_latent_proj",
    "ffn_latent_out": "mixer.fc2_latent_proj",
    "ffn_latent_down": "mixer.fc1_latent_proj",
    "ffn_latent_up": "mixer.fc2_latent_proj",
}
APERTUS = {**LLAMA, "attn_norm": "attention_layernorm", "ffn_norm": "feedforward_layernorm"}
SINKS = {"attn_sinks.weight": "self_attn.sinks", "attn_sinks": "self_attn.sinks"}
KIMI = {
    **LATENT,
    "ssm_conv1d_q": "self_attn.conv1d",
    "ssm_conv1d_k": "self_attn.conv1d",
    "ssm_conv1d_v": "self_attn.conv1d",
    "ssm_f_a": "self_attn.forget_gate.f_a_proj",
    "ssm_f_b": "self_attn.forget_gate.f_b_proj",
    "ssm_beta": "self_attn.b_proj",
    "ssm_g_a": "self_attn.g_a_proj",
    "ssm_g_b": "self_attn.g_b_proj",
    "ssm_norm": "self_attn.o_norm",
    "ssm_a": "self_attn.forget_gate.A_log",
    "ssm_dt.bias": "self_attn.forget_gate.dt_bias",
}
CHATGLM = {
    "token_embd": "transformer.embedding.word_embeddings",
    "output_norm": "transformer.encoder.final_layernorm",
    "output": "transformer.output_layer",
    "blk": "transformer.encoder.layers",
    "attn_norm": "input_layernorm",
    "attn_qkv": "self_attention.query_key_value",
    "attn_output": "self_attention.dense",
    "ffn_norm": "post_attention_layernorm",
    "ffn_up": "mlp.dense_h_to_4h",
    "ffn_down": "mlp.dense_4h_to_h",
}
GLM = {**LLAMA, "ffn_up": "mlp.gate_up_proj"}
QWEN = {
    "token_embd": "transformer.wte",
    "output_norm": "transformer.ln_f",
    "output": "lm_head",
    "blk": "transformer.h",
    "attn_norm": "ln_1",
    "attn_qkv": "attn.c_attn",
    "attn_output": "attn.c_proj",
    "ffn_norm": "ln_2",
    "ffn_gate": "mlp.w2",
    "ffn_up": "mlp.w1",
    "ffn_down": "mlp.c_proj",
}
JINA3 = {
    **BERT,
    "blk": "layers",
    "attn_output": "self_attn.o_proj",
    "attn_output_norm": "post_attention_layernorm",
    "attn_qkv": "self_attn.qkv_proj",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "ffn_up": "mlp.fc1",
    "ffn_down": "mlp.fc2",
    "layer_output_norm": "post_mlp_layernorm",
}
