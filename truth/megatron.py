"""Megatron-LM's GPTModel on random arguments, written down: ``PYTHONPATH=. python -m truth.megatron`` needs torch and megatron-core 0.16.1.

The class is built on the CPU, in one process that is its own group, with the local layers that need no other package.
"""

from __future__ import annotations

import json
import random
import warnings
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

RECORD = Path(__file__).parent.parent / "tests" / "truth" / "packages" / "megatron.json"


def start() -> None:
    """Make this process the only one of its group, as the class wants it."""
    torch = import_module("torch")
    torch.cuda.current_device = lambda: "cpu"  # where the class puts the router's buffers
    folder = TemporaryDirectory()
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder.name}/group", rank=0, world_size=1)
    import_module("megatron.core.parallel_state").initialize_model_parallel()


def live(raw: dict[str, Any]) -> Any:
    """Build GPTModel as ``pretrain_gpt.py`` does from these arguments."""
    specs = import_module("megatron.core.models.gpt.gpt_layer_specs")
    config_class = import_module("megatron.core.transformer.transformer_config").TransformerConfig
    same = "num_layers hidden_size num_attention_heads ffn_hidden_size kv_channels add_qkv_bias normalization qk_layernorm".split()
    experts = "moe_router_topk moe_ffn_hidden_size moe_shared_expert_intermediate_size moe_router_enable_expert_bias moe_layer_freq".split()
    given = {key: raw[key] for key in (*same, *experts) if raw.get(key) is not None}
    given |= {"add_bias_linear": not raw.get("disable_bias_linear"), "gated_linear_unit": bool(raw.get("swiglu"))}
    if raw.get("group_query_attention"):
        given["num_query_groups"] = raw["num_query_groups"]
    if raw.get("num_experts"):
        given |= {"num_moe_experts": raw["num_experts"], "moe_router_score_function": "sigmoid"}
    config = config_class(use_cpu_initialization=True, **given)
    if raw.get("num_experts"):
        spec = specs.get_gpt_decoder_block_spec(config, use_transformer_engine=False, normalization=raw.get("normalization"))
    else:
        spec = specs.get_gpt_layer_local_spec(qk_layernorm=bool(raw.get("qk_layernorm")), normalization=raw.get("normalization"))
    return import_module("megatron.core.models.gpt").GPTModel(
        config,
        spec,
        raw["padded_vocab_size"],
        raw["max_position_embeddings"],
        position_embedding_type=raw.get("position_embedding_type", "learned_absolute"),
        share_embeddings_and_output_weights=not raw.get("untie_embeddings_and_output_weights"),
    )


def draw(rng: random.Random) -> dict[str, Any]:
    """Draw arguments that the class takes, every switch among them."""
    heads = rng.choice((2, 4, 6))
    raw: dict[str, Any] = {"num_layers": rng.randint(1, 4), "hidden_size": heads * rng.choice((4, 8)), "num_attention_heads": heads}
    raw |= {"padded_vocab_size": rng.randint(20, 90), "max_position_embeddings": rng.randint(8, 40), "ffn_hidden_size": rng.randint(8, 40)}
    raw |= {
        key: rng.random() < 0.5
        for key in ("swiglu", "disable_bias_linear", "add_qkv_bias", "untie_embeddings_and_output_weights", "qk_layernorm")
    }
    raw |= {
        "normalization": rng.choice(("LayerNorm", "RMSNorm")),
        "position_embedding_type": rng.choice(("learned_absolute", "rope", "none")),
    }
    if rng.random() < 0.5:
        raw |= {"group_query_attention": True, "num_query_groups": 2}
    if rng.random() < 0.3:
        raw["kv_channels"] = rng.choice((4, 10))
    if rng.random() < 0.5:
        raw |= {
            "num_experts": rng.randint(2, 5),
            "moe_router_topk": rng.randint(1, 2),
            "moe_ffn_hidden_size": rng.choice((None, rng.randint(8, 20))),
        }
        raw |= {"moe_shared_expert_intermediate_size": rng.choice((None, 12)), "moe_router_enable_expert_bias": rng.random() < 0.5}
        raw["disable_bias_linear"] |= raw["moe_shared_expert_intermediate_size"] is not None
        raw["moe_layer_freq"] = rng.choice((1, 2, [rng.randint(0, 1) for _ in range(raw["num_layers"])]))
    return raw


def record(count: int = 60, seed: int = 20261122) -> None:
    """Write the names and shapes of the class's parameters for *count* random sets of arguments."""
    warnings.simplefilter("ignore")
    start()
    rng, cases = random.Random(seed), []
    for _ in range(count):
        raw = draw(rng)
        cases.append({"config": raw, "tensors": {name: list(tensor.shape) for name, tensor in live(raw).named_parameters()}})
    RECORD.parent.mkdir(exist_ok=True)
    RECORD.write_text(json.dumps({"package": "megatron-core 0.16.1", "seed": seed, "cases": cases}) + "\n")


if __name__ == "__main__":
    record()
