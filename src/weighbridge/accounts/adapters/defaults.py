"""Target modules by model type, where an adapter's config names none.

Source: huggingface/peft 0.21.2, utils/constants.py
"""

from __future__ import annotations

Targets = dict[str, "tuple[str, ...] | str"]


def _table(text: str) -> Targets:
    """Read lines of ``types: modules``; a pattern stands alone behind a tilde."""
    table: Targets = {}
    for line in text.strip().splitlines():
        types, _, names = line.partition(":")
        modules = names.strip()
        value = modules.removeprefix("~") if modules.startswith("~") else tuple(modules.split())
        table.update(dict.fromkeys(types.split(), value))
    return table


QV = "q_proj v_proj"
GEMMA4 = r"~.*language_model\..*\.(q_proj|v_proj)"

LORA = _table(f"""
t5 mt5: q v
bart opt gptj gpt_neo llama llama4 mistral mixtral stablelm gemma gemma2 gemma3_text qwen2 qwen3: {QV}
gpt2 gpt_bigcode: c_attn
bloom gpt_neox chatglm RefinedWebModel RefinedWeb falcon: query_key_value
blip-2: q v q_proj v_proj
bert roberta xlm-roberta electra layoutlm: query value
deberta-v2: query_proj value_proj
deberta: in_proj
mpt: Wqkv
btlm: c_proj c_attn
codegen: qkv_proj
phi: q_proj v_proj fc1 fc2
gemma4: {GEMMA4}
nemotron_h: q_proj k_proj v_proj o_proj
rwkv: key value receptance output
rwkv7: r_proj k_proj v_proj o_proj key value
""")

ADAMSS = LORA | _table("vit: query value")
FOURIERFT = LORA | _table("gpt_bigcode gpt2: mlp.c_proj")
C3A = FOURIERFT
SHIRA = LORA | _table(f"phi: {QV}")
VERA = SHIRA
FROD = VERA | _table("vit: query value")
PVERA = VERA | _table("dinov2: query value")

LN_TUNING = _table("""
llama mistral gemma: input_layernorm post_attention_layernorm norm
bloom falcon: input_layernorm post_attention_layernorm ln_f
llava: multi_modal_projector input_layernorm post_attention_layernorm norm embed_tokens lm_head
t5 mt5: layer_norm final_layer_norm
bart: self_attn_layer_norm encoder_attn_layer_norm final_layer_norm
gpt2: ln_1 ln_2 ln_f
blip-2: layernorm LayerNorm final_layer_norm self_attn_layer_norm
gptj: ln_1 ln_f
phi: input_layernorm final_layernorm
gemma2 gemma3_text: input_layernorm post_attention_layernorm pre_feedforward_layernorm post_feedforward_layernorm norm
qwen2 qwen3: post_attention_layernorm
""")

IA3 = _table("""
t5: k v wo
mt5: k v wi_1
gpt2 gpt_bigcode: c_attn mlp.c_proj
bloom: query_key_value mlp.dense_4h_to_h
roberta bert: key value output.dense
opt: q_proj k_proj fc2
gptj: q_proj v_proj fc_out
gpt_neox RefinedWebModel RefinedWeb falcon: query_key_value dense_4h_to_h
gpt_neo: q_proj v_proj c_proj
bart phi: q_proj v_proj fc2
llama mistral: k_proj v_proj down_proj
llama4 gemma gemma2 gemma3_text qwen2 qwen3: q_proj v_proj down_proj
mixtral: k_proj v_proj w2
deberta-v2: key_proj value_proj output.dense
deberta: in_proj output.dense
""")

FEEDFORWARD = _table("""
t5: wo
mt5:
gpt2 gpt_bigcode: mlp.c_proj
bloom: mlp.dense_4h_to_h
roberta bert deberta-v2 deberta: output.dense
opt bart phi: fc2
gptj: fc_out
gpt_neox RefinedWeb RefinedWebModel falcon: dense_4h_to_h
gpt_neo: c_proj
llama llama4 mistral gemma gemma2 gemma3_text qwen2 qwen3: down_proj
mixtral: w2
""")

BEFT = _table("""
t5 mt5: v
roberta bert: value
opt gptj gpt_neo bart llama llama4 mistral mixtral phi gemma gemma2 gemma3_text qwen2 qwen3: v_proj
deberta-v2: value_proj
""")

_SHARED = f"""
t5: q k v o wi wo
mt5: q k v o wi_0 wi_1 wo
bart opt: q_proj k_proj v_proj out_proj fc1 fc2
gpt2 gpt_bigcode: c_attn
bloom gpt_neox: query_key_value
gptj gpt_neo llama llama4 gemma gemma2 gemma3_text qwen2 qwen3: {QV}
bert: query value
deberta-v2: query_proj key_proj value_proj dense
deberta: in_proj
gemma4: {GEMMA4}
nemotron_h: q_proj k_proj v_proj o_proj
"""
ADALORA = _table(_SHARED) | _table("roberta: query key value dense")
VBLORA = _table(_SHARED) | _table("roberta: query value")

OSF = _table("""
llama llama4 mistral mixtral gemma gemma2 gemma3_text qwen2 qwen3 phi: q_proj k_proj v_proj o_proj gate_proj down_proj up_proj
gpt2 gpt_bigcode: c_attn c_proj
bloom gpt_neox falcon: query_key_value dense_4h_to_h
opt: q_proj k_proj v_proj out_proj fc1 fc2
gptj: q_proj k_proj v_proj out_proj fc_in fc_out
""")

WAVEFT = {key: value for key, value in LORA.items() if key not in ("btlm", "rwkv", "rwkv7")} | _table("gpt2 gpt_bigcode: mlp.c_proj")

MIXTRAL_KIN = ("minimax", "minimax_m2", "mixtral")
QWEN_MOE_KIN = (
    "afmoe",
    "beam",
    "cohere2_moe",
    "deepseek_v2",
    "deepseek_v3",
    "deepseek_v32",
    "dots1",
    "ernie4_5_moe",
    "exaone_moe",
    "flex_olmo",
    "glm4_moe",
    "glm4_moe_lite",
    "glm4v_moe",
    "glm_moe_dsa",
    "hunyuan_v1_moe",
    "longcat_flash",
    "mellum",
    "olmoe",
    "qwen3_moe",
    "qwen3_next",
    "qwen3_omni_moe",
    "qwen3_omni_moe_text",
    "qwen3_omni_moe_thinker",
    "solar_open",
)
"""Model types whose experts are fused in memory; which checkpoint names stand for which parameter.

Source: huggingface/transformers 5.23.0, conversion_mapping.py
"""

_MIXTRAL = {"gate": "gate.weight", "w1": "gate_up_proj", "w3": "gate_up_proj", "w2": "down_proj"}
_QWEN_MOE = {"gate": "gate.weight", "gate_proj": "gate_up_proj", "up_proj": "gate_up_proj", "down_proj": "down_proj"}
FUSED_EXPERTS = dict.fromkeys(MIXTRAL_KIN, _MIXTRAL) | dict.fromkeys(QWEN_MOE_KIN, _QWEN_MOE)
"""By model type: from a module of the checkpoint to the fused parameter that holds it.

Source: huggingface/peft 0.21.2, utils/transformers_weight_conversion.py
"""
