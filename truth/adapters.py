"""Adapters: our four figures held to the PEFT library's, on random small bases and random adapter configs.

    python -m truth adapters [METHOD ...] --n 200 --seed 7

needs peft 0.21 beside torch and transformers. A case that the library refuses says nothing about a count; a case that
it takes and we refuse is counted apart and its reason shown.
"""

from __future__ import annotations

import json
import random
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from truth import live
from truth.draw import draw
from weighbridge import model
from weighbridge.core.errors import WeighbridgeError

BASES = (
    ("bert", "BertModel"), ("bert", "BertForMaskedLM"), ("bert", "BertForSequenceClassification"), ("bert", "BertForQuestionAnswering"),
    ("bert", "BertForTokenClassification"), ("roberta", "RobertaForSequenceClassification"), ("gpt2", "GPT2LMHeadModel"),
    ("gpt2", "GPT2ForSequenceClassification"), ("llama", "LlamaForCausalLM"), ("llama", "LlamaForSequenceClassification"),
    ("qwen2", "Qwen2ForCausalLM"), ("qwen3", "Qwen3ForCausalLM"), ("t5", "T5ForConditionalGeneration"), ("t5", "T5EncoderModel"),
    ("bart", "BartForConditionalGeneration"), ("mixtral", "MixtralForCausalLM"), ("qwen3_moe", "Qwen3MoeForCausalLM"),
    ("qwen2_moe", "Qwen2MoeForCausalLM"), ("gpt_oss", "GptOssForCausalLM"), ("deepseek_v3", "DeepseekV3ForCausalLM"), ("vit", "ViTForImageClassification"),
    ("whisper", "WhisperForConditionalGeneration"), ("opt", "OPTForCausalLM"), ("phi", "PhiForCausalLM"), ("phi3", "Phi3ForCausalLM"),
    ("falcon", "FalconForCausalLM"), ("gemma", "GemmaForCausalLM"), ("gemma2", "Gemma2ForCausalLM"), ("gemma3_text", "Gemma3ForCausalLM"),
    ("bloom", "BloomForCausalLM"), ("gpt_neox", "GPTNeoXForCausalLM"), ("gptj", "GPTJForCausalLM"), ("mistral", "MistralForCausalLM"),
    ("deberta-v2", "DebertaV2ForSequenceClassification"), ("clip", "CLIPModel"), ("convnext", "ConvNextForImageClassification"),
    ("distilbert", "DistilBertForSequenceClassification"), ("electra", "ElectraForSequenceClassification"), ("albert", "AlbertForMaskedLM"),
)  # fmt: skip


class Case(NamedTuple):
    """A base and an adapter, both drawn."""

    model_type: str
    class_name: str
    config: dict[str, Any]
    adapter: dict[str, Any]


Figures = tuple[int, int, int, int]
Draw = Callable[[random.Random, dict[str, str], dict[str, Any]], dict[str, Any]]


def theirs(case: Case) -> Figures:
    """Return trainable, total, saved elements and saved bytes as the library has them.

    Raises:
        RefusedError: It refuses the base or the adapter.
    """
    peft, torch = import_module("peft"), import_module("torch")
    torch.manual_seed(0)
    base = live.build(case.model_type, case.class_name, case.config, device="cpu")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with TemporaryDirectory() as folder:
                if case.adapter["peft_type"] == "XLORA":  # which is for training without a cache alone
                    base.config.use_cache = False
                adapter = _laid_out(case, folder) if case.adapter["peft_type"] == "XLORA" else case.adapter
                wrapped = peft.get_peft_model(base, peft.PeftConfig.from_peft_type(**json.loads(json.dumps(adapter))))
            state = peft.get_peft_model_state_dict(wrapped)
    except Exception as error:  # whatever a config may provoke in there
        raise live.RefusedError(f"{type(error).__name__}: {str(error)[:200]}") from error
    trainable, total = wrapped.get_nb_trainable_parameters()
    values = state.values()
    return trainable, total, sum(value.numel() for value in values), sum(value.numel() * value.element_size() for value in values)


def _laid_out(case: Case, folder: str) -> dict[str, Any]:
    """Save the adapters of a mixture, and return its config with the paths in their place."""
    peft = import_module("peft")
    paths = {}
    for name, adapter in case.adapter["adapters"].items():
        base = live.build(case.model_type, case.class_name, case.config, device="cpu")
        paths[name] = str(Path(folder, name))
        peft.get_peft_model(base, peft.LoraConfig(**{key: value for key, value in adapter.items() if key != "peft_type"})).save_pretrained(
            paths[name]
        )
    return {**case.adapter, "adapters": paths}


def ours(case: Case) -> Figures:
    """Return the same four as we count them."""
    found = model({**case.config, "model_type": case.model_type}, case.class_name).adapters(case.adapter)
    return found.trainable, found.total, found.saved, found.saved_bytes


def cases(methods: list[str], number: int, seed: str) -> Iterator[Case]:
    """Draw cases, the same for the same seed."""
    for index in range(number):
        rng = random.Random(f"{seed} {index}")
        model_type, class_name = rng.choice(BASES)
        config = draw(f"{seed} {index}", model_type, rng.choice((0.2, 0.6, 1.0)))
        config = {**config, "model_type": model_type}
        names = _names(model_type, class_name, config)
        if names is None:
            continue
        method = methods[index % len(methods)]
        adapter = {"peft_type": method, **DRAWS[method](rng, names, config)}
        if method == "ADALORA":
            adapter["total_step"] = 10
        if method in ALWAYS_TASK or (method not in WITHOUT_TASK and rng.random() < 0.25):
            adapter["task_type"] = _task(class_name)
        yield Case(model_type, class_name, {key: value for key, value in config.items() if key != "model_type"}, adapter)


def _names(model_type: str, class_name: str, config: dict[str, Any]) -> dict[str, str] | None:
    """Return the names and kinds of the modules of the live class, or None if it is not built."""
    try:
        built = live.build(model_type, class_name, config)
    except live.RefusedError:
        return None
    if sum(parameter.numel() for parameter in built.parameters()) > 4_000_000:
        return None
    return {name: type(module).__name__ for name, module in built.named_modules() if name}


def _task(class_name: str) -> str:
    tasks = {"SequenceClassification": "SEQ_CLS", "TokenClassification": "TOKEN_CLS", "QuestionAnswering": "QUESTION_ANS"}
    tasks |= {"CausalLM": "CAUSAL_LM", "LMHeadModel": "CAUSAL_LM", "ConditionalGeneration": "SEQ_2_SEQ_LM"}
    return next((task for ending, task in tasks.items() if class_name.endswith(ending)), "FEATURE_EXTRACTION")


LINEAR = ("Linear", "Conv1D", "NonDynamicallyQuantizableLinear", "FalconLinear", "PhimoeTopKRouter")


def linear_names(names: dict[str, str], kinds: tuple[str, ...] = LINEAR) -> list[str]:
    """Return the last names of the linear layers."""
    return sorted({name.rpartition(".")[2] for name, kind in names.items() if kind in kinds})


def targets(rng: random.Random, names: dict[str, str], config: dict[str, Any], kinds: tuple[str, ...] = LINEAR) -> dict[str, Any]:
    """Draw what is adapted: a list, a pattern, all linear layers, or the type's own default."""
    leaves = linear_names(names, kinds) or ["query"]
    some = rng.sample(leaves, rng.randint(1, min(4, len(leaves))))
    full = sorted(name for name, kind in names.items() if kind in kinds)
    drawn: dict[str, Any] = {}
    way = rng.random()
    if way < 0.15:
        pass
    elif way < 0.35:
        drawn["target_modules"] = "all-linear"
    elif way < 0.5:
        drawn["target_modules"] = rf".*\.({'|'.join(some)})"
    elif way < 0.6 and full:
        drawn["target_modules"] = rng.sample(full, rng.randint(1, len(full)))
    else:
        drawn["target_modules"] = some
        if rng.random() < 0.3:
            drawn["layers_to_transform"] = rng.choice((0, [0], [0, 1], [1]))
            if rng.random() < 0.5:
                drawn["layers_pattern"] = rng.choice(("layers", "layer", "h", ["block", "layers", "layer", "h"]))
    return drawn


def saved_modules(rng: random.Random, names: dict[str, str]) -> dict[str, Any]:
    """Draw whole modules that are trained beside."""
    if rng.random() > 0.3:
        return {}
    known = [name for name in ("classifier", "score", "lm_head", "embed_tokens", "qa_outputs", "pooler", "cls", "wte", "shared", "final_layer_norm", "ln_f")
             if any(other == name or other.endswith(f".{name}") for other in names)]  # fmt: skip
    return {"modules_to_save": rng.sample(known, min(len(known), rng.randint(1, 2)))} if known else {}


def exclusions(rng: random.Random, names: dict[str, str]) -> dict[str, Any]:
    """Draw modules that are left out."""
    if rng.random() > 0.2:
        return {}
    leaf = rng.choice(linear_names(names) or ["query"])
    return {"exclude_modules": rng.choice(([leaf], rf".*\.0\..*{leaf}", ["lm_head"]))}


def biases(rng: random.Random, only: str = "lora_only") -> dict[str, Any]:
    """Draw which biases of the base are trained."""
    return {"bias": rng.choice(("none", "all", only))} if rng.random() < 0.4 else {}


def lora(rng: random.Random, names: dict[str, str], config: dict[str, Any]) -> dict[str, Any]:
    """Draw a LoRA of any kind."""
    drawn = {
        "r": rng.choice((1, 2, 4, 8, 16)),
        **targets(rng, names, config),
        **saved_modules(rng, names),
        **exclusions(rng, names),
        **biases(rng),
    }
    leaves = linear_names(names)
    if rng.random() < 0.3 and leaves:
        drawn["rank_pattern"] = {
            rng.choice((leaf, rf"0\..*\.{leaf}", rf"^.*\.1\..*{leaf}")): rng.choice((3, 5)) for leaf in rng.sample(leaves, 1)
        }
        drawn["alpha_pattern"] = {leaves[0]: 4}
    extra = rng.random()
    if extra < 0.25:
        drawn["use_dora"] = True
    elif extra < 0.3:
        drawn["use_rslora"] = True
    elif extra < 0.35:
        drawn["lora_bias"] = True
    elif extra < 0.38:
        drawn["init_lora_weights"] = rng.choice(("pissa", "olora", "mica", "gaussian", "orthogonal"))
    if isinstance(drawn.get("target_modules"), list) and rng.random() < 0.25:
        tables = [
            name
            for name in ("embed_tokens", "lm_head", "wte", "word_embeddings", "shared", "conv1", "projection")
            if any(other.endswith(f".{name}") or other == name for other in names)
        ]
        drawn["target_modules"] = [*drawn["target_modules"], *rng.sample(tables, min(len(tables), rng.randint(1, 2)))]
    if rng.random() < 0.15:
        drawn["ensure_weight_tying"] = True
    if rng.random() < 0.12:
        drawn["trainable_token_indices"] = rng.choice(
            ([0, 1, 5], {"embed_tokens": [1, 2]}, {"embed_tokens": [1, 2], "lm_head": [1, 2]}, {"embed_tokens": [1, 2], "lm_head": [3]})
        )
    if any(name.endswith("experts") for name in names) and rng.random() < 0.5:
        drawn["target_parameters"] = rng.sample(
            ["experts.gate_up_proj", "experts.down_proj", "gate.weight", "router.weight"], rng.randint(1, 2)
        )
    return drawn


def _plain(bias: bool = True, exclude: bool = True, kinds: tuple[str, ...] = LINEAR, layers: bool = True, **fields: Any) -> Draw:
    """Return a draw of targets, whole modules, exclusions and biases, and a value for each of *fields*."""

    def draw_config(rng: random.Random, names: dict[str, str], config: dict[str, Any]) -> dict[str, Any]:
        found = {**targets(rng, names, config, kinds), **saved_modules(rng, names)}
        if not layers:
            found.pop("layers_to_transform", None)
            found.pop("layers_pattern", None)
        if exclude:
            found |= exclusions(rng, names)
        if bias and rng.random() < 0.3:
            found["bias"] = rng.choice(("none", "all"))
        return {**found, **{key: rng.choice(values) for key, values in fields.items() if rng.random() < 0.7}}

    return draw_config


def ia3(rng: random.Random, names: dict[str, str], config: dict[str, Any]) -> dict[str, Any]:
    """Draw IA3, with its own feed-forward modules or the type's."""
    drawn = _plain(bias=False, layers=False)(rng, names, config)
    chosen = drawn.get("target_modules")
    if isinstance(chosen, list) and rng.random() < 0.8:
        drawn["feedforward_modules"] = rng.sample(chosen, rng.randint(0, len(chosen)))
    elif rng.random() < 0.5:
        drawn["feedforward_modules"] = []
    return drawn


def ln_tuning(rng: random.Random, names: dict[str, str], config: dict[str, Any]) -> dict[str, Any]:
    """Draw norms, or the type's own."""
    norms = sorted({name.rpartition(".")[2] for name, kind in names.items() if "Norm" in kind})
    drawn = {**saved_modules(rng, names)}
    if norms and rng.random() < 0.8:
        drawn["target_modules"] = rng.sample(norms, rng.randint(1, min(3, len(norms))))
    return drawn


def oft(rng: random.Random, names: dict[str, str], config: dict[str, Any]) -> dict[str, Any]:
    """Draw blocks by their size or their number."""
    drawn = _plain()(rng, names, config)
    drawn |= rng.choice(({"oft_block_size": rng.choice((2, 4, 5, 8, 32)), "r": 0}, {"r": rng.choice((1, 2, 3, 4, 7)), "oft_block_size": 0}))
    return {**drawn, "block_share": rng.random() < 0.3}


def boft(rng: random.Random, names: dict[str, str], config: dict[str, Any]) -> dict[str, Any]:
    """Draw blocks by their size or their number."""
    drawn = _plain()(rng, names, config)
    return drawn | rng.choice(
        ({"boft_block_size": rng.choice((2, 4, 8)), "boft_block_num": 0}, {"boft_block_num": rng.choice((1, 2, 4)), "boft_block_size": 0})
    )


def tokens(rng: random.Random, names: dict[str, str], config: dict[str, Any]) -> dict[str, Any]:
    """Draw rows of a table."""
    drawn: dict[str, Any] = {"token_indices": rng.sample(range(20), rng.randint(1, 6))}
    tables = [name for name, kind in names.items() if kind == "Embedding"]
    if rng.random() < 0.4 and tables:
        drawn["target_modules"] = [rng.choice(tables)]
    return drawn


def prompt(**fields: Any) -> Draw:
    """Return a draw of virtual tokens and a value for each of *fields*."""

    def draw_config(rng: random.Random, names: dict[str, str], config: dict[str, Any]) -> dict[str, Any]:
        found = {
            "num_virtual_tokens": rng.randint(1, 9),
            **{key: rng.choice(values) for key, values in fields.items() if rng.random() < 0.6},
        }
        if rng.random() < 0.2:
            found |= saved_modules(rng, names)
        return found

    return draw_config


def cpt(rng: random.Random, names: dict[str, str], config: dict[str, Any]) -> dict[str, Any]:
    """Draw a context."""
    return {"cpt_token_ids": rng.sample(range(20), rng.randint(1, 5)), "task_type": "CAUSAL_LM"}


def shadow(rng: random.Random, names: dict[str, str], config: dict[str, Any]) -> dict[str, Any]:
    """Draw a shadow of other depth and sizes, now and then over some blocks alone."""
    blocks = sorted(name for name in names if re.search(r"(layers|h)\.\d+$", name))
    drawn: dict[str, Any] = {"r": rng.choice(RANKS), **saved_modules(rng, names)}
    if blocks and rng.random() < 0.3:
        drawn["target_modules"] = rng.sample(blocks, rng.randint(1, len(blocks)))
    fields = {
        "shadow_num_hidden_layers": (1, 2, 3),
        "shadow_hidden_size": (16, 24, 48),
        "shadow_intermediate_size": (20, 32),
        "shadow_num_attention_heads": (1, 2, 4),
        "update_hidden_size": (3, 7),
        "share_embeddings": (True, False),
    }
    return {**drawn, **{key: rng.choice(values) for key, values in fields.items() if rng.random() < 0.3}}


def mixture(rng: random.Random, names: dict[str, str], config: dict[str, Any]) -> dict[str, Any]:
    """Draw some LoRAs and the classifier that mixes them."""
    leaves = [*linear_names(names), *(name for name in ("embed_tokens", "wte") if any(other.endswith(name) for other in names))]
    adapters = {}
    for index in range(rng.randint(1, 4)):
        chosen = rng.sample(leaves, rng.randint(1, min(3, len(leaves))))
        adapters[str(index) if rng.random() < 0.5 else f"adapter_{index}"] = {
            "peft_type": "LORA",
            "r": rng.choice(RANKS),
            "target_modules": chosen,
        }
    fields = {
        "xlora_depth": (1, 2, 3, 4),
        "xlora_size": (5, 8),
        "hidden_size": (12, 32),
        "layerwise_scalings": (True, False),
        "use_trainable_adapters": (True, False),
        "xlora_dropout_p": (0.0, 0.2),
    }
    return {"adapters": adapters, **{key: rng.choice(values) for key, values in fields.items() if rng.random() < 0.7}}


def adaption(rng: random.Random, names: dict[str, str], config: dict[str, Any]) -> dict[str, Any]:
    """Draw prompts in the last layers' attention."""
    return {"adapter_len": rng.randint(1, 9), "adapter_layers": rng.randint(1, 2), "task_type": "CAUSAL_LM"}


RANKS = (1, 2, 3, 4, 8)
DRAWS: dict[str, Draw] = {
    "LORA": lora,
    "ADALORA": _plain(init_r=(2, 4, 6), target_r=(2,)),
    "ADAMSS": _plain(bias=False, exclude=False, r=(2, 8, 100), num_subspaces=(1, 3, 5, 90), use_dynamic_rank=(True, False)),
    "ADAPTION_PROMPT": adaption,
    "BEFT": _plain(bias=False, exclude=False, layers=False),
    "BOFT": boft,
    "C3A": _plain(exclude=False, block_size=(2, 3, 4, 6, 12)),
    "CARTRIDGE": prompt(num_frozen_tokens=(0, 1, 2)),
    "CPT": cpt,
    "DEFT": _plain(r=RANKS, para=(True, False), decomposition_method=("qr", "relu")),
    "DELORA": _plain(r=RANKS),
    "FOURIERFT": _plain(n_frequency=(5, 20, 60)),
    "FROD": _plain(exclude=False, sparse_rate=(0.01, 0.1, 0.0), save_projection=(True, False), progressbar=(False,)),
    "GLORA": _plain(
        exclude=False,
        layers=False,
        r=RANKS,
        config_A_B=("lora", "vector", "constant", "none"),
        config_C=("lora", "vector", "none"),
        config_D_E=("vector", "constant", "none"),
    ),
    "GRALORA": _plain(exclude=False, r=(4, 8), gralora_k=(1, 2, 4), hybrid_r=(0, 2)),
    "HIRA": _plain(bias=False, r=RANKS),
    "HRA": _plain(r=RANKS, apply_GS=(True, False)),
    "IA3": ia3,
    "LILY": _plain(bias=False, r=RANKS, stride_A=(1, 2, 3), num_B=(1, 2, 3)),
    "LN_TUNING": ln_tuning,
    "LOHA": _plain(bias=False, r=RANKS, kinds=(*LINEAR, "Conv2d", "Conv1d"), use_effective_conv2d=(True, False)),
    "LOKR": _plain(
        bias=False,
        r=RANKS,
        kinds=(*LINEAR, "Conv2d", "Conv1d"),
        use_effective_conv2d=(True, False),
        decompose_both=(True, False),
        decompose_factor=(-1, 2, 4),
    ),
    "MISS": _plain(r=RANKS, mini_r=(1, 2), init_weights=(True, "bat", "mini")),
    "MULTITASK_PROMPT_TUNING": prompt(num_ranks=(1, 2), num_tasks=(1, 3)),
    "OFT": oft,
    "OSF": _plain(bias=False, exclude=False, layers=False, effective_rank=(None, 1, 3, 0.5)),
    "PEANUT": _plain(bias=False, r=RANKS, depth=(0, 1, 2)),
    "POLY": _plain(bias=False, layers=False, r=RANKS, n_tasks=(1, 3), n_skills=(2, 4), n_splits=(1, 2)),
    "PREFIX_TUNING": prompt(prefix_projection=(True, False), encoder_hidden_size=(7, 12)),
    "PROMPT_TUNING": prompt(),
    "PSOFT": _plain(bias=False, r=(1, 2, 4), psoft_orth=(True, False), psoft_mag_a=(True, False), psoft_mag_b=(True, False)),
    "PVERA": _plain(exclude=False, r=RANKS, save_projection=(True, False)),
    "P_TUNING": prompt(encoder_reparameterization_type=("MLP", "LSTM"), encoder_hidden_size=(6, 12), encoder_num_layers=(1, 2, 3)),
    "RANDLORA": _plain(exclude=False, r=RANKS, save_projection=(True, False)),
    "ROAD": _plain(bias=False, exclude=False, layers=False, variant=("road_1", "road_2", "road_4"), group_size=(2, 4)),
    "SHADOW": shadow,
    "SHIRA": _plain(bias=False, exclude=False, layers=False, r=(1, 2)),
    "SUPERTUNING": _plain(bias=False, exclude=False, layers=False, sparsity=(0.5, 0.9, 0.99), save_precomputed_indices=(True, False)),
    "TINYLORA": _plain(exclude=False, r=(1, 2), u=(4, 8), weight_tying=(0.0, 0.5, 1.0), save_projection=(True, False)),
    "TRAINABLE_TOKENS": tokens,
    "UNILORA": _plain(exclude=False, r=RANKS, theta_d_length=(16, 64), save_indices=(True, False)),
    "VBLORA": _plain(r=(1, 2), num_vectors=(8, 300), vector_length=(2, 4, 6), topk=(2, 3), save_only_topk_weights=(True, False)),
    "VERA": _plain(exclude=False, r=RANKS, save_projection=(True, False)),
    "WAVEFT": _plain(n_frequency=(5, 20, 60), proportional_parameters=(True, False)),
    "XLORA": mixture,
}
WITHOUT_TASK = frozenset(("CPT", "ADAPTION_PROMPT"))
ALWAYS_TASK = frozenset(("CARTRIDGE", "MULTITASK_PROMPT_TUNING", "PREFIX_TUNING", "PROMPT_TUNING", "P_TUNING"))


RECORD = Path(__file__).parents[1] / "tests" / "truth" / "adapters" / "cases.json"
"""Cases that the ordinary tests hold us to, without the library."""


DEFAULT_BASES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("bert", "BertForSequenceClassification", {"hidden_size": 512, "num_attention_heads": 8, "intermediate_size": 1024, "num_hidden_layers": 2, "vocab_size": 300}),
    ("llama", "LlamaForCausalLM", {"hidden_size": 256, "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 768, "num_hidden_layers": 2, "vocab_size": 300}),
)  # fmt: skip
"""Bases whose sizes every method's own defaults divide."""


def plain_cases(method: str) -> Iterator[Case]:
    """Yield adapters that say nothing but their method (and what it cannot do without), so that its defaults are held too."""
    known: dict[str, dict[str, Any]] = {
        "ADALORA": {"total_step": 10},
        "PREFIX_TUNING": {"num_virtual_tokens": 3},
        "PROMPT_TUNING": {"num_virtual_tokens": 3},
        "P_TUNING": {"num_virtual_tokens": 3},
        "MULTITASK_PROMPT_TUNING": {"num_virtual_tokens": 3},
        "CARTRIDGE": {"num_virtual_tokens": 3},
        "TRAINABLE_TOKENS": {"token_indices": [1, 2]},
        "ADAPTION_PROMPT": {"adapter_len": 4, "adapter_layers": 2},
    }
    for model_type, class_name, config in DEFAULT_BASES:
        adapter = {"peft_type": method, **known.get(method, {})}
        if method not in WITHOUT_TASK:
            adapter["task_type"] = _task(class_name)
        yield Case(model_type, class_name, dict(config), adapter)


MORE = {"LORA": 70, "TRAINABLE_TOKENS": 30, "ADALORA": 20}
"""Methods with many settings, of which more cases are recorded."""


def record(each: int, seed: str) -> int:
    """Write *each* cases of every method that the library and we take, those of its defaults first, and how they were made."""
    kept: list[dict[str, Any]] = []
    for method in DRAWS:
        taken, wanted = 0, MORE.get(method, each)
        for case in chain(plain_cases(method), cases([method], 12 * wanted, f"{seed} {method}")):
            if taken == wanted:
                break
            try:
                figures = theirs(case)
                ours(case)
            except (live.RefusedError, WeighbridgeError):
                continue
            taken += 1
            kept.append({**case._asdict(), "figures": figures})
    libraries = {**live.versions(), "peft": import_module("peft").__version__}
    command = f"python -m truth adapters --record {each} --seed {seed}"
    lines = ",\n".join(json.dumps(case) for case in kept)
    RECORD.parent.mkdir(exist_ok=True)
    RECORD.write_text(
        f'{{"libraries": {json.dumps(libraries)}, "command": {json.dumps(command)},\n'
        f'"figures": "trainable, total, saved, saved_bytes",\n"cases": [\n{lines}\n]}}\n',
        "utf-8",
    )
    print(f"{len(kept)} cases of {len({case['adapter']['peft_type'] for case in kept})} methods: {RECORD}")
    return 0


def again(path: Path) -> int:
    """Ask the library once more for the figures of every case in a file, which may have none yet."""
    recorded = json.loads(path.read_text("utf-8"))
    lines = []
    for entry in recorded["cases"]:
        case = Case(entry["model_type"], entry["class_name"], entry["config"], entry["adapter"])
        lines.append(json.dumps({**case._asdict(), "figures": theirs(case)}))
    libraries = {**live.versions(), "peft": import_module("peft").__version__}
    head = {"libraries": libraries, "command": f"python -m truth adapters --again tests/truth/adapters/{path.name}"}
    head["figures"] = "trainable, total, saved, saved_bytes"
    path.write_text(json.dumps(head)[:-1] + ',\n"cases": [\n' + ",\n".join(lines) + "\n]}\n", "utf-8")
    print(f"{len(lines)} cases: {path}")
    return 0


def compare_cases(methods: list[str], number: int, seed: str, verbose: bool = False) -> int:
    """Compare *number* random cases; 1 if any figure differs."""
    outcome: Counter[str] = Counter()
    refusals: Counter[str] = Counter()
    wrong = 0
    for case in cases(methods or list(DRAWS), number, seed):
        name = case.adapter["peft_type"]
        try:
            right: Figures | None = theirs(case)
            why = ""
        except live.RefusedError as error:
            right, why = None, str(error)
        try:
            found: Figures | None = ours(case)
            mine = ""
        except WeighbridgeError as error:
            found, mine = None, str(error)
        if right is None:
            outcome[f"{name} refused by both" if found is None else f"{name} refused by the library alone"] += 1
            if found is not None and verbose:
                print(f"library alone refuses: {why}\n  {json.dumps(case._asdict())}")
        elif found is None:
            outcome[f"{name} refused by us alone"] += 1
            refusals[f"{name}: {mine}"] += 1
            if verbose:
                print(f"we alone refuse: {mine}\n  {json.dumps(case._asdict())}")
        elif found == right:
            outcome[f"{name} equal"] += 1
        else:
            wrong += 1
            outcome[f"{name} WRONG"] += 1
            print(f"theirs {right}, ours {found}\n  {json.dumps(case._asdict())}")
    for name in sorted(outcome):
        print(f"{outcome[name]:>6}  {name}")
    for reason, count in refusals.most_common(12):
        print(f"        {count} x {reason}")
    sys.stdout.flush()
    return 1 if wrong else 0
