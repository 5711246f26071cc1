"""Which modules an adapter changes: what its config names, or its method by default, and what the library refuses there."""

from __future__ import annotations

from weighbridge.accounts.adapters import defaults, matching
from weighbridge.accounts.adapters.base import Base
from weighbridge.accounts.adapters.methods import Method
from weighbridge.accounts.adapters.sites import Site
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError, UsageError
from weighbridge.core.messages import Text

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any


EMBEDDINGS = ("embed_tokens", "lm_head")
"""Names by which the library knows embeddings: where one is a target, its table is saved with the adapter."""


CLASSIFIER_NAMES = {"SEQ_CLS": ("classifier", "score"), "TOKEN_CLS": ("classifier", "score"), "QUESTION_ANS": ("qa_outputs",)}
"""By task: heads that are trained and saved whole, beside whatever ``modules_to_save`` names."""


AXES = {"ADALORA": (2,), "BOFT": (2,), "HRA": (2,), "OFT": (2,), "IA3": (2, 3), "LOHA": (1, 2), "LOKR": (1, 2)}
"""Over how many axes a convolution may run that a method adapts; any where it is not named."""


def resolve_config(base: Base, method: Method, config: dict[str, Any]) -> dict[str, Any]:
    """Return the config as the library has it once modules are being replaced: targets named, heads of its task added."""
    task = config.get("task_type")
    heads = CLASSIFIER_NAMES.get(task, ()) if isinstance(task, str) and config["peft_type"] != "TRAINABLE_TOKENS" else ()
    config["modules_to_save"] = names_of(config, "modules_to_save")
    config["heads"], config["base_dtype"] = heads, base.dtype
    if heads and task == "SEQ_CLS":  # the heads of the other tasks are added only after the modules were replaced
        config["modules_to_save"] = (*config["modules_to_save"], *heads)
    config["target_parameters"] = tuple(config.get("target_parameters") or ())
    if config["peft_type"] == "LORA":
        config = _fuse_expert_names(base, config)
    targets = config["target_modules"]
    if targets is None:
        targets = _default_targets(base, method, config)
        if targets is None and not config["target_parameters"]:
            raise ConfigError(
                Text(
                    "target_modules is required: the PEFT library has no default for {model_type}; all-linear takes every linear layer",
                    model_type=base.model_type or "this model",
                ),
                key="target_modules",
                value=None,
            )
    if isinstance(targets, str) and targets.lower() == matching.ALL_LINEAR:
        targets = matching.all_linear(base, config)
    if not isinstance(targets, str) and targets is not None:
        targets = set(targets)
        if len(targets) >= matching.MANY_TARGETS and config["peft_type"] != "IA3":
            targets = min(targets, matching.fewest_suffixes(targets, base.modules), key=len)
    if config["peft_type"] == "IA3":
        config = _feedforward(base, config)
    return _adapt_tied(base, {**config, "target_modules": targets})


def _default_targets(base: Base, method: Method, config: dict[str, Any]) -> str | tuple[str, ...] | None:
    """Return what a method adapts of this type where nothing is named."""
    if config["peft_type"] == "TRAINABLE_TOKENS":
        return base.input_embedding or "embed_tokens"
    found = method.targets.get(base.model_type)
    return matching.ALL_LINEAR if found is None and config["peft_type"] == "OSF" else found


def _feedforward(base: Base, config: dict[str, Any]) -> dict[str, Any]:
    """Return the config of IA3 with the modules that are scaled at their inputs."""
    if config.get("feedforward_modules") is None:
        found = defaults.FEEDFORWARD.get(base.model_type)
        if found is None:
            raise ConfigError(
                Text(
                    "feedforward_modules is required: the PEFT library has no default for {model_type}",
                    model_type=base.model_type or "this model",
                ),
                key="feedforward_modules",
                value=None,
            )
        config["feedforward_modules"] = found
    return config


def names_of(config: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Return the names that a key of the config lists.

    Raises:
        ConfigError: It is no list of names.
    """
    names = config.get(key) or ()
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise ConfigError("expected a list of names", key=key, value=config.get(key))
    return tuple(names)


def _fuse_expert_names(base: Base, config: dict[str, Any]) -> dict[str, Any]:
    """Turn a checkpoint's names of experts into the parameters that hold them all, as the library does for these types."""
    table = defaults.FUSED_EXPERTS.get(base.model_type)
    if table is None:
        return config
    targets = config["target_modules"]
    if isinstance(targets, str):
        targets = _as_names(base, config, targets, table) or targets
        if isinstance(targets, str):
            return config
    rest, parameters, seen = set(), set(config["target_parameters"]), set()
    for target in targets or ():
        old = next((name for name in table if target == name or target.endswith(f".{name}")), None)
        if old is None:
            rest.add(target)
        else:
            parameters.add(table[old])
            seen.add(old)
    halves = [name for name, new in table.items() if new == "gate_up_proj"]
    present = [name for name in halves if name in seen]
    ranks = dict(config.get("rank_pattern") or {})
    if len(present) == 1:
        other = next(name for name in halves if name not in seen)
        raise UsageError(
            Text(
                "target_modules: {present} and {other} are one parameter here, gate_up_proj; name both or none",
                present=present[0],
                other=other,
            )
        )
    if present:
        ranks[r".*\.gate_up_proj"] = config["r"] * 2
    return {**config, "target_modules": rest, "target_parameters": tuple(sorted(parameters)), "rank_pattern": ranks}


def _as_names(base: Base, config: Mapping[str, Any], targets: str, table: Mapping[str, str]) -> set[str]:
    """Return the last names of whatever a pattern, or ``all-linear``, stands for."""
    if targets.lower() == matching.ALL_LINEAR:
        return {name.rpartition(".")[2] for name in matching.all_linear(base, config)} | set(table)
    selected = matching.selector(config, targets)
    parameters = [row.name for row in base.rows if row.role != "buffer" and row.tied_to is None]
    found = {name.rpartition(".")[2] for name in (*base.modules, *parameters) if selected(name)}
    holders: dict[str, set[str]] = {}
    for name in parameters:
        holder, _, last = name.rpartition(".")
        holders.setdefault(last, set()).add(holder)
    for old, new in table.items():
        if any(selected(f"{holder}.{old}") for holder in holders.get(new, ())):
            found.add(old)
    return found


def _adapt_tied(base: Base, config: dict[str, Any]) -> dict[str, Any]:
    """Follow ``ensure_weight_tying``: the embedding is adapted, and whatever is tied to it follows."""
    config["tied_targets"], config["tied_saves"] = (), ()
    if not config.get("ensure_weight_tying") or not base.tied or base.input_embedding is None:
        return config
    saves, targets = config["modules_to_save"], config["target_modules"]
    if any(name.rpartition(".")[2] in EMBEDDINGS for name in saves):
        kept = [*saves, *([base.input_embedding] if base.input_embedding not in saves else [])]
        config["modules_to_save"] = tuple(_drop_tied(kept, base.tied))
        config["tied_saves"] = base.tied
    elif isinstance(targets, str):
        if any(matching.pattern(targets, "target_modules").fullmatch(name) for name in EMBEDDINGS):
            import re

            config["target_modules"] = f"(?:{targets}|^{re.escape(base.input_embedding)}$)"
            config["tied_targets"] = base.tied
    elif any(name.rpartition(".")[2] in EMBEDDINGS for name in targets or ()):
        config["target_modules"] = set(_drop_tied([*targets, base.input_embedding], base.tied))
        config["tied_targets"] = base.tied
    return config


def _drop_tied(names: list[str], tied: Collection[str]) -> list[str]:
    """Drop the name of each tied module: the first that it matches."""
    kept = list(dict.fromkeys(names))
    for key in tied:
        for name in kept:
            if matching.pattern(rf"(^|.*\.){name}($|\..*)", "modules_to_save").match(key):
                kept.remove(name)
                break
    return kept


def find_targets(base: Base, config: Mapping[str, Any]) -> list[str]:
    """Return the names of the adapted modules, tied ones last."""
    selected = matching.selector(config, config["target_modules"])
    tied = [path for path in base.modules if config["tied_targets"] and matching.ends_with(path, config["tied_targets"])]
    return [path for path in base.modules if path not in tied and selected(path)] + tied


def refuse_others(found: list[Site], method: Method, config: Mapping[str, Any]) -> None:
    """Refuse modules of kinds that the method does not adapt."""
    axes = AXES.get(config["peft_type"])
    for place in found:
        if place.kind == "convolution" and axes and len(place.shape) - 2 not in axes:
            raise UsageError(
                Text(
                    "{config} does not adapt {path}, a convolution over {value} axes",
                    config=config["peft_type"],
                    path=place.path,
                    value=len(place.shape) - 2,
                )
            )
        if place.kind == "other" and place.module.kind == "convolution":
            raise UsageError(
                Text(
                    "{path}: the weight of this convolution is parametrized (weight_norm); what an adapter of it holds is not described",
                    path=place.path,
                )
            )
        if place.kind not in method.kinds:
            kind = place.module.kind.replace("_", " ")
            raise UsageError(
                Text(
                    "{config} does not adapt {path}, a {kind}; it adapts: {kinds}",
                    config=config["peft_type"],
                    path=place.path,
                    kind=kind,
                    kinds=", ".join(method.kinds),
                )
            )


def find_parameters(base: Base, config: Mapping[str, Any]) -> list[Site]:
    """Return the bare parameters that ``target_parameters`` names."""
    wanted = set(config["target_parameters"])
    found = []
    for module in base.modules.values() if wanted else ():
        for row in module.tensors:
            if row.role == "buffer" or not matching.ends_with(row.name, wanted):
                continue
            if len(row.shape) not in (2, 3):
                raise UsageError(
                    Text(
                        "{name}: a parameter of {count} dimensions cannot be a target; only 2 and 3 can",
                        name=row.name,
                        count=len(row.shape),
                    )
                )
            shape = tuple(row.shape)
            found.append(Site(row.name, "parameter", shape[-1], shape[-2], shape, False, module))  # type: ignore[arg-type]
    return found


def list_targets(targets: object) -> str:
    """Write the targets of a config for a message: a pattern as it is, names in order."""
    return (
        targets
        if isinstance(targets, str)
        else ", ".join(sorted(targets))
        if isinstance(targets, (set, tuple, list)) and targets
        else "none"
    )
