"""Elements that convolutions and products of matrices put out in a forward of live classes, beside ours.

    python -m truth.outputs SEED [NUMBER] [TYPE ...] [--record]

Small random configs of the first class of a type and of others, in the passes and the ways in which FLOPs are compared (``truth.forward``), on the
processor or on the meta device; a product counts as often as it runs, whatever is dropped of it afterwards. ``--record`` adds the types that differ, or
that could not be compared, to those whose outputs are called an estimate, and takes those away of which six passes or more were equal and none differed.
"""

from __future__ import annotations

import json
import random
import sys
import warnings
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from truth import check, forward, live
from truth.costs import TOUCHES
from truth.draw import draw
from truth.forward import Pass
from truth.live import RefusedError
from weighbridge import Model, model
from weighbridge.accounts.flops import outputs_of
from weighbridge.accounts.outputs_trust import PATH, estimated_types
from weighbridge.blueprints import MODULES, is_remote
from weighbridge.core.errors import UsageError, WeighbridgeError

RECORD = Path(PATH)
PRODUCTS = ("mm", "addmm", "bmm", "baddbmm", "convolution", "_convolution", "addbmm", "_grouped_mm", "dot", "mv")
ENOUGH = 6
"""Equal passes from which on a type's outputs are called exact."""


def theirs(models: list[Any], lengths: Pass) -> int:
    """Return what products and convolutions put out, by the first model and the first way that runs.

    Raises:
        RefusedError: None runs.
    """
    torch: Any = import_module("torch")
    reason = RefusedError("no way to call it")
    for built in models:
        if hasattr(built, "set_experts_implementation"):
            built.set_experts_implementation("batched_mm")
        for way in (frozenset({"eager"}), frozenset({"eager", "mask", "no cache"}), frozenset[str]()):
            counter = _counter()
            try:
                if "eager" in way:
                    built.set_attn_implementation("eager")
                with built.device, torch.no_grad():
                    made = forward.call_words(built.eval(), lengths, way)
                    with counter:
                        built(**made)
            except RefusedError as error:
                reason = error
            except Exception as error:  # whatever a forward may meet
                reason = RefusedError(f"{type(error).__name__}: {' '.join(str(error).split())[:160]}")
            else:
                return int(counter.total)
    raise reason


def _counter() -> Any:
    dispatch: Any = import_module("torch.utils._python_dispatch")

    class Outputs(dispatch.TorchDispatchMode):  # type: ignore[misc]
        total = 0

        def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = operation(*args, **(kwargs or {}))
            if operation.overloadpacket.__name__ in PRODUCTS:
                self.total += result.numel()
            return result

    return Outputs()


def ours(weighed: Model, lengths: Pass) -> int:
    """Return ours; where there is no decoder beside an encoder, none is asked for.

    Raises:
        WeighbridgeError: It is refused.
    """
    try:
        return outputs_of(weighed, lengths)
    except UsageError:
        return outputs_of(weighed, lengths._replace(decoder_seq=None))


def compare_config(model_type: str, class_name: str, config: dict[str, Any]) -> list[tuple[Pass, int, int]]:
    """Return theirs and ours of every pass that both make.

    Raises:
        RefusedError: The class does not build.
        WeighbridgeError: We refuse it.
    """
    bare, weighed = live.build(model_type, class_name, config), model(config, class_name)
    models = forward.runners(bare, partial(live.build, model_type, class_name, config, "cpu"))
    found = []
    for lengths in forward.passes(bare, few=len(models) == 1):
        try:
            found.append((lengths, theirs(models, lengths), ours(weighed, lengths)))
        except (RefusedError, WeighbridgeError) as error:
            if "-v" in sys.argv:
                print(model_type, class_name, error)
    return found


def compare_types(seed: str, number: int, types: list[str]) -> int:
    """Compare random configs of every type; 1 if any differs that is called exact."""
    equal: dict[str, int] = {}
    differing: set[str] = set()
    asked = types or [name for name in MODULES if not is_remote(name)]
    for model_type in asked:
        classes = list(check.classes(model_type))
        for index in range(number if classes else 0):
            class_name = random.Random(f"{seed} {model_type} {index}").choice(classes) if index else classes[0]
            for attempt, touch in enumerate(TOUCHES[:3]):
                config = draw(f"{seed}/{index}/{attempt}", model_type, touch)
                try:
                    compared = compare_config(model_type, class_name, config)
                except (RefusedError, WeighbridgeError):
                    continue
                equal[model_type] = equal.get(model_type, 0) + sum(found == own for _, found, own in compared)
                for lengths, found, own in compared:
                    if own != found:
                        differing.add(model_type)
                        said = f"{own / found - 1 if found else 9:+.2%} {class_name} {tuple(lengths)} theirs {found:,}, ours {own:,}"
                        print(f"DIFFERS {said} {json.dumps(config)[:300]}", flush=True)
                if compared:
                    break
    unseen = {name for name in asked if not equal.get(name)} - differing
    print(f"{sum(equal.values())} passes equal, {len(differing)} types differ: {' '.join(sorted(differing))}")
    print(f"{len(unseen)} types not compared: {' '.join(sorted(unseen))}")
    if "--record" in sys.argv:
        sure = {name for name, many in equal.items() if many >= ENOUGH} - differing
        estimated = (set(json.loads(RECORD.read_text("utf-8"))) | differing | (set() if types else unseen)) - sure
        RECORD.write_text(json.dumps(sorted(estimated), indent=0) + "\n", "utf-8")
    return 1 if differing - estimated_types() else 0


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    sys.exit(
        compare_types(
            sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1, [name for name in sys.argv[3:] if not name.startswith("-")]
        )
    )
