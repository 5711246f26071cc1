"""What llama.cpp's loader asks of a file, architecture by architecture: metadata, and every tensor's name and shape.

Source: ggml-org/llama.cpp, src/models/ (``load_arch_tensors``; sizes stand there fastest first, here slowest first), conversion/ (keys).
Written from that, not from the blueprints: 96 tokens, width 16, MLP of 24, 4 heads of 4, 2 key heads, in small layers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

Shape = tuple[int, ...]
V, H, F, KV = 96, 16, 24, 8
KEYS: dict[str, object] = {
    "embedding_length": H,
    "feed_forward_length": F,
    "block_count": 2,
    "context_length": 64,
    "attention.head_count": 4,
    "attention.head_count_kv": 2,
}


class Sample(NamedTuple):
    """A file: the keys behind its architecture's name, its tensors, and those that the reference's class has beside them, or has not."""

    keys: Mapping[str, object]
    tensors: Mapping[str, Shape]
    class_name: str
    left_out: int = 0
    added: int = 0


def weights(**shapes: Shape) -> dict[str, Shape]:
    """Return tensors under their names with ``.weight`` behind; a name that begins with ``b_`` has a bias, as wide as its rows, too."""
    found = {}
    for name, shape in shapes.items():
        found[f"{name.removeprefix('b_')}.weight"] = shape
        if name.startswith("b_"):
            found[f"{name.removeprefix('b_')}.bias"] = shape[:1]
    return found


def layers(count: int, **shapes: Shape) -> dict[str, Shape]:
    """Return the same tensors in several layers."""
    return {f"blk.{number}.{name}": shape for number in range(count) for name, shape in weights(**shapes).items()}


OUTSIDE = weights(token_embd=(V, H), output_norm=(H,), output=(V, H))
SPLIT: dict[str, Shape] = {"attn_q": (H, H), "attn_k": (KV, H), "attn_v": (KV, H), "attn_output": (H, H)}
GATED: dict[str, Shape] = {"ffn_gate": (F, H), "ffn_up": (F, H), "ffn_down": (H, F)}
NORMS: dict[str, Shape] = {"attn_norm": (H,), "ffn_norm": (H,)}
QK: dict[str, Shape] = {"attn_q_norm": (6,), "attn_k_norm": (6,)}


def experts(count: int, width: int, ending: str = "exps") -> dict[str, Shape]:
    """Return the three arrays of a layer's experts."""
    return {f"ffn_gate_{ending}": (count, width, H), f"ffn_up_{ending}": (count, width, H), f"ffn_down_{ending}": (count, H, width)}


DECI_KEYS = {
    **KEYS,
    "embedding_length": 512,
    "block_count": 4,
    "attention.head_count": (4, 4, 0, 0),
    "attention.head_count_kv": (2, 0, 0, 0),
    "feed_forward_length": (1024, 256, 512, 0),
}
DECI_MLP = {
    f"blk.{layer}.{name}.weight": shape
    for layer, wide in enumerate((1024, 256, 512))
    for name, shape in (("ffn_norm", (512,)), ("ffn_gate", (wide, 512)), ("ffn_up", (wide, 512)), ("ffn_down", (512, wide)))
}
DECI: dict[str, Shape] = {
    **weights(token_embd=(V, 512), output_norm=(512,), output=(V, 512)),
    "rope_freqs.weight": (64,),
    **layers(1, attn_norm=(512,), attn_q=(512, 512), attn_k=(256, 512), attn_v=(256, 512), attn_output=(512, 512)),
    "blk.1.attn_norm.weight": (512,),
    "blk.1.attn_output.weight": (512, 512),
    **DECI_MLP,
}
STEP_KEYS = {
    **KEYS,
    "block_count": 4,
    "attention.key_length": 6,
    "attention.head_count": (4, 8, 4, 8),
    "attention.head_count_kv": (2, 2, 2, 2),
    "attention.sliding_window_pattern": (False, True, False, True),
    "expert_count": 4,
    "expert_used_count": 2,
    "expert_feed_forward_length": 10,
    "expert_shared_feed_forward_length": 12,
    "leading_dense_block_count": 1,
}
STEP = {
    **OUTSIDE,
    **{
        f"blk.{layer}.{name}": shape
        for layer, heads in enumerate((4, 8, 4, 8))
        for name, shape in weights(
            **NORMS, **QK, attn_q=(6 * heads, H), attn_k=(12, H), attn_v=(12, H), attn_output=(H, 6 * heads), attn_gate=(heads, H)
        ).items()
    },
    **layers(1, **GATED),
    **{
        f"blk.{layer}.{name}": shape
        for layer in (1, 2, 3)
        for name, shape in weights(
            ffn_gate_inp=(4, H), **experts(4, 10), ffn_gate_shexp=(12, H), ffn_up_shexp=(12, H), ffn_down_shexp=(H, 12)
        ).items()
    },
    **{f"blk.{layer}.exp_probs_b.bias": (4,) for layer in (1, 2, 3)},
}
RWKV_KEYS = {
    **{key: value for key, value in KEYS.items() if not key.startswith("attention.")},
    "attention.head_count": 0,
    "wkv.head_size": 4,
}
RWKV_OUTSIDE = weights(token_embd=(V, H), b_token_embd_norm=(H,), b_output_norm=(H,), output=(V, H))
RWKV_LAYER: dict[str, Shape] = {
    "b_attn_norm": (H,),
    "b_attn_norm_2": (H,),
    "time_mix_key": (H, H),
    "time_mix_value": (H, H),
    "time_mix_receptance": (H, H),
    "b_time_mix_ln": (H,),
    "time_mix_output": (H, H),
    "channel_mix_lerp_k": (1, 1, H),
    "channel_mix_key": (F, H),
    "channel_mix_value": (H, F),
}
BERT_OUTSIDE = {**weights(token_embd=(V, H), b_token_embd_norm=(H,)), "token_types.weight": (2, H)}
BERT_NORMS: dict[str, Shape] = {"b_attn_output_norm": (H,), "b_layer_output_norm": (H,)}
BERT_LAYER: dict[str, Shape] = {"b_attn_q": (H, H), "b_attn_k": (H, H), "b_attn_v": (H, H), "b_attn_output": (H, H), **BERT_NORMS}
SAMPLES: dict[str, Sample] = {
    "dbrx": Sample(
        {**KEYS, "expert_count": 4, "expert_used_count": 2, "rope.freq_base": 5e5, "attention.clamp_kqv": 8.0},
        {
            **OUTSIDE,
            **layers(
                2, attn_norm=(H,), attn_qkv=(H + 2 * KV, H), attn_output=(H, H), attn_output_norm=(H,), ffn_gate_inp=(4, H), **experts(4, F)
            ),
        },
        "DbrxForCausalLM",
    ),
    "chameleon": Sample(
        KEYS,
        {
            **OUTSIDE,
            **layers(2, **NORMS, **SPLIT, **GATED, attn_q_norm=(4, 4), attn_k_norm=(2, 4)),
            **{f"blk.{layer}.attn_{part}_norm.bias": (heads, 4) for layer in (0, 1) for part, heads in (("q", 4), ("k", 2))},
        },
        "ChameleonForConditionalGeneration",
        left_out=1,
    ),
    "deci": Sample(DECI_KEYS, DECI, "DeciLMForCausalLM"),
    "step35": Sample(STEP_KEYS, STEP, "Step3p5ForCausalLM"),
    "codeshell": Sample(
        KEYS,
        {
            **weights(token_embd=(V, H), b_output_norm=(H,), output=(V, H)),
            **layers(
                2, b_attn_norm=(H,), b_attn_qkv=(H + 2 * KV, H), b_attn_output=(H, H), b_ffn_norm=(H,), b_ffn_up=(F, H), b_ffn_down=(H, F)
            ),
        },
        "Starcoder2ForCausalLM",
    ),
    "neo-bert": Sample(
        {key: value for key, value in KEYS.items() if not key.endswith("_kv")},
        {
            **weights(token_embd=(V, H)),
            "enc.output_norm.weight": (H,),
            **layers(2, **NORMS, attn_qkv=(3 * H, H), attn_output=(H, H), ffn_up=(2 * F, H), ffn_down=(H, F)),
        },
        "EuroBertModel",
    ),
    "plamo": Sample(KEYS, {**OUTSIDE, **layers(2, attn_norm=(H,), **SPLIT, **GATED)}, "CohereForCausalLM"),
    "plamo3": Sample(
        {**KEYS, "attention.key_length": 6},
        {
            **weights(token_embd=(V, H), output_norm=(H,)),
            **layers(
                2,
                **NORMS,
                **QK,
                attn_qkv=(48, H),
                attn_output=(H, 24),
                ffn_up=(2 * F, H),
                ffn_down=(H, F),
                post_attention_norm=(H,),
                post_ffw_norm=(H,),
            ),
        },
        "Gemma3ForCausalLM",
    ),
    "openelm": Sample(
        {
            "embedding_length": H,
            "block_count": 2,
            "context_length": 64,
            "attention.key_length": 6,
            "attention.head_count": (4, 6),
            "attention.head_count_kv": (2, 3),
            "feed_forward_length": (12, 40),
        },
        {
            **weights(token_embd=(V, H), output_norm=(H,)),
            **layers(2, **NORMS, **QK),
            **layers(1, attn_qkv=(48, H), attn_output=(H, 24), ffn_gate=(12, H), ffn_up=(12, H), ffn_down=(H, 12)),
            **{
                f"blk.1.{name}": shape
                for name, shape in weights(
                    attn_qkv=(72, H), attn_output=(H, 36), ffn_gate=(40, H), ffn_up=(40, H), ffn_down=(H, 40)
                ).items()
            },
        },
        "OpenELMForCausalLM",
    ),
    "rwkv6": Sample(
        {**RWKV_KEYS, "time_mix_extra_dim": 3, "time_decay_extra_dim": 5},
        {
            **RWKV_OUTSIDE,
            **layers(
                2,
                **RWKV_LAYER,
                time_mix_w1=(15, H),
                time_mix_w2=(5, H, 3),
                time_mix_lerp_x=(1, 1, H),
                time_mix_lerp_fused=(5, 1, 1, H),
                time_mix_first=(4, 4),
                time_mix_decay=(H,),
                time_mix_decay_w1=(5, H),
                time_mix_decay_w2=(H, 5),
                time_mix_gate=(H, H),
                channel_mix_lerp_r=(1, 1, H),
                channel_mix_receptance=(H, H),
            ),
        },
        "Rwkv6ForCausalLM",
    ),
    "rwkv7": Sample(
        {
            **RWKV_KEYS,
            "attention.decay_lora_rank": 3,
            "attention.iclr_lora_rank": 5,
            "attention.value_residual_mix_lora_rank": 7,
            "attention.gate_lora_rank": 9,
        },
        {
            **RWKV_OUTSIDE,
            **layers(
                2,
                **RWKV_LAYER,
                time_mix_w0=(H,),
                time_mix_w1=(3, H),
                time_mix_w2=(H, 3),
                time_mix_a0=(H,),
                time_mix_a1=(5, H),
                time_mix_a2=(H, 5),
                time_mix_g1=(9, H),
                time_mix_g2=(H, 9),
                time_mix_lerp_fused=(6, 1, 1, H),
                time_mix_k_k=(H,),
                time_mix_k_a=(H,),
                time_mix_r_k=(H,),
            ),
            **layers(1, time_mix_v0=(H,), time_mix_v1=(5, H), time_mix_v2=(H, 5)),
            **{f"blk.1.time_mix_v{number}.weight": shape for number, shape in enumerate(((H,), (7, H), (H, 7)))},
        },
        "RWKV7ForCausalLM",
        added=H + 2 * 5 * H,
    ),
    "plamo2": Sample(
        {
            **KEYS,
            "block_count": 4,
            "attention.head_count": (0, 4, 0, 4),
            "attention.head_count_kv": (0, 2, 0, 2),
            "attention.key_length": 6,
            "ssm.state_size": 5,
            "ssm.conv_kernel": 3,
            "ssm.time_step_rank": 3,
            "ssm.inner_size": 18,
            "ssm.group_count": 0,
        },
        {
            **OUTSIDE,
            **layers(4, **NORMS, post_attention_norm=(H,), post_ffw_norm=(H,), ffn_up=(2 * F, H), ffn_down=(H, F)),
            **{
                f"blk.{layer}.{name}": shape
                for layer in (1, 3)
                for name, shape in weights(attn_qkv=(48, H), attn_output=(H, 24), attn_q_norm=(4, 6), attn_k_norm=(2, 6)).items()
            },
            **{
                f"blk.{layer}.{name}": shape
                for layer in (0, 2)
                for name, shape in {
                    **weights(
                        ssm_in=(36, H),
                        ssm_conv1d=(18, 3),
                        ssm_x=(74, 18),
                        ssm_dt=(3, 64),
                        ssm_out=(H, 18),
                        ssm_dt_norm=(64,),
                        ssm_b_norm=(5,),
                        ssm_c_norm=(5,),
                    ),
                    "ssm_dt.bias": (3,),
                    "ssm_a": (3, 1),
                    "ssm_d": (3, 1),
                }.items()
            },
        },
        "Plamo2ForCausalLM",
    ),
    "jina-bert-v2": Sample(
        KEYS, {**BERT_OUTSIDE, **layers(2, **BERT_LAYER, ffn_up=(F, H), ffn_gate=(F, H), b_ffn_down=(H, F))}, "JinaBertModel"
    ),
    "jina-bert-v2 with norms on queries and keys": Sample(
        KEYS,
        {
            **BERT_OUTSIDE,
            **layers(2, **BERT_LAYER, ffn_up=(2 * F, H), b_ffn_down=(H, F), b_attn_q_norm=(H,), b_attn_k_norm=(H,), b_attn_norm_2=(H,)),
        },
        "JinaBertModel",
    ),
    "nomic-bert-moe": Sample(
        {**KEYS, "block_count": 4, "expert_count": 4, "expert_used_count": 2, "moe_every_n_layers": 2},
        {
            **BERT_OUTSIDE,
            **layers(4, b_attn_qkv=(3 * H, H), b_attn_output=(H, H), **BERT_NORMS),
            **{f"blk.{layer}.{name}": shape for layer in (0, 2) for name, shape in weights(b_ffn_up=(F, H), b_ffn_down=(H, F)).items()},
            **{
                f"blk.{layer}.{name}": shape
                for layer in (1, 3)
                for name, shape in weights(ffn_gate_inp=(4, H), ffn_up_exps=(4, F, H), ffn_down_exps=(4, H, F)).items()
            },
        },
        "NomicBertModel",
        left_out=1,
    ),
    "arctic": Sample(
        {**KEYS, "expert_count": 4, "expert_used_count": 2},
        {
            **OUTSIDE,
            **layers(
                2,
                **NORMS,
                **SPLIT,
                ffn_gate=(H, H),
                ffn_up=(H, H),
                ffn_down=(H, H),
                ffn_norm_exps=(H,),
                ffn_gate_inp=(4, H),
                **experts(4, F),
            ),
        },
        "ArcticForCausalLM",
    ),
    "grok": Sample(
        {**KEYS, "expert_count": 4, "expert_used_count": 2, "expert_feed_forward_length": 10, "attention.key_length": 4},
        {
            **OUTSIDE,
            **layers(2, **NORMS, **SPLIT, **GATED, attn_output_norm=(H,), post_ffw_norm=(H,), ffn_gate_inp=(4, H), **experts(4, 10)),
        },
        "Grok1ForCausalLM",
    ),
    "grovemoe": Sample(
        {
            **KEYS,
            "attention.key_length": 6,
            "expert_count": 4,
            "expert_used_count": 2,
            "expert_feed_forward_length": 10,
            "expert_chunk_feed_forward_length": 6,
            "experts_per_group": 2,
        },
        {
            **OUTSIDE,
            **layers(
                2,
                **NORMS,
                **QK,
                attn_q=(24, H),
                attn_k=(12, H),
                attn_v=(12, H),
                attn_output=(H, 24),
                ffn_gate_inp=(4, H),
                **experts(4, 10),
                **experts(2, 6, "chexps"),
            ),
        },
        "GroveMoeForCausalLM",
    ),
    "jais": Sample(
        {key: value for key, value in KEYS.items() if not key.endswith("_kv")},
        {
            **weights(token_embd=(V, H), b_output_norm=(H,), output=(V, H)),
            **layers(
                2,
                b_attn_norm=(H,),
                b_ffn_norm=(H,),
                b_attn_qkv=(3 * H, H),
                b_attn_output=(H, H),
                b_ffn_gate=(F, H),
                b_ffn_up=(F, H),
                b_ffn_down=(H, F),
            ),
        },
        "JAISLMHeadModel",
    ),
    "plm": Sample(
        {**KEYS, "attention.kv_lora_rank": 9, "attention.key_length": 7, "attention.value_length": 3, "rope.dimension_count": 2},
        {
            **weights(token_embd=(V, H), output_norm=(H,)),
            **layers(
                2,
                **NORMS,
                attn_q=(28, H),
                attn_kv_a_mqa=(11, H),
                attn_kv_a_norm=(9,),
                attn_kv_b=(32, 9),
                attn_output=(H, 12),
                ffn_up=(F, H),
                ffn_down=(H, F),
            ),
        },
        "PLMForCausalLM",
    ),
}
"""By ``general.architecture``."""
