"""Prompts that are learned: virtual tokens in front of the input, or of every layer's keys and values.

Source: huggingface/peft 0.21.2, tuners/{prompt_tuning,p_tuning,prefix_tuning,multitask_prompt_tuning,cpt,cartridge,
adaption_prompt}/model.py and layer.py, utils/other.py (_prepare_prompt_learning_config)
"""

from __future__ import annotations

from weighbridge.accounts.adapters.base import Base
from weighbridge.accounts.adapters.sites import AddedTensor
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import ConfigError, UsageError
from weighbridge.core.interfaces import Mapping
from weighbridge.core.messages import Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    Config = Mapping[str, Any]


class Prompt(NamedTuple):
    """One method of learning a prompt.

    Attributes:
        add: What is trained, and what is saved of it.
        given: Its defaults, where a config leaves a field out.
        formula: What it adds.
    """

    add: Callable[[Config], Iterator[AddedTensor]]
    given: Mapping[str, Any]
    formula: str


WIDTHS = ("hidden_size", "n_embd", "d_model")
HEADS = ("num_attention_heads", "n_head", "num_heads", "encoder_attention_heads")
LAYERS = ("num_hidden_layers", "num_layers", "n_layer", "encoder_layers", "n_layers")


def prepare_prompt(base: Base, config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a prompt's config with what it takes from the base's.

    Raises:
        ConfigError: Neither says it.
        UsageError: The library does not wrap this base.
    """
    _refuse_bases(base, config["peft_type"])
    tokens = config.get("num_virtual_tokens")
    if config["peft_type"] == "CPT":
        tokens = len(config.get("cpt_token_ids") or [0])
    if not isinstance(tokens, int) or isinstance(tokens, bool) or tokens < 1:
        raise ConfigError("expected a whole number from 1 up", key="num_virtual_tokens", value=tokens)
    nested = base.config.get("text_config")
    facts = nested if isinstance(nested, Mapping) else base.config
    found = {
        **config,
        "num_virtual_tokens": tokens,
        "num_layers": config.get("num_layers") or _layers(base, facts),
        "token_dim": config.get("token_dim") or fact(facts, WIDTHS, "token_dim"),
        "num_attention_heads": config.get("num_attention_heads") or fact(facts, HEADS, "num_attention_heads"),
    }
    if found["peft_type"] in ("PREFIX_TUNING", "CARTRIDGE"):
        found["token_dim"] = _cached_width(base, facts, found)
    found["encoder_hidden_size"] = config.get("encoder_hidden_size") or found["token_dim"]
    submodules = config.get("num_transformer_submodules")
    if found["peft_type"] == "CPT":
        submodules = 1
    found["submodules"] = submodules or (2 if config.get("task_type") == "SEQ_2_SEQ_LM" else 1)
    return found


WORDS = "embeddings.word_embeddings"
"""The module that the library takes for the table of words, wherever there is one, without asking for the size of the vocabulary."""

SILENT = r"For(MaskedLM|MultipleChoice|NextSentencePrediction|Sequence\w+|Token\w+|QuestionAnswering|Image\w+)$|(?<!LMHead)(?<!Heads)Model$"
"""Endings of classes that cannot generate (transformers 5.23.0: those that are no ``GenerationMixin``)."""

GENERATING = frozenset(
    """BarkModel BlipForQuestionAnswering EncoderDecoderModel MarianMTModel SeamlessM4TModel SeamlessM4Tv2Model SpeechEncoderDecoderModel
    VisionEncoderDecoderModel""".split()
)
"""Classes that can, whose names end like others that cannot."""


def _refuse_bases(base: Base, method: str) -> None:
    """Refuse a base in which the library finds no table of words, and, for a context that is tuned, one that does not generate."""
    if WORDS not in base.modules and base.config and not _says_vocabulary(base.config):
        raise UsageError(Text("{method}: the library looks for the table of words by vocab_size, which this config has not", method=method))
    if method != "CPT" or base.class_name in GENERATING:
        return
    import re

    if re.search(SILENT, base.class_name):
        raise UsageError(
            Text(
                "{method}: the library wraps only classes that generate, and {class_name} does not",
                method=method,
                class_name=base.class_name,
            )
        )


def _says_vocabulary(facts: Config) -> bool:
    return any("vocab" in key or (isinstance(value, Mapping) and _says_vocabulary(value)) for key, value in facts.items())


LAYERS_BY_TYPE: dict[str, Callable[[Config], Any]] = {
    "funnel": lambda facts: sum(facts["block_sizes"]),
    "seamless_m4t": lambda facts: facts["decoder_layers"],
    "seamless_m4t_v2": lambda facts: facts["decoder_layers"],
    "longcat_flash": lambda facts: 2 * facts["num_layers"],
    "nemotron_h": lambda facts: len(facts.get("hybrid_override_pattern") or facts["layers_block_type"]),
    "hrm_text": lambda facts: None,  # rewritten from the cycles of both stacks
}
"""Types whose config works its number of layers out; a prompt asks for as many."""


def _layers(base: Base, facts: Config) -> int:
    """Return the number of layers: the outer config's own, where it has one, before the text model's."""
    if base.model_type in LAYERS_BY_TYPE:
        try:
            facts = {"num_hidden_layers": LAYERS_BY_TYPE[base.model_type](facts)}
        except (KeyError, TypeError):
            facts = {}
        return fact(facts, LAYERS, "num_layers")
    own = base.config.get("num_hidden_layers")
    return own if isinstance(own, int) else fact(facts, LAYERS, "num_layers")


LATENT_HEADS = {
    "axk1": 64,
    "axk2": 32,
    "deepseek_v2": None,
    "deepseek_v3": 128,
    "deepseek_v32": 128,
    "glm4_moe_lite": 20,
    "glm_moe_dsa": 64,
    "longcat_flash": None,
    "minicpm3": 40,
    "youtu": 16,
}
"""Types with latent attention: the key-value heads that their config states by default and their attention does not read; None is as many
as heads. The library takes them for what is cached, each as wide as the part of a key that is rotated."""


def _cached_width(base: Base, facts: Config, found: Mapping[str, Any]) -> int:
    """Return the width of a layer's keys, which are those of the key-value heads where the config tells them.

    Raises:
        UsageError: The config does not tell it.
    """
    heads, model_type = found["num_attention_heads"], facts.get("model_type") or base.model_type
    if any(module.kind == "latent_attention" for module in base.modules.values()):
        head = facts.get("qk_rope_head_dim")
        if model_type not in LATENT_HEADS or not isinstance(head, int):
            raise UsageError(
                Text(
                    "{found}: what latent attention keeps has no width of its own in a config that this library reads",
                    found=found["peft_type"],
                )
            )
        return head * (facts.get("num_key_value_heads") or LATENT_HEADS[model_type] or heads)
    kept = facts.get("num_key_value_heads")
    if model_type == "gpt_bigcode":
        kept = 1 if facts.get("multi_query", True) else facts["n_head"]
    if not isinstance(kept, int):
        return found["token_dim"]  # type: ignore[no-any-return]
    whole = facts.get("global_head_dim")
    head, given = facts.get("head_dim"), found["token_dim"] // heads
    if head is not None and head != given and (found["token_dim"], heads) != (_first_int(facts, WIDTHS), _first_int(facts, HEADS)):
        raise UsageError(
            Text("{found}: leave out token_dim and num_attention_heads; the library takes both from the base", found=found["peft_type"])
        )
    head = head or given
    if isinstance(whole, int) and whole > head:
        wide = facts.get("num_global_key_value_heads") if facts.get("attention_k_eq_v", True) else None
        return whole * (wide or kept)
    return head * kept  # type: ignore[no-any-return]


def _first_int(facts: Config, names: tuple[str, ...]) -> int | None:
    return next((facts[name] for name in names if isinstance(facts.get(name), int)), None)


def fact(facts: Config, names: tuple[str, ...], key: str) -> int:
    """Return the first of the config's fields that is there; *key* is what is missing where none is."""
    value = _first_int(facts, names)
    if value is None:
        raise ConfigError(Text("{key} is required: the base model's config does not state it", key=key), key=key, value=None)
    return value


def _tokens(config: Config) -> int:
    return config["num_virtual_tokens"] * config["submodules"]  # type: ignore[no-any-return]


def prompt_tuning(config: Config) -> Iterator[AddedTensor]:
    """Yield one embedding for each virtual token."""
    yield AddedTensor("prompt_embeddings", (_tokens(config), config["token_dim"]))


def multitask(config: Config) -> Iterator[AddedTensor]:
    """Yield the shared prompt, and a low-rank factor of it for each task."""
    tasks, ranks = config["num_tasks"], config["num_ranks"]
    yield from prompt_tuning(config)
    yield AddedTensor("prefix_task_cols", (tasks, _tokens(config), ranks))
    yield AddedTensor("prefix_task_rows", (tasks, ranks, config["token_dim"]))


def p_tuning(config: Config) -> Iterator[AddedTensor]:
    """Yield the embeddings and the network they pass through, of which only its output is saved."""
    width, inner = config["token_dim"], config["encoder_hidden_size"]
    way = str(config["encoder_reparameterization_type"]).rpartition(".")[2].upper()
    yield AddedTensor("embedding.weight", (_tokens(config), width), saved=False)
    if way == "LSTM":
        sides = (("", width), *(("", 2 * inner) for _ in range(config["encoder_num_layers"] - 1)))
        for index, (_, inputs) in enumerate(sides):
            for direction in ("", "_reverse"):
                yield AddedTensor(f"lstm_head.weight_ih_l{index}{direction}", (4 * inner, inputs), saved=False)
                yield AddedTensor(f"lstm_head.weight_hh_l{index}{direction}", (4 * inner, inner), saved=False)
                for bias in ("ih", "hh"):
                    yield AddedTensor(f"lstm_head.bias_{bias}_l{index}{direction}", (4 * inner,), saved=False)
        layers: tuple[tuple[int, int], ...] = ((2 * inner, 2 * inner), (width, 2 * inner))
    elif way == "MLP":
        layers = ((inner, width), (inner, inner), (width, inner))
    else:
        raise ConfigError("expected MLP or LSTM", key="encoder_reparameterization_type", value=way)
    for index, shape in enumerate(layers):
        yield AddedTensor(f"mlp_head.{2 * index}.weight", shape, saved=False)
        yield AddedTensor(f"mlp_head.{2 * index}.bias", shape[:1], saved=False)
    yield AddedTensor("prompt_embeddings", (_tokens(config), width), parameter=False)


def prefix_tuning(config: Config) -> Iterator[AddedTensor]:
    """Yield keys and values for every layer, or a small network that makes them, of which only its output is saved."""
    tokens, width, inner = config["num_virtual_tokens"], config["token_dim"], config["encoder_hidden_size"]
    kept = 2 * config["num_layers"] * width
    if not config["prefix_projection"]:
        yield AddedTensor("prompt_embeddings", (tokens, kept))
        return
    yield AddedTensor("embedding.weight", (tokens, width), saved=False)
    for index, shape in ((0, (inner, width)), (2, (kept, inner))):
        yield AddedTensor(f"transform.{index}.weight", shape, saved=False)
        yield AddedTensor(f"transform.{index}.bias", shape[:1], saved=False)
    yield AddedTensor("prompt_embeddings", (tokens, kept), parameter=False)


def cpt(config: Config) -> Iterator[AddedTensor]:
    """Yield the context's embeddings, which are frozen, and what is learned to be added to them."""
    shape = (config["num_virtual_tokens"], config["token_dim"])
    yield AddedTensor("embedding.weight", shape, trainable=False, saved=False)
    yield AddedTensor("delta_embedding.weight", shape, saved=False)
    yield AddedTensor("prompt_embeddings", shape, parameter=False)


def cartridge(config: Config) -> Iterator[AddedTensor]:
    """Yield keys and values for every layer, the first tokens of them frozen."""
    tokens, frozen = config["num_virtual_tokens"], config["num_frozen_tokens"]
    if not 0 <= frozen <= tokens:
        raise ConfigError(
            Text("expected a number from 0 to {tokens}, the number of virtual tokens", tokens=tokens), key="num_frozen_tokens", value=frozen
        )
    kept = 2 * config["num_layers"] * config["token_dim"]
    if frozen:
        yield AddedTensor("frozen_embedding", (frozen, kept), trainable=False)
    yield AddedTensor("trainable_embedding", (tokens - frozen, kept))


PROMPTS: dict[str, Prompt] = {
    "CARTRIDGE": Prompt(cartridge, {"num_frozen_tokens": 1}, "2*layers*width*tokens"),
    "CPT": Prompt(cpt, {}, "tokens*width"),
    "MULTITASK_PROMPT_TUNING": Prompt(multitask, {"num_ranks": 1, "num_tasks": 1}, "tokens*width + tasks*ranks*(tokens + width)"),
    "PREFIX_TUNING": Prompt(prefix_tuning, {"prefix_projection": False}, "2*layers*width*tokens"),
    "PROMPT_TUNING": Prompt(prompt_tuning, {}, "tokens*width"),
    "P_TUNING": Prompt(
        p_tuning, {"encoder_reparameterization_type": "MLP", "encoder_num_layers": 2}, "tokens*width, and the network before it"
    ),
}
"""By ``peft_type``."""

ATTENTIONS = {"llama": "self_attn", "mistral": "self_attn", "gpt2": "attn"}
"""The attention module that an adaption prompt goes into, by model type."""


def adaption_prompts(base: Base, config: Config) -> Iterator[AddedTensor]:
    """Yield the prompt and the gate of each of the last layers' attentions.

    Raises:
        UsageError: A type that the library does not adapt so, or more layers than there are.
    """
    if base.model_type not in ATTENTIONS:
        raise UsageError(
            Text(
                "adaption prompts are for {attentions}, not for {model_type}",
                attentions=", ".join(ATTENTIONS),
                model_type=base.model_type or "this model",
            )
        )
    name = config.get("target_modules") or ATTENTIONS[base.model_type]
    layers, length = config.get("adapter_layers"), config.get("adapter_len")
    for key, value in (("adapter_layers", layers), ("adapter_len", length)):
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ConfigError("expected a whole number from 1 up", key=key, value=value)
    found = [path for path in base.modules if path.endswith(f".{name}")]
    if len(found) < layers:  # type: ignore[operator]
        raise UsageError(
            Text(
                "adapter_layers: {layers} asked for, and the model has {count} modules named {name}",
                layers=layers,
                count=len(found),
                name=name,
            )
        )
    width = fact(base.config, WIDTHS, "hidden_size")
    for path in found[-layers:]:  # type: ignore[operator]
        yield AddedTensor(f"{path}.adaption_prompt", (1, length, width))  # type: ignore[arg-type]
        yield AddedTensor(f"{path}.adaption_gate", (1,))
