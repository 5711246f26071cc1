"""Costs against live classes: caches and what autograd keeps, to the byte, on small random configs; and what was measured, recorded."""

from __future__ import annotations

import inspect
import json
import random
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from truth import activations, caches, check, live
from truth.draw import draw
from truth.forward import Pass, inputs
from truth.live import RefusedError
from weighbridge.accounts.cache import cache_of
from weighbridge.accounts.cache_windows import TEXT_CONFIGS
from weighbridge.accounts.inputs import Inputs
from weighbridge.accounts.memory.account import memory_of, settings
from weighbridge.accounts.memory.styles import STYLES
from weighbridge.blueprints import MODULES, family, is_remote
from weighbridge.core.errors import WeighbridgeError
from weighbridge.core.tree import Attend, State, walk
from weighbridge.load import load

RECORDS = Path(__file__).parent.parent / "tests" / "costs"
"""Where measured bytes are kept for the ordinary tests."""

PASSES = (Pass(2, 7, 5), Pass(1, 9, 4), Pass(3, 11, 6))
LONG = (Pass(2, 40, 9), Pass(1, 23, 6), Pass(3, 7, 5))
TOUCHES = (1.0, 0.8, 0.6, 0.4, 0.3, 0.2)
SMALL = 60_000_000
"""Parameters of the largest model that is given values."""


class Case(NamedTuple):
    """One measured figure: of which class and config, at which lengths and settings, and its bytes."""

    model_type: str
    class_name: str
    config: dict[str, Any]
    lengths: dict[str, int | None]
    settings: dict[str, Any]
    bytes: int


def small(model_type: str, class_name: str, raw: dict[str, Any], dtype: str = "float32") -> Any:
    """Build a live class with values, if it is small.

    Raises:
        RefusedError: It is not, or does not build.
    """
    if sum(tensor.numel() for tensor in live.build(model_type, class_name, raw).parameters()) > SMALL:
        raise RefusedError("too large for values")
    model = live.build(model_type, class_name, raw, "cpu")
    return model if dtype == "float32" else model.to(getattr(import_module("torch"), dtype))


def draw_cases(
    model_type: str,
    class_name: str,
    seed: str,
    n: int,
    measure: Callable[[Any, Pass], int],
    *,
    passes: tuple[Pass, ...],
    dtype: str,
    mend: Callable[[dict[str, Any], int], dict[str, Any]] = lambda raw, index: raw,
    how: dict[str, Any] | None = None,
) -> Iterator[Case]:
    """Draw configs, *mend* each and measure it; a refused draw is followed by a tamer one."""
    for index in range(n):
        lengths = passes[index % len(passes)]
        for attempt, touch in enumerate(TOUCHES):
            raw = mend(draw(f"{seed}/{index}/{attempt}", model_type, touch), index)
            try:
                found = measure(small(model_type, class_name, raw, dtype), lengths)
            except RefusedError as error:
                if "returns no cache" in str(error):
                    return
                continue
            asked = {"batch": lengths.batch, "seq": lengths.seq, "decoder_seq": lengths.decoder_seq}
            yield Case(model_type, class_name, raw, asked, how or {"dtype": dtype}, found)
            break


def attend_by(model: Any, attention: str) -> None:
    """Choose how a live class attends; one that chooses for itself (Falcon) reads it in its config."""
    model.set_attn_implementation(attention)
    if model.config._attn_implementation != attention and (attention == "eager" or model._supports_sdpa):
        model.config._attn_implementation = attention


def kept_for_backward(model: Any, lengths: Pass, *, loss: bool = False) -> int:
    """Measure what autograd keeps with eager attention and no dropout; with its *loss*, of a class that has one.

    Raises:
        RefusedError: The forward does not run, or its labels are not known here.
    """
    attend_by(model, "eager")
    if model.config.model_type == "whisper" and not type(model).__name__.endswith(("ForCausalLM", "Decoder", "DecoderWrapper")):
        lengths = lengths._replace(seq=2 * model.config.max_source_positions)
    made = add_labels(model, inputs(model, lengths)) if loss else None
    return sum(storage.bytes for storage in activations.saved_storages(model, lengths, made=made))


def add_labels(model: Any, made: dict[str, Any]) -> dict[str, Any]:
    """Put labels beside the inputs of a class.

    Raises:
        RefusedError: Which it takes is not known here.
    """
    torch, name = import_module("torch"), type(model).__name__
    if "return_loss" in inspect.signature(model.forward).parameters:
        return {**made, "return_loss": True}
    main = next(iter(made.values()))
    one, words = torch.zeros(main.shape[0], dtype=torch.long), made.get("decoder_input_ids", main)
    if name.endswith("ForQuestionAnswering"):
        return {**made, "start_positions": one, "end_positions": one.clone()}
    if name.endswith(
        ("ForSequenceClassification", "ForImageClassification", "ForAudioClassification", "ForNextSentencePrediction", "ForMultipleChoice")
    ):
        return {**made, "labels": one}
    if name.endswith(("ForCausalLM", "LMHeadModel", "ForMaskedLM", "ForTokenClassification", "ForConditionalGeneration")):
        return {**made, "labels": torch.zeros_like(words, dtype=torch.long)}
    raise RefusedError("its labels are not known here")


ACTIVATIONS = (
    "gelu gelu_10 gelu_accurate gelu_fast gelu_new gelu_python gelu_python_tanh gelu_pytorch_tanh hardswish laplace leaky_relu linear mish "
    "quick_gelu relu relu2 relu6 sigmoid silu sqrtsoftplus swish tanh"
).split()


def vary(raw: dict[str, Any], index: int) -> dict[str, Any]:
    """Change what a forward does and no tensor says, in every second draw: its activation function, and whether scores are capped."""
    if not index % 2 or raw["model_type"] not in STYLES:
        return raw
    rng = random.Random(json.dumps(raw))
    found = dict(raw)
    for key, default in STYLES[raw["model_type"]].keys:
        word, _, own = key.partition("=")
        if word == "activation":
            gated = "gated-" if own == "feed_forward_proj" and rng.random() < 0.5 else ""
            found[own or word] = gated + rng.choice(ACTIVATIONS)
        elif word.startswith("capped") and rng.random() < 0.5:
            found[own] = None if default else 30.0
    return found


def our_activations(case: Case) -> int:
    """Return our account of a case.

    Raises:
        WeighbridgeError: It is refused.
    """
    how = settings(**{"attention": "eager", "dropout": False, "loss": False, **case.settings})
    found = memory_of(load(case.config, case.class_name), Inputs(**case.lengths), how, training=True)  # type: ignore[arg-type]
    if found.activations is None:
        raise RefusedError(found.refused)
    return found.activations


LIMITS: tuple[dict[str, Any], ...] = (
    {},
    {"sliding_window": 5},
    {"sliding_window": 4, "use_sliding_window": True, "max_window_layers": 1},
    {"attention_chunk_size": 6},
    {
        "layer_types": ["full_attention", "sliding_attention", "sliding_attention", "full_attention", "sliding_attention"] * 8,
        "sliding_window": 6,
    },
)
"""Keys that a cache is limited by in any config, put into every draw but the first of as many as there are."""


def limit_cache(raw: dict[str, Any], index: int) -> dict[str, Any]:
    """Put keys that limit a cache into the config of the language model.

    >>> limit_cache({"model_type": "llava", "text_config": {}}, 1)
    {'model_type': 'llava', 'text_config': {'sliding_window': 5}}
    """
    inside = next((key for key in TEXT_CONFIGS if isinstance(raw.get(key), dict)), None)
    if inside is not None:
        return {**raw, inside: limit_cache(raw[inside], index)}
    limits = dict(LIMITS[index % len(LIMITS)])
    if "layer_types" in limits:  # as many as there are layers
        limits["layer_types"] = limits["layer_types"][: raw.get("num_hidden_layers", 4)]
    return {**raw, **limits}


def kept_in_cache(model: Any, lengths: Pass) -> int:
    """Measure what a forward leaves in its cache, at lengths beyond small windows."""
    return sum(tensor.bytes for tensor in caches.cached_tensors(model, lengths))


def our_cache(case: Case) -> int:
    """Return our account of a case.

    Raises:
        WeighbridgeError: It is refused.
    """
    return cache_of(load(case.config, case.class_name), Inputs(**case.lengths), **case.settings).bytes  # type: ignore[arg-type]


def generates(model_type: str) -> bool:
    """Tell whether a type keeps anything between tokens, by our description of its defaults."""
    known = family(model_type)
    try:
        trees = [load({"model_type": model_type}, name).tree for name in known.classes]
    except WeighbridgeError:
        return True
    nodes = (node for tree in trees for _, part in walk(tree) for node in part.children)
    return any(isinstance(node, State) or (isinstance(node, Attend) and node.causal) for node in nodes)


HEADLESS = ("ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering", "ForMultipleChoice", "DoubleHeadsModel")
"""Classes whose caches are those of their bodies."""


def cache(types: list[str], n: int, seed: str | None, record: bool) -> int:
    """Hold caches to live classes, in float32 and in bfloat16; with *record*, write what was measured."""
    seed = seed or str(random.SystemRandom().randrange(10**6))
    found = types or [name for name in MODULES if not is_remote(name) and generates(name)]
    wanted = lambda name: not name.endswith(HEADLESS)  # noqa: E731  a sentence of its own would say no more
    return max(
        compare_cases(
            "caches", found, n, seed, kept_in_cache, our_cache, record=record, wanted=wanted, lengths=LONG, dtype=dtype, mend=limit_cache
        )
        for dtype in ("float32", "bfloat16")
    )


def memory(types: list[str], n: int, seed: str | None, record: bool) -> int:
    """Hold activations to live classes; with *record*, write what was measured."""
    seed = seed or str(random.SystemRandom().randrange(10**6))
    with_loss: dict[str, Any] = {"dtype": "float32", "loss": True}
    return max(
        compare_cases("activations", types or list(STYLES), n, seed, measure, our_activations, record=record, mend=vary, how=how)
        for measure, how in ((kept_for_backward, None), (partial(kept_for_backward, loss=True), with_loss))
    )


def compare_cases(
    what: str,
    types: list[str],
    n: int,
    seed: str,
    measure: Callable[[Any, Pass], int],
    account: Callable[[Case], int],
    *,
    record: bool = False,
    wanted: Callable[[str], bool] = lambda class_name: True,
    lengths: tuple[Pass, ...] = PASSES,
    dtype: str = "float32",
    mend: Callable[[dict[str, Any], int], dict[str, Any]] = lambda raw, index: raw,
    how: dict[str, Any] | None = None,
) -> int:
    """Measure, ask ours, and print what differs; the exit code is 1 if anything does."""
    print(f"{what}, {dtype}: seed {seed}, {n} random configs per class", flush=True)
    kept: list[Case] = []
    wrong = 0
    for model_type in types:
        for class_name in filter(wanted, check.classes(model_type)):
            agreed, refused = 0, ""
            for case in draw_cases(model_type, class_name, seed, n, measure, passes=lengths, dtype=dtype, mend=mend, how=how):
                try:
                    ours = account(case)
                except (RefusedError, WeighbridgeError) as error:
                    refused = str(error)
                    continue
                kept.append(case)
                agreed += ours == case.bytes
                if ours != case.bytes:
                    wrong += 1
                    print(
                        f"DIFFERS {class_name} {json.dumps(case.config)} {case.lengths}: measured {case.bytes:,}, ours {ours:,}", flush=True
                    )
            print(f"{model_type:22} {class_name:44} {agreed} agree" + (f", refused: {refused[:90]}" if refused else ""), flush=True)
    if record:
        write(what, kept)
    return 1 if wrong or not kept else 0


COMMANDS = {"caches": "cache", "activations": "memory", "peaks_ways": "peak"}
"""Which command records what."""


def write(what: str, cases: list[Case]) -> None:
    """Write measured cases, one a line; those of other types stay."""
    measured = {(case.model_type, str(case.settings)) for case in cases}
    cases = [*(case for case in recorded_cases(what) if (case.model_type, str(case.settings)) not in measured), *cases]
    RECORDS.mkdir(exist_ok=True)
    head = {"versions": live.versions(), "command": f"python -m truth {COMMANDS[what]} --record"}
    lines = [json.dumps(head), *(json.dumps(list(case)) for case in cases)]
    (RECORDS / f"{what}.jsonl").write_text("\n".join(lines) + "\n")


def recorded_cases(what: str) -> list[Case]:
    """Return the measured cases that are committed."""
    path = RECORDS / f"{what}.jsonl"
    _, *lines = path.read_text().splitlines() if path.exists() else [""]
    return [Case(*json.loads(line)) for line in lines]
