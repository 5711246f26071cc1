"""Which tensors of a training checkpoint are the model's, and why; everything else in the file is named, never added.

By structure first: the state of an optimizer is known by its ``state`` and ``param_groups`` wherever it stands. Then by the keys at the top,
and at the tops of what is wrapped in them, that training scripts use.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from weighbridge.core.messages import Text
from weighbridge.readers.text import make_printable
from weighbridge.readers.torch_storages import View, shape_of
from weighbridge.readers.torch_walk import ATTRIBUTE, TRAINING, FoundTensor, Kind, is_optimizer, is_plain, walk_object

MODELS = (
    "state_dict",
    "model_state_dict",
    "model",
    "module",
    "model_state",
    "model_dict",
    "net_state_dict",
    "net",
    "network",
    "params",
    "weights",
    "generator",
)
"""Keys under which training scripts keep the model, the surest first."""

_ASIDE = re.compile(
    r"(?:^|[_.\-\s])(optim\w*|opts?|[gd]opt|sched\w*|scaler\w*|rng\w*|ema|swa|averaged?|avg|loss\w*|loops?|callbacks?|amp|grads?|gradients?|random\w*|"
    r"sampler\w*|hyper|hparams?|metrics?)(?=$|[_.\-\s\d])"
)
"""Words in keys of a training checkpoint that hold state of the training, not the model (in small letters, ``optimizerG`` as ``optimizer_g``)."""

_STATE = re.compile(
    r"(.*_)?(loss(es)?|epochs?|iter(ation)?s?|steps?|num_updates|acc(uracy)?[15]?|(rng|random)(_states?)?|lr|learning_rate|perplexity|metrics?|seed)|best_.*"
)
"""Keys of single tensors that stand beside the model in a training checkpoint."""

BESIDE = "beside the model"


class Division(NamedTuple):
    """The tensors of a checkpoint, divided.

    Attributes:
        model: Those of the model: their names and what was found.
        aside: The others: the key they stand under, their names, what was found.
        notes: What is taken for the model's, and why.
    """

    model: list[tuple[str, FoundTensor]]
    aside: list[tuple[str, str, FoundTensor]]
    notes: tuple[str, ...]


class _Choice(NamedTuple):
    """Where the model is: the path to it, the keys there that are not its, and the groups beside it that are known to be of the training."""

    prefix: tuple[str, ...]
    left_out: frozenset[str]
    training: frozenset[str]


def divide(root: object, walked: list[FoundTensor]) -> Division:
    """Separate the model in a training checkpoint from everything else saved with it."""
    choice = _choose(root, walked)
    depth = len(choice.prefix)
    model: list[tuple[str, FoundTensor]] = []
    aside: list[tuple[str, str, FoundTensor]] = []
    for found in walked:
        within = found.path[:depth] == choice.prefix and len(found.path) >= depth
        if within and found.kind.note != TRAINING and (len(found.path) == depth or found.path[depth] not in choice.left_out):
            model.append((".".join(found.path[depth:]), found))
            continue
        group = _group(found.path, choice.prefix)
        note = TRAINING if found.kind.note == TRAINING or group in choice.training else BESIDE
        aside.append((group, ".".join(found.path), found._replace(kind=Kind(True, note))))
    return Division(model, aside, (_reason(choice, bool(model)),) if aside else ())


def complete_module(root: object) -> object:
    """Complete the module of a DeepSpeed checkpoint by what the file states of it: which tensors are buffers, and which parameters.

    ZeRO 3 leaves empty tensors in the place of parameters, and states their shapes and which of them is another under a second name.

    Source: deepspeed/utils/zero_to_fp32.py (``parse_model_states``: ``param_shapes``, ``frozen_param_shapes``, ``buffer_names``, ``shared_params``)
    """
    if not isinstance(root, dict) or not isinstance(root.get("module"), dict) or not isinstance(root.get("param_shapes"), list):
        return root
    held = root["module"]
    full: dict[object, object] = {}
    for name, shape in _stated_shapes(root).items():
        full[name] = _with_shape(held.get(name), shape)
    for name, owner in _stated_ties(root, held, full).items():
        full[name] = _with_shape(held[name], full[owner].shape)  # type: ignore[attr-defined]
    buffers = root.get("buffer_names")
    for name in buffers if isinstance(buffers, list) else ():
        if isinstance(name, str) and isinstance(view := held.get(name), View) and name not in full:
            full[name] = view._replace(parameter=False)
    return {**root, "module": {**held, **full}} if full else root


def find_stated_ties(root: object) -> dict[str, str]:
    """Return which parameters of a checkpoint that :func:`complete_module` returned have no elements of their own, and whose they have."""
    if not isinstance(root, dict) or not isinstance(root.get("module"), dict) or not isinstance(root.get("param_shapes"), list):
        return {}
    return _stated_ties(root, root["module"], _stated_shapes(root))


def _stated_shapes(root: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    stated = [*root["param_shapes"], root.get("frozen_param_shapes")]
    return {name: shape_of(shape) for group in stated if isinstance(group, dict) for name, shape in group.items() if isinstance(name, str)}


def _stated_ties(root: Mapping[str, Any], held: Mapping[object, object], owners: Collection[object]) -> dict[str, str]:
    """Return what the file says is another parameter under a second name, where ZeRO 3 left no elements that would show it."""
    stated = root.get("shared_params")
    pairs = stated.items() if isinstance(stated, dict) else ()
    return {
        name: owner
        for name, owner in pairs
        if isinstance(name, str) and isinstance(owner, str) and owner in owners and name not in owners and _is_placeholder(held.get(name))
    }


def _is_placeholder(value: object) -> bool:
    return isinstance(value, View) and (value.storage is None or 0 in value.shape)


def _with_shape(here: object, shape: tuple[int, ...]) -> View:
    """Return a parameter with the shape that is stated for it, unless the file holds its elements."""
    if isinstance(here, View) and (here.shape == shape or 0 not in here.shape):
        return here._replace(parameter=True)
    dtype = here.dtype if isinstance(here, View) else "F32"
    return View(None, dtype, 0, shape, (0,) * len(shape), parameter=True, note="cut up among the ranks by ZeRO 3")


def _group(path: tuple[str, ...], prefix: tuple[str, ...]) -> str:
    """Return under which key, seen from the way to the model, a tensor stands."""
    same = 0
    while same < min(len(path), len(prefix)) and path[same] == prefix[same]:
        same += 1
    return ".".join(path[: same + 1]) or "the file"


def _reason(choice: _Choice, found: bool) -> str:
    if not found:
        return Text("the file holds state of a training and no model")
    if choice.prefix:
        return Text(
            "taken for the model: what is under {key}, where a training checkpoint keeps it", key=make_printable(".".join(choice.prefix))
        )
    return Text("taken for the model: all that is not known to be state of the training")


def _choose(root: object, walked: list[FoundTensor]) -> _Choice:
    """Descend from the top of a checkpoint to its model, as long as its siblings show that this is a training checkpoint."""
    prefix: tuple[str, ...] = ()
    training: set[str] = set()
    node, found = root, walked
    while (isinstance(node, dict) or is_plain(node)) and not is_optimizer(node):
        level = _level(node, found, len(prefix))
        if prefix and not level.training & level.held:
            break
        training |= {".".join((*prefix, key)) for key in level.training}
        main = _model_key(level, strict=bool(prefix))
        if main is None:
            return _Choice(prefix, frozenset(level.training), frozenset(training))
        found = [one for one in found if len(one.path) > len(prefix) and one.path[len(prefix)] == main]
        prefix, node = (*prefix, main), level.nodes[main]
    return _Choice(prefix, frozenset(), frozenset(training))


class _Level(NamedTuple):
    """One level of a checkpoint: the things by key, and which keys hold tensors, are tensors, and are of the training."""

    nodes: dict[str, object]
    held: set[str]
    bare: set[str]
    training: set[str]


def _level(node: object, found: list[FoundTensor], depth: int) -> _Level:
    nodes = {key: value for key, value, _ in walk_object(node)}
    own = {one.path[depth] for one in found if len(one.path) == depth + 1}  # tensors, which may have attributes such as a table of scales
    held = {one.path[depth] for one in found if len(one.path) > depth + 1 and (one.kind.note != ATTRIBUTE or one.path[depth] not in own)}
    bare = own - held
    model = {one.path[depth] for one in found if len(one.path) > depth + 1 and one.kind.note != TRAINING} & held
    training = {key for key in held if key not in model or is_training(key)} | {key for key in bare if _STATE.fullmatch(_snake_case(key))}
    if not (held | bare) - training and len(averages := sorted(model & held)) == 1:
        training -= set(averages)
    return _Level(nodes, held, bare, training)


def _model_key(level: _Level, *, strict: bool) -> str | None:
    """Return the model's key: a usual one, or the only one; *strict* if all its siblings must be training state."""
    plain = [key for key in level.nodes if key in level.held - level.training]
    alone = len(plain) == 1 and not level.bare - level.training
    main = next((key for key in MODELS if key in plain), plain[0] if alone else None)
    return main if alone or not strict else None


def is_training(key: str) -> bool:
    """Tell whether a checkpoint's key belongs to the training state (optimizer, scheduler, step), not to the model.

    >>> is_training("optimizerG"), is_training("ema_state_dict"), is_training("semantic"), is_training("upsampler")
    (True, True, False, False)
    """
    return _ASIDE.search(_snake_case(key)) is not None


def _snake_case(key: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).lower()
