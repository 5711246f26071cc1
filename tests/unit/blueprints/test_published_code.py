"""Models whose code stands beside their files: against the totals that their authors published, or that others counted in their files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import weighbridge
from truth.packages import tensors_of
from weighbridge.blueprints.index import MODULES
from weighbridge.core.errors import ConfigError, UsageError, WeighbridgeError

ELM = {
    "model_type": "openelm",
    "num_transformer_layers": 16,
    "model_dim": 1280,
    "head_dim": 64,
    "ffn_dim_divisor": 256,
    "vocab_size": 32000,
    "ffn_multipliers": [0.5, 0.73, 0.97, 1.2, 1.43, 1.67, 1.9, 2.13, 2.37, 2.6, 2.83, 3.07, 3.3, 3.53, 3.77, 4.0],
    "num_query_heads": [12] * 5 + [16] * 7 + [20] * 4,
    "num_kv_heads": [3] * 5 + [4] * 7 + [5] * 4,
}
GOOSE = {"model_type": "rwkv7", "vocab_size": 65536}
NOMIC = {
    "model_type": "nomic_bert",
    "architectures": ["NomicBertModel"],
    "vocab_size": 250048,
    "n_embd": 768,
    "n_inner": 3072,
    "n_layer": 12,
    "n_head": 12,
    "num_experts": 8,
    "moe_top_k": 2,
    "moe_every_n_layers": 2,
    "activation_function": "gelu",
    "qkv_proj_bias": True,
    "mlp_fc1_bias": True,
    "mlp_fc2_bias": True,
    "type_vocab_size": 1,
}
JINA = {
    "model_type": "bert",
    "architectures": ["JinaBertModel"],
    "vocab_size": 30528,
    "feed_forward_type": "geglu",
    "position_embedding_type": "alibi",
}
INTERN_VIT = {"hidden_size": 1024, "intermediate_size": 4096, "num_attention_heads": 16, "num_hidden_layers": 24, "image_size": 448}
INTERNVL = {
    "model_type": "internvl_chat",
    "vision_config": {**INTERN_VIT, "norm_type": "layer_norm", "qk_normalization": False, "qkv_bias": True},
}
TALKER: dict[str, object] = {
    "intermediate_size": 3072,
    "num_hidden_layers": 28,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "num_code_groups": 16,
    "text_vocab_size": 151936,
    "code_predictor_config": {"num_code_groups": 16},
}
WIDE_TALKER: dict[str, object] = {**TALKER, "hidden_size": 2048, "intermediate_size": 6144}
VOICE: dict[str, object] = {"model_type": "qwen3_tts", "talker_config": TALKER, "tts_model_type": "custom_voice"}
MOLMO = {
    "model_type": "molmo",
    "hidden_size": 3584,
    "intermediate_size": 37888,
    "num_hidden_layers": 28,
    "num_attention_heads": 28,
    "num_key_value_heads": 4,
    "vocab_size": 152064,
    "qkv_bias": True,
}
SDAR = {
    "model_type": "sdar",
    "vocab_size": 151936,
    "hidden_size": 4096,
    "intermediate_size": 12288,
    "num_hidden_layers": 36,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "tie_word_embeddings": False,
}
M1 = {
    "model_type": "minimax_m1",
    "attn_type_list": [int(layer % 8 == 7) for layer in range(80)],
    "vocab_size": 200064,
    "hidden_size": 6144,
    "intermediate_size": 9216,
    "num_hidden_layers": 80,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "num_local_experts": 32,
    "num_experts_per_tok": 2,
    "shared_intermediate_size": 0,
}
PAIRS = [*([first, first + 1] for first in range(1, 15, 2)), [16, 17, 18], *([first, first + 1] for first in range(19, 31, 2))]
"""Layers of Hymba that share keys and values."""
WIDE = {"v_low_rank_dim": 64, "decay_low_rank_dim": 96, "a_low_rank_dim": 96}
TOTALS: dict[str, tuple[dict[str, object], str, int]] = {
    "OpenELM-270M, table of the repository": (ELM, "OpenELMForCausalLM", 271_527_168),
    "RWKV-6 1.6B, arXiv 2404.05892": ({"model_type": "rwkv6", "hidden_size": 2048}, "Rwkv6ForCausalLM", 1_599_873_024),
    "RWKV-7 0.19B, arXiv 2503.14456": (
        {**GOOSE, "hidden_size": 768, "num_hidden_layers": 12, "v_low_rank_dim": 32},
        "RWKV7ForCausalLM",
        191_034_624,
    ),
    "RWKV-7 0.4B": ({**GOOSE, "hidden_size": 1024, "v_low_rank_dim": 32}, "RWKV7ForCausalLM", 450_767_872),
    "RWKV-7 1.5B": ({**GOOSE, **WIDE, "gate_low_rank_dim": 256}, "RWKV7ForCausalLM", 1_527_404_544),
    "RWKV-7 2.9B": (
        {**GOOSE, **WIDE, "hidden_size": 2560, "num_hidden_layers": 32, "gate_low_rank_dim": 320},
        "RWKV7ForCausalLM",
        2_947_735_040,
    ),
    "Qwen3-TTS-12Hz-0.6B-CustomVoice, its file": (VOICE, "Qwen3TTSForConditionalGeneration", 905_788_672),
    "Qwen3-TTS-12Hz-0.6B-Base, its file": ({**VOICE, "tts_model_type": "base"}, "Qwen3TTSForConditionalGeneration", 914_643_008),
    "Qwen3-TTS-12Hz-1.7B-Base, its file": (
        {**VOICE, "talker_config": WIDE_TALKER, "tts_model_type": "base", "speaker_encoder_config": {"enc_dim": 2048}},
        "Qwen3TTSForConditionalGeneration",
        1_928_677_440,
    ),
    "NeoBERT, its file": ({"model_type": "neobert"}, "NeoBERTLMHead", 245_136_954),
    "NV-Embed-v2, its file": ({"model_type": "nvembed"}, "NVEmbedModel", 7_851_016_192),
    "Ouro-1.4B, its file": ({"model_type": "ouro"}, "OuroForCausalLM", 1_434_652_673),
    "Ouro-2.6B, its file": ({"model_type": "ouro", "num_hidden_layers": 48}, "OuroForCausalLM", 2_667_974_657),
    "SDAR-8B-Chat, its file": (SDAR, "SDARForCausalLM", 8_190_735_360),
    "MiniMax-M1, its file": (M1, "MiniMaxM1ForCausalLM", 456_089_655_296),
    "Phi-4-mini-flash-reasoning, its file": ({"model_type": "phi4flash"}, "Phi4FlashForCausalLM", 3_852_562_944),
    "Hymba-1.5B, its file": ({"model_type": "hymba", "kv_reuse_group": PAIRS}, "HymbaForCausalLM", 1_522_797_824),
    "moondream3-preview, its file": ({"model_type": "moondream3"}, "HfMoondream", 9_268_626_928),
    "nomic-embed-text-v2-moe": (NOMIC, "NomicBertModel", 475_292_928),
    "jina-embeddings-v2-base-en": (JINA, "JinaBertModel", 137_368_320),
    "jina-embeddings-v2-small-en": (
        {**JINA, "hidden_size": 512, "num_hidden_layers": 4, "num_attention_heads": 8, "intermediate_size": 2048},
        "JinaBertModel",
        32_690_688,
    ),
}


def test_qwen_audio_has_the_elements_of_its_file() -> None:
    """Its positions are a buffer that stands in the file: 8,396,222,464 elements, 1,920,000 of them no parameters."""
    audio = {"n_ctx": 1500, "n_head": 20, "n_layer": 32, "n_mels": 80, "n_state": 1280, "output_dim": 4096}
    found = weighbridge.model({"model_type": "qwen", "architectures": ["QWenLMHeadModel"], "vocab_size": 155_947, "audio": audio}).count()
    assert (found.stored, found.unique, found.buffers) == (8_396_222_464, 8_394_302_464, 1_920_000)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ({"model_type": "k2_horizon", "num_experts": 8}, "num_experts: only the dense models of this type are described"),
        ({"model_type": "k2_horizon", "moe_layers": [3]}, "moe_layers: only the dense models of this type are described"),
        ({"model_type": "neobert", "rope": False}, "rope: False is not described"),
        ({"model_type": "neobert", "ngpt": True}, "ngpt: True is not described"),
        ({**M1, "attn_type_list": [2] * 80}, "attn_type_list: expected a list of 0 and 1"),
        ({**M1, "shared_intermediate_size": 8}, "shared_intermediate_size: an expert that every token goes through is not described"),
        ({"model_type": "spark2_5", "hidden_act": "silu"}, "hidden_act: expected one of gelu"),
    ],
)
def test_what_the_code_of_others_makes_of_other_keys_is_refused(raw: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(said)):
        weighbridge.model(raw)


def test_a_voice_takes_as_many_frames_as_the_model_writes() -> None:
    found = weighbridge.model(VOICE)
    for ask in (found.flops, found.cache):
        with pytest.raises(UsageError, match="how many frames of sound a text takes"):
            ask()


@pytest.mark.parametrize("model_type", ["hymba", "phi4flash"])
def test_what_no_class_confirms_is_refused(model_type: str) -> None:
    """Arithmetic and cache of what was held to a total alone."""
    found = weighbridge.model({"model_type": model_type})
    for ask in (found.flops, found.cache):
        with pytest.raises(WeighbridgeError, match="is not held to a live class"):
            ask()


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ({"kv_reuse_group": 3}, "kv_reuse_group: expected lists of layers"),
        ({"num_experts": 4}, "num_experts: 4 is not described"),
        ({"kq_norm": "rms"}, "kq_norm: 'rms' is not described"),
    ],
)
def test_a_hymba_of_another_make_is_refused(raw: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        weighbridge.model({"model_type": "hymba", **raw})


@pytest.mark.parametrize("name", TOTALS)
def test_a_published_total(name: str) -> None:
    config, class_name, total = TOTALS[name]
    found = weighbridge.model(config, class_name)
    assert (found.class_name, found.count().unique) == (class_name, total)


@pytest.mark.parametrize(
    ("model_type", "low", "high"),
    [
        ("arctic", 478.5e9, 479.5e9),
        ("grok", 314e9, 316e9),
        ("grove_moe", 32.5e9, 33.5e9),
        ("jais", 12.95e9, 13.05e9),
        ("plm", 1.82e9, 1.83e9),
    ],
)
def test_a_published_size(model_type: str, low: float, high: float) -> None:
    """Snowflake says 480B (with 128 experts of 3.66B), xAI 314B, inclusionAI 33B, Core42 13B, PLM 1.83B."""
    unique = weighbridge.model({"model_type": model_type}).count().unique
    assert isinstance(unique, int)
    assert low < unique < high


KIMI_K3 = {
    "model_type": "kimi_k3",
    "text_config": {
        "vocab_size": 163840,
        "linear_attn_config": {
            "full_attn_layers": [*range(4, 93, 4), 93],
            "kda_layers": [number for number in range(1, 93) if number % 4],
            "num_heads": 96,
            "head_dim": 128,
            "short_conv_kernel_size": 4,
            "use_full_rank_gate": True,
        },
        "routed_expert_hidden_size": 3584,
        "latent_moe_use_norm": True,
        "mla_use_output_gate": True,
        "attn_res_block_size": 12,
    },
    "vision_config": {
        "qkv_hidden_size": 1536,
        "norm_type": "rmsnorm",
        "attn_bias": False,
        "linear_bias": False,
        "patch_embed_proj_bias": False,
    },
}
"""What the published config states of sizes."""


def test_kimi_k3_has_the_published_sizes() -> None:
    """Moonshot says 2.8T and 104B active (without tables and images), others 2.78T; 896 experts in 92 layers; 1.56 TB in files, experts in MXFP4."""
    found = weighbridge.model(KIMI_K3)
    counts, rows = found.count(), list(found.tensors())
    unique, active = counts.unique, counts.active
    assert isinstance(unique, int)
    assert isinstance(active, int)
    assert unique == 2_779_931_752_544
    padding = 69 * (128 - 96)  # A_log of each linear layer, a number a head, is as long as a head in the files
    assert unique + counts.buffers + padding == 2_779_931_837_184  # of the files, as llmfit 1.1.17 lists them
    tables = sum(row.count for row in rows if "embed_tokens" in row.name or row.name.startswith(("vision_tower", "mm_projector")))
    assert isinstance(tables, int)
    assert round((active - tables) / 1e9) == 104
    experts = [row.count for row in rows if ".experts." in row.name]
    assert len(experts) == 3 * 896 * 92
    inside = sum(experts)
    assert isinstance(inside, int)
    assert round((inside * 17 / 32 + 2 * (unique - inside)) / 1e10) == 156
    with pytest.raises(UsageError, match="attention residuals"):
        found.flops()


def test_an_rwkv_follows_the_formula_of_its_paper() -> None:
    for hidden, layers, vocab in ((128, 2, 100), (512, 5, 77)):
        config = {
            "model_type": "rwkv6",
            "hidden_size": hidden,
            "num_hidden_layers": layers,
            "vocab_size": vocab,
            "intermediate_size": 7 * hidden // 2,
        }
        unique = weighbridge.model(config).count().unique
        assert unique == 13 * hidden**2 * layers + 464 * hidden * layers + 4 * hidden + 2 * hidden * vocab


@pytest.mark.parametrize(
    ("config", "text"),
    [
        ({**ELM, "num_kv_heads": [3]}, "num_kv_heads: 1 entries for 16 layers (one for each layer)"),
        ({**ELM, "num_kv_heads": [5] * 16}, "num_kv_heads: expected a divisor of the 12 heads, found 5"),
        ({**GOOSE, "value_dim": 4096}, "value_dim: values wider than the hidden size are not described"),
        ({**GOOSE, "attn": {"layers": [1]}}, "attn: layers of attention among those of RWKV are not described"),
        ({**JINA, "position_embedding_type": "absolute"}, "position_embedding_type: 'absolute' is not described, only 'alibi'"),
        ({"model_type": "jais", "activation_function": "gelu"}, "activation_function: 'gelu' is not described, only 'swiglu'"),
        (
            {**KIMI_K3, "text_config": {"num_hidden_layers": 2, "linear_attn_config": {"full_attn_layers": [2], "kda_layers": []}}},
            "text_config.linear_attn_config.full_attn_layers: a layer in neither list (name every layer in one)",
        ),
        ({**NOMIC, "prenorm": True}, "prenorm: True is not described, only False"),
    ],
)
def test_another_structure_is_refused(config: dict[str, object], text: str) -> None:
    with pytest.raises(ConfigError) as refused:
        weighbridge.model(config)
    assert str(refused.value) == text


@pytest.mark.parametrize("model_type", ["rwkv6", "rwkv7", "plamo2"])
def test_the_arithmetic_of_a_recurrence_without_a_live_class_is_refused(model_type: str) -> None:
    with pytest.raises(UsageError, match="the arithmetic of this recurrence is not held to a live class"):
        weighbridge.model({"model_type": model_type}).flops(seq=16)


def test_active_parameters_of_mixtures() -> None:
    """Snowflake says 17B of Arctic are at work on a token, Nomic 305M."""
    assert weighbridge.model({"model_type": "arctic"}).count().active == 17_318_647_808
    assert weighbridge.model(NOMIC).count().active == 305_423_616


CHATGLM = {
    "model_type": "chatglm",
    "architectures": ["ChatGLMModel"],
    "inner_hidden_size": 16384,
    "position_encoding_2d": True,
    "vocab_size": 130528,
}


def test_the_first_chatglm_is_told_by_its_keys() -> None:
    found = weighbridge.model(CHATGLM)
    assert (found.model_type, found.count().unique) == ("chatglm_6b", 6_173_286_400)  # README of calculate-flops.pytorch
    assert found.adapters({"peft_type": "LORA", "r": 8, "target_modules": ["query_key_value"]}).total == 6_176_956_416  # PEFT's own print
    with pytest.raises(ConfigError, match="P-Tuning v2"):
        weighbridge.model({**CHATGLM, "pre_seq_len": 128})
    second = {key: value for key, value in CHATGLM.items() if key not in ("inner_hidden_size", "position_encoding_2d", "vocab_size")}
    assert weighbridge.model({**second, "padded_vocab_size": 65024}).model_type == "chatglm"


def test_the_first_chatglm_takes_as_many_macs_as_calflops_counts() -> None:
    """793.75 GMACs for 128 tokens (README of calculate-flops.pytorch)."""
    flops = weighbridge.model("chatglm-6b").flops(seq=128).forward_matmul
    assert isinstance(flops, int)
    assert round(flops / 2e9, 2) == 793.75


def bytes_of_file(found: weighbridge.Model) -> int:
    """Return the size of a safetensors file in bfloat16 of these tensors: its header has every name and every shape in it."""
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, shape in sorted(tensors_of(found).items()):
        start, count = end, 1
        for side in shape:
            count *= side
        end += 2 * count
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [start, end]}
    length = len(json.dumps(header, separators=(",", ":")))
    return 8 + (length + 7) // 8 * 8 + end


OCR_TEXT = {
    "first_k_dense_replace": 1,
    "hidden_size": 1280,
    "intermediate_size": 6848,
    "kv_lora_rank": None,
    "moe_intermediate_size": 896,
    "n_routed_experts": 64,
    "n_shared_experts": 2,
    "num_attention_heads": 10,
    "num_experts_per_tok": 6,
    "num_hidden_layers": 12,
    "num_key_value_heads": 10,
    "q_lora_rank": None,
    "qk_nope_head_dim": 0,
    "qk_rope_head_dim": 0,
    "topk_method": "greedy",
    "use_mla": False,
    "v_head_dim": 0,
    "vocab_size": 129280,
}
DEEPSEEK_OCR = {
    "model_type": "deepseek_vl_v2",
    "architectures": ["DeepseekOCRForCausalLM"],
    "language_config": OCR_TEXT,
    "projector_config": {"input_dim": 2048, "n_embed": 1280, "projector_type": "linear"},
    "vision_config": {"image_size": 1024, "mlp_ratio": 3.7362, "width": {"sam_vit_b": {"heads": 12, "layers": 12, "width": 768}}},
    **OCR_TEXT,
}
FILES = {
    "moondream2 of June 2025: 3,854,538,968 bytes": ({"model_type": "moondream1", "config": {}}, 1_927_237_104, 3_854_538_968),
    "DeepSeek-OCR: 2,710 tensors, 6,672,547,120 bytes": (DEEPSEEK_OCR, 3_336_106_240, 6_672_547_120),
}


@pytest.mark.parametrize("name", FILES)
def test_a_published_file_has_as_many_bytes(name: str) -> None:
    """The size of the file is in the Hub's pointer to it; one name or shape otherwise, and it is another."""
    config, total, size = FILES[name]
    found = weighbridge.model(config)
    assert (found.count().unique, bytes_of_file(found)) == (total, size)


LING_MINI = {
    "model_type": "bailing_moe",
    "architectures": ["BailingMoeV2ForCausalLM"],
    "num_hidden_layers": 20,
    "hidden_size": 2048,
    "intermediate_size": 5120,
    "num_attention_heads": 16,
    "num_key_value_heads": 4,
    "num_experts": 256,
    "num_experts_per_tok": 8,
    "num_shared_experts": 1,
    "moe_intermediate_size": 512,
    "first_k_dense_replace": 1,
    "vocab_size": 157184,
}


def test_ling_mini_has_the_elements_that_its_files_state() -> None:
    """16,255,643,392 stand in the files of inclusionAI/Ling-mini-2.0: the corrections of scores, one for each expert, are among them."""
    counts = weighbridge.model(LING_MINI).count()
    assert (counts.unique, counts.buffers) == (16_255_643_392 - 4_864, 256 * 19)
    with pytest.raises(ConfigError, match="multi-token prediction"):
        weighbridge.model({**LING_MINI, "num_nextn_predict_layers": 1})
    with pytest.raises(ConfigError, match="another width"):
        weighbridge.model({**LING_MINI, "moe_shared_expert_intermediate_size": 1024})


def projector_of_janus(inputs: int) -> dict[str, object]:
    return {"cls": "MlpProjector", "params": {"depth": 2, "input_dim": inputs, "n_embed": 2048, "projector_type": "mlp_gelu"}}


JANUS_TEXT = {"hidden_size": 2048, "intermediate_size": 5632, "num_attention_heads": 16, "num_hidden_layers": 24, "vocab_size": 102400}
JANUS = {
    "model_type": "multi_modality",
    "vision_config": {
        "cls": "CLIPVisionTower",
        "params": {"image_size": 384, "model_name": "siglip_large_patch16_384", "select_layer": -1},
    },
    "aligner_config": projector_of_janus(1024),
    "gen_vision_config": {"cls": "VQ-16", "params": {"image_token_size": 16384, "n_embed": 8}},
    "gen_aligner_config": projector_of_janus(8),
    "gen_head_config": {"cls": "vision_head", "params": {"image_token_embed": 2048, "image_token_size": 16384, "n_embed": 2048}},
    "language_config": {"model_type": "llama", **JANUS_TEXT},
}


def test_janus_is_the_library_s_with_a_query_that_pools() -> None:
    """Janus-Pro-1B under both names; what pools stands in DeepSeek's files, and no image goes through it."""
    found = weighbridge.model(JANUS)
    pooling = sum(row.count for row in found.tensors() if ".attn_pool." in row.name)
    library = {
        "model_type": "janus",
        "architectures": ["JanusForConditionalGeneration"],
        "text_config": {"model_type": "llama", "tie_word_embeddings": False, **JANUS_TEXT},
        "tie_word_embeddings": False,
        "vision_config": {"projection_dim": 2048},
        "vq_config": {"projection_dim": 2048, "image_token_embed_dim": 2048},
    }
    assert found.count().unique == 2_089_232_011
    assert found.count().unique - pooling == weighbridge.model(library).count().unique
    assert found.flops(seq=600, images=1).forward_matmul == weighbridge.model(library).flops(seq=600, images=1).forward_matmul


@pytest.mark.parametrize(
    ("changed", "key"),
    [
        ({"vision_config": {"cls": "CLIPVisionTower", "params": {"model_name": "eva"}}}, "vision_config.params.model_name"),
        ({"gen_vision_config": {"cls": "VQ-8", "params": {}}}, "gen_vision_config.cls"),
        ({"gen_head_config": None}, "gen_head_config"),
        ({"vision_und_enc_config": {}}, "vision_und_enc_config"),
    ],
)
def test_another_janus_is_refused(changed: dict[str, object], key: str) -> None:
    with pytest.raises(ConfigError) as refused:
        weighbridge.model({**JANUS, **changed})
    assert refused.value.key == key


def test_the_arithmetic_over_crops_is_refused() -> None:
    for config in (DEEPSEEK_OCR, {"model_type": "moondream1"}):
        assert weighbridge.model(config).flops(seq=16).forward_matmul
        with pytest.raises(UsageError, match="depends on its sides"):
            weighbridge.model(config).flops(seq=16, images=1)


EVA = {"hidden_size": 1792, "image_size": 490, "intermediate_size": 15360, "num_heads": 16, "num_hidden_layers": 63, "num_positions": 1226}
COG = {"architectures": ["CogVLMForCausalLM"], "vision_config": EVA}
QWEN_VL = {"heads": 16, "image_size": 448, "layers": 48, "mlp_ratio": 4.9231, "output_dim": 4096, "patch_size": 14, "width": 1664}


def test_models_that_see_have_the_totals_that_others_counted() -> None:
    """Qwen-VL and CogVLM in a public comparison of parameters: 9,656,935,168 and 17,639,685,376."""
    assert weighbridge.model({"model_type": "qwen", "visual": QWEN_VL}, "QWenLMHeadModel").count().unique == 9_656_935_168
    found = weighbridge.model(COG)
    assert (found.model_type, found.count().unique) == ("cogvlm", 17_639_685_376)
    with pytest.raises(ConfigError, match="CogAgent"):
        weighbridge.model({**COG, "cross_hidden_size": 1024})


def test_the_second_cogvlm_and_glm_4v_share_a_tower() -> None:
    """The files of the second say 19,503,107,328 with the frequencies of every layer, the authors of GLM-4V 13.9B."""
    words = {"intermediate_size": 14336, "num_multi_query_heads": 8, "vocab_size": 128256}
    second = weighbridge.model({**COG, **words, "vision_config": {**EVA, "image_size": 1344, "num_positions": 9217}})
    glm = {"model_type": "chatglm", "architectures": ["ChatGLMModel"], "padded_vocab_size": 151552, "num_layers": 40, "add_qkv_bias": True}
    glm |= {"multi_query_attention": True, "multi_query_group_num": 2}
    third = weighbridge.model({**glm, "vision_config": {**EVA, "image_size": 1120, "num_positions": 6401}})
    assert (second.count().unique + second.count().buffers, third.count().unique) == (19_503_107_328, 13_906_320_896)
    assert third.count().unique - weighbridge.model(glm).count().unique == sum(
        row.count for row in third.tensors() if row.name.startswith("vision.")
    )
    with pytest.raises(UsageError, match="an image's"):
        second.flops(seq=16, images=1)


LLAVA = {
    "mm_vision_tower": "openai/clip-vit-large-patch14-336",
    "mm_hidden_size": 1024,
    "mm_projector_type": "mlp2x_gelu",
    "image_aspect_ratio": "pad",
}


LLAVA_OV = {"mm_vision_tower": "google/siglip-so400m-patch14-384", "mm_hidden_size": 1152, "mm_patch_merge_type": "spatial_unpad"}
HALF = {"hidden_size": 896, "intermediate_size": 4864, "num_hidden_layers": 24, "num_attention_heads": 14, "num_key_value_heads": 2}
YI = {"hidden_size": 7168, "intermediate_size": 20480, "num_hidden_layers": 60, "num_attention_heads": 56, "num_key_value_heads": 8}
QWEN_7B = {"hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4}
OTHERS: dict[str, tuple[str, str, dict[str, object], int]] = {
    "liuhaotian/llava-v1.6-vicuna-7b": ("llava", "LlavaLlamaForCausalLM", {"mm_patch_merge_type": "spatial_unpad"}, 7_062_906_880),
    "liuhaotian/llava-v1.6-34b": (
        "llava",
        "LlavaLlamaForCausalLM",
        {**YI, "vocab_size": 64000, "mm_patch_merge_type": "unpad"},
        34_751_166_464,
    ),
    "liuhaotian/llava-v1.6-mistral-7b": (
        "llava_mistral",
        "LlavaMistralForCausalLM",
        {"num_key_value_heads": 8, "intermediate_size": 14336, "mm_patch_merge_type": "spatial_unpad"},
        7_566_223_360,
    ),
    "lmms-lab/llava-onevision-qwen2-7b-ov": (
        "llava",
        "LlavaQwenForCausalLM",
        {**LLAVA_OV, **QWEN_7B, "vocab_size": 152064, "tie_word_embeddings": False},
        8_030_348_832,
    ),
    "lmms-lab/llava-onevision-qwen2-0.5b-ov": (
        "llava",
        "LlavaQwenForCausalLM",
        {**LLAVA_OV, **HALF, "vocab_size": 151936, "tie_word_embeddings": True},
        893_618_208,
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_llava_of_its_own_code_has_the_elements_of_its_files(name: str) -> None:
    """Totals as llmfit 1.1.17 lists them."""
    model_type, class_name, more, total = OTHERS[name]
    assert weighbridge.model({"model_type": model_type, "architectures": [class_name], **LLAVA, **more}).count().unique == total


def split(cls: str) -> dict[str, object]:
    fine = {"model_name": "sam_b_downsample", "image_size": 1024, "output_dim": 1024}
    coarse = {"model_name": "siglip_large_patch16_384", "image_size": 384, "output_dim": 1024, "select_layer": -1}
    return {"cls": cls, "params": {"concat_type": "tuple", "high_res_cfg": fine, "low_res_cfg": coarse}}


def test_deepseek_vl_has_the_elements_of_its_files() -> None:
    """1.3B sees through SigLIP alone, 7B through Segment Anything too; totals as llmfit 1.1.17 lists them."""
    small = {key: JANUS[key] for key in ("model_type", "vision_config", "aligner_config", "language_config")}
    joint = {"depth": 2, "input_dim": 1024, "n_embed": 4096, "projector_type": "low_high_hybrid_split_mlp_gelu"}
    large = {
        "model_type": "multi_modality",
        "vision_config": split("HybridVisionTower"),
        "aligner_config": {"cls": "MlpProjector", "params": joint},
        "language_config": {"num_hidden_layers": 30, "vocab_size": 102400},
    }
    assert [weighbridge.model(raw).count().unique for raw in (small, large)] == [1_975_235_584, 7_343_990_017]


@pytest.mark.parametrize(
    ("more", "stored"),
    [
        (
            {
                "num_hidden_layers": 32,
                "hidden_size": 4096,
                "intermediate_size": 9216,
                "moe_intermediate_size": 1024,
                "num_attention_heads": 32,
            },
            102_889_705_216,
        ),
        (
            {
                "num_hidden_layers": 80,
                "hidden_size": 8192,
                "intermediate_size": 18432,
                "moe_intermediate_size": 2048,
                "num_attention_heads": 64,
                "num_key_value_heads": 8,
                "first_k_dense_replace": 4,
            },
            999_705_328_640,
        ),
    ],
    ids=["Ling-flash-2.0", "Ling-1T"],
)
def test_larger_lings_have_the_elements_of_their_files(more: dict[str, object], stored: int) -> None:
    """Totals as llmfit 1.1.17 lists them, the corrections of scores among them."""
    assert weighbridge.model({**LING_MINI, **more}).count().stored == stored


def test_llava_s_own_code_has_the_library_s_tensors() -> None:
    """LLaVA 1.5 7B, whose conversion to the library has 64 words more; its table and its head."""
    found = weighbridge.model({"model_type": "llava", "architectures": ["LlavaLlamaForCausalLM"], **LLAVA})
    library = weighbridge.model("llava-1.5-7b-hf", overrides={"text_config.vocab_size": 32000})
    assert found.count().unique == library.count().unique == 7_062_902_784
    assert found.flops(seq=600, images=1).forward_matmul == library.flops(seq=600, images=1).forward_matmul
    assert {"model.mm_projector.2.weight", "model.vision_tower.vision_tower.vision_model.post_layernorm.bias"} <= {
        row.name for row in found.tensors()
    }


@pytest.mark.parametrize(
    ("changed", "key"),
    [
        ({"mm_vision_tower": "someone/another-tower"}, "mm_vision_tower"),
        ({"mm_projector_type": "mlp²x_gelu"}, "mm_projector_type"),
        ({"mm_resampler_type": "qformer"}, "mm_resampler_type"),
        ({"s2": True}, "s2"),
    ],
)
def test_another_llava_is_refused(changed: dict[str, object], key: str) -> None:
    with pytest.raises(ConfigError) as refused:
        weighbridge.model({"model_type": "llava_llama", **LLAVA, **changed})
    assert refused.value.key == key


def test_minicpm_o_without_what_speaks_or_hears() -> None:
    """What speaks in 2.6 is ChatTTS, in 4.5 another; 8.67B in all is what the authors' page says of 2.6."""
    text = {"hidden_size": 3584, "intermediate_size": 18944, "num_attention_heads": 28, "num_hidden_layers": 28, "num_key_value_heads": 4}
    hears = {"d_model": 1024, "encoder_layers": 24, "encoder_attention_heads": 16, "encoder_ffn_dim": 4096, "num_mel_bins": 80}
    raw = {"model_type": "minicpmo", **text, "vocab_size": 151700, "tie_word_embeddings": False, "drop_vision_last_layer": False}
    raw |= {"audio_config": hears, "tts_config": {"llm_dim": 3584}}
    whole = weighbridge.model(raw)
    assert whole.count().unique == 8_674_997_028
    alone = weighbridge.model({**raw, "init_audio": False, "init_tts": False})
    assert alone.count().unique == weighbridge.model("minicpm-v-2_6", overrides={"text_config.vocab_size": 151700}).count().unique
    with pytest.raises(ConfigError, match="version 1 is not described"):
        weighbridge.model({"model_type": "minicpmo", "version": "1"})


@pytest.mark.parametrize(
    "source", ["minicpm-v-2_6", {"model_type": "dots_ocr", "hidden_size": 1536}, {"model_type": "llava_llama", **LLAVA}]
)
def test_a_size_of_the_text_is_set_inside_its_config(source: str | dict[str, object]) -> None:
    """Beside it, it would change nothing without a word."""
    before = weighbridge.model(source).count().unique
    after = weighbridge.model(source, overrides={"text_config.vocab_size": 1000}).count().unique
    assert isinstance(before, int)
    assert isinstance(after, int)
    assert after < before
    with pytest.raises(ConfigError, match="no such field"):
        weighbridge.model(source, overrides={"vocab_size": 1000})


def test_ovis_has_the_elements_of_its_files() -> None:
    """Totals as llmfit 1.1.17 lists them; the files of Ovis2 1B hold the words twice, their conversion to the library once (1,131,283,318)."""
    totals = {
        "ovis2-1b": 1_131_283_318,
        "ovis2-8b": 8_935_282_678,
        "ovis1.6-llama3.2-3b": 4_144_399_926,
        "ovis1.6-gemma2-9b": 10_206_910_518,
        "ovis2.5-2b": 2_570_429_672,
        "ovis2.5-9b": 9_174_807_784,
        "ovis2.6-30b-a3b": 31_381_977_320,
    }
    assert {name: weighbridge.model(name).count().unique for name in totals} == totals
    assert "visual_tokenizer.backbone.trunk.blocks.0.attn.qkv.weight" in {row.name for row in weighbridge.model("ovis2-1b").tensors()}
    for name in ("ovis2-1b", "ovis2.5-2b"):
        with pytest.raises(UsageError, match="cannot be worked out"):
            weighbridge.model(name).flops(seq=16, images=1)


@pytest.mark.parametrize(
    ("config", "key"),
    [
        ({"model_type": "ovis2_5", "vit_config": {"num_patches": 256}}, "vit_config.num_patches"),
        ({"model_type": "ovis", "visual_tokenizer_config": {"hd_booster": "s2"}}, "visual_tokenizer_config.hd_booster"),
        ({"model_type": "ovis", "visual_tokenizer_config": {"tokenize_function": "other"}}, "visual_tokenizer_config.tokenize_function"),
    ],
)
def test_another_ovis_is_refused(config: dict[str, object], key: str) -> None:
    with pytest.raises(ConfigError) as refused:
        weighbridge.model(config)
    assert refused.value.key == key


@pytest.mark.parametrize(
    ("name", "total", "buffers"),
    [
        ("GSAI-ML/LLaDA-8B-Base", 8_015_581_184, 0),
        ("Dream-org/Dream-Coder-v0-Instruct-7B", 7_615_616_512, 0),
        ("nvidia/llama-nemotron-embed-1b-v2", 1_235_814_400, 0),
        ("nvidia/llama-embed-nemotron-8b", 7_504_924_672, 0),
        ("perplexity-ai/pplx-embed-v1-0.6b", 596_049_920, 0),
        ("perplexity-ai/pplx-embed-v1-4b", 4_022_468_096, 0),
        ("inclusionAI/LLaDA2.1-mini", 16_255_643_392, 256 * 19),
        ("inclusionAI/LLaDA2.0-flash", 102_889_705_216, 256 * 31),
    ],
)
def test_a_model_that_reads_both_ways_keeps_no_cache(name: str, total: int, buffers: int) -> None:
    """Totals of the files as llmfit 1.1.17 lists them; what fills in masked words, or embeds, sees what comes behind as well."""
    found = weighbridge.model(name)
    counts = found.count()
    assert (counts.unique + counts.buffers, counts.buffers) == (total, buffers)
    assert found.cache().bytes == 0


LLADA = {"model_type": "llada", "d_model": 448, "n_layers": 6, "n_heads": 7, "n_kv_heads": 7, "mlp_hidden_size": 768, "vocab_size": 126_464}


def test_a_small_llada_has_its_published_number() -> None:
    """124,327,616 is what num_parameters() gave for a LLaDA of these sizes, in the log of its training."""
    assert weighbridge.model(LLADA).count().unique == 124_327_616
    assert weighbridge.model({**LLADA, "weight_tying": True}).count().unique == 124_327_616 - 126_464 * 448


@pytest.mark.parametrize("key", ["rope", "alibi", "block_type", "attention_layer_norm"])
def test_another_llada_is_refused(key: str) -> None:
    value = {"rope": False, "block_type": "sequential"}.get(key, True)
    with pytest.raises(ConfigError) as refused:
        weighbridge.model({**LLADA, key: value})
    assert refused.value.key == key


@pytest.mark.parametrize("page", ["docs/other-libraries.md", "docs/zh/other-libraries.md"])
def test_the_page_says_what_each_type_is_held_to(page: str) -> None:
    rows = (Path(__file__).parents[3] / page).read_text("utf-8").split("`model_type` |\n|---|---|\n")[1].split("\n\n")[0]
    listed = re.findall(r"`([\w-]+)`", rows)
    assert sorted(listed) == sorted(name for name, module in MODULES.items() if module.startswith("remote."))


def test_got_has_the_elements_of_its_file() -> None:
    """716,033,280 as llmfit 1.1.17 lists them, the words twice; the library's own GOT-OCR has as many parameters."""
    counts = weighbridge.model("stepfun-ai/GOT-OCR2_0").count()
    assert (counts.duplicated, counts.unique) == (716_033_280, 560_528_640)
    assert weighbridge.model({"model_type": "got_ocr2", **GOT}).count().unique == counts.unique
    with pytest.raises(UsageError, match="how many views"):
        weighbridge.model("stepfun-ai/GOT-OCR2_0").flops(seq=16, images=1)


GOT = {
    "text_config": {
        "model_type": "qwen2",
        "hidden_size": 1024,
        "intermediate_size": 2816,
        "num_hidden_layers": 24,
        "num_attention_heads": 16,
        "num_key_value_heads": 16,
        "vocab_size": 151860,
        "tie_word_embeddings": True,
    }
}
