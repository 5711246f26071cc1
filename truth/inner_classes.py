"""Every class inside a whole config: ``--class`` on composite configs, against the live class built from the live sub-config."""

from __future__ import annotations

import copy
import inspect
import json
from collections.abc import Iterator
from importlib import import_module
from typing import Any, NamedTuple

from truth import live
from truth.draw import draw
from truth.trials import FOLDER
from weighbridge import model
from weighbridge.blueprints import MODULES, family, is_remote
from weighbridge.blueprints.describe import builders_in
from weighbridge.core.errors import WeighbridgeError

PATH = FOLDER / "inner_classes.jsonl"


class Inner(NamedTuple):
    """A class inside a config.

    Attributes:
        raw: The whole config.
        path: The sub-config that it is built from.
        class_name: The class.
        live: Its parameters as the live class has them.
        ours: Our count, or why we have none.
    """

    raw: dict[str, Any]
    path: str
    class_name: str
    live: int
    ours: int | str


def composites() -> list[str]:
    """Return the described types whose live configs hold sub-configs."""
    return [name for name in MODULES if not is_remote(name) and getattr(_config_class(name), "sub_configs", None)]


def run(outer: str, n: int, seed: str) -> Iterator[Inner]:
    """Yield what comes of each class inside the default config of a type and *n* random ones."""
    for index in range(n + 1):
        raw = draw(f"{seed}/{index}", outer, 0.3) if index else {"model_type": outer}
        try:
            config = live.config_class(outer)(**copy.deepcopy({key: value for key, value in raw.items() if key != "model_type"}))
        except Exception:  # a random config that the library does not take
            continue
        for path, inner in _sub_configs(config, ""):
            for class_name, cls in _classes(inner).items():
                if (found := _compare(raw, path, inner, class_name, cls)) is not None:
                    yield found


def _compare(raw: dict[str, Any], path: str, inner: Any, class_name: str, cls: Any) -> Inner | None:
    """Return ours beside theirs; None where the live class refuses, or where another sub-config of the type is the one that is counted."""
    torch, _ = live._libraries()
    safe = import_module("transformers.initialization").meta_device_safe_creation_ops()
    try:
        with torch.device("meta"), safe, torch.no_grad():
            theirs = sum(tensor.numel() for tensor in cls(copy.deepcopy(inner)).parameters())
    except Exception:  # values that its own class refuses
        return None
    try:
        built_from = builders_in(raw, class_name)
        if built_from and built_from[0] != path and path in built_from:
            return None
        ours = model(raw, class_name).count().unique
        assert isinstance(ours, int)
        return Inner(raw, path, class_name, theirs, ours)
    except WeighbridgeError as error:
        return Inner(raw, path, class_name, theirs, str(error))


def _sub_configs(config: Any, path: str) -> Iterator[tuple[str, Any]]:
    for key in type(config).sub_configs:
        inner = getattr(config, key, None)
        if hasattr(inner, "sub_configs"):
            yield path + key, inner
            yield from _sub_configs(inner, f"{path}{key}.")


def _classes(config: Any) -> dict[str, Any]:
    """Return the models that are built from configs of this very class."""
    try:
        modules = live.modules(config.model_type)
    except live.RefusedError:
        return {}
    base = import_module("transformers").PreTrainedModel
    found = [
        (name, cls)
        for module in modules
        for name, cls in vars(module).items()
        if inspect.isclass(cls) and cls.__module__ == module.__name__
    ]
    return {
        name: cls
        for name, cls in found
        if issubclass(cls, base) and vars(cls).get("config_class", getattr(cls, "config_class", None)) is type(config) and _is_whole(name)
    }


def _is_whole(name: str) -> bool:
    """Say whether a class is a model: the common base of a type's classes is none, though one model of Qwen2-VL is named like one."""
    return not name.endswith(("PreTrainedModel", "PretrainedModel", "PretrainedBartModel")) or name.endswith(
        "VisionTransformerPretrainedModel"
    )


def _config_class(name: str) -> Any:
    try:
        return live.config_class(name)
    except live.RefusedError:
        return None


def record(outer: str, found: list[Inner]) -> None:
    """Write what the live classes have into a type's line of the file, in place of what stood there."""
    entries = {entry["type"]: entry for entry in read()} if PATH.exists() else {}
    configs: list[dict[str, Any]] = []
    for one in found:
        if one.raw not in configs:
            configs.append(one.raw)
    cases = [[configs.index(one.raw), one.class_name, one.live] for one in found if one.ours == one.live]
    entries[outer] = {"type": outer, "configs": configs, "cases": cases}
    PATH.write_text("".join(json.dumps(entries[key], separators=(",", ":")) + "\n" for key in sorted(entries)), "utf-8")


def read() -> list[dict[str, Any]]:
    """Read what was recorded, one entry a composite type."""
    return [json.loads(line) for line in PATH.read_text("utf-8").splitlines()]


def main(types: list[str], n: int, seed: str, recording: bool) -> int:
    """Compare, print what differs and how many agree; the exit code is 1 if anything differs."""
    exact, refused, wrong = 0, 0, 0
    for outer in types or composites():
        family(outer)
        results = list(run(outer, n, seed))
        for one in results:
            exact, refused, wrong = (
                exact + (one.ours == one.live),
                refused + isinstance(one.ours, str),
                wrong + (one.ours != one.live and not isinstance(one.ours, str)),
            )
            if one.ours != one.live:
                print(f"{outer} {one.path} {one.class_name}: ours {one.ours}, live {one.live:,}  {json.dumps(one.raw)[:300]}")
        if recording and results:
            record(outer, results)
    print(f"{exact:,} agree, {refused:,} are refused, {wrong:,} differ")
    return int(bool(refused or wrong))
