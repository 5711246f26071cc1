"""Elements that convolutions and products of matrices put out in a forward of live classes, beside ours.

    python -m truth.outputs SEED [NUMBER] [TYPE ...] [--record]

Small random configs of the first class of a type and of others, eager attention, on the processor; a product counts as often as it runs, whatever
is dropped of it afterwards. ``--record`` adds the types that differ, or that could not be compared, to those whose outputs are called an estimate.
"""

from __future__ import annotations

import json
import random
import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

from truth import check
from truth.costs import TOUCHES, small
from truth.draw import draw
from truth.forward import Pass, inputs
from truth.live import RefusedError
from weighbridge import model
from weighbridge.accounts.flops import outputs_of
from weighbridge.accounts.inputs import Inputs
from weighbridge.accounts.outputs_trust import PATH, estimated_types
from weighbridge.blueprints import MODULES, is_remote
from weighbridge.core.errors import UsageError, WeighbridgeError

RECORD = Path(PATH)
PRODUCTS = ("mm", "addmm", "bmm", "baddbmm", "convolution", "_convolution", "addbmm", "_grouped_mm", "dot", "mv")


def theirs(model_type: str, class_name: str, config: dict[str, Any], lengths: Pass) -> int:
    """Return what products and convolutions put out.

    Raises:
        RefusedError: The class does not build or run.
    """
    torch: Any = import_module("torch")
    dispatch: Any = import_module("torch.utils._python_dispatch")
    built = small(model_type, class_name, config)
    if sum(parameter.numel() for parameter in built.parameters()) > 2_000_000:
        raise RefusedError("large")
    total = 0

    class Outputs(dispatch.TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            nonlocal total
            result = operation(*args, **(kwargs or {}))
            if operation.overloadpacket.__name__ in PRODUCTS:
                total += result.numel()
            return result

    try:
        if hasattr(built, "set_experts_implementation"):
            built.set_experts_implementation("batched_mm")
        built.set_attn_implementation("eager")
        with torch.no_grad(), Outputs():
            built.eval()(**inputs(built, lengths))
    except RefusedError:
        raise
    except Exception as error:  # whatever a forward may meet
        raise RefusedError(f"{type(error).__name__}: {' '.join(str(error).split())[:160]}") from error
    return total


def ours(class_name: str, config: dict[str, Any]) -> int:
    """Return ours; where there is no decoder beside an encoder, none is asked for.

    Raises:
        WeighbridgeError: It is refused.
    """
    weighed = model(config, class_name)
    try:
        return outputs_of(weighed, Inputs(batch=2, seq=7, decoder_seq=5))
    except UsageError:
        return outputs_of(weighed, Inputs(batch=2, seq=7))


def compare_types(seed: str, number: int, types: list[str]) -> int:
    """Compare random configs of every type; 1 if any differs."""
    equal = wrong = 0
    compared: set[str] = set()
    differing: set[str] = set()
    asked = types or [name for name in MODULES if not is_remote(name)]
    for model_type in asked:
        classes = list(check.classes(model_type))
        for index in range(number if classes else 0):
            class_name = random.Random(f"{seed} {model_type} {index}").choice(classes) if index else classes[0]
            for attempt, touch in enumerate(TOUCHES[:3]):
                config = draw(f"{seed}/{index}/{attempt}", model_type, touch)
                try:
                    found = theirs(model_type, class_name, config, Pass(2, 7, 5))
                    own = ours(class_name, config)
                except (RefusedError, WeighbridgeError) as error:
                    if "-v" in sys.argv:
                        print(model_type, error)
                    continue
                except Exception as error:
                    print("ERROR", model_type, type(error).__name__, error)
                    continue
                equal += own == found
                compared.add(model_type)
                if own != found:
                    wrong += 1
                    differing.add(model_type)
                    print(
                        f"DIFFERS {own / found - 1 if found else 9:+.2%} {class_name} theirs {found:,}, ours {own:,} {json.dumps(config)[:300]}",
                        flush=True,
                    )
                break
    unseen = set(asked) - compared
    print(f"{equal} equal, {wrong} wrong; not compared: {' '.join(sorted(unseen))}")
    if "--record" in sys.argv:
        estimated = sorted(differing | (unseen if not types else set()) | set(json.loads(RECORD.read_text("utf-8"))))
        RECORD.write_text(json.dumps(estimated, indent=0) + "\n", "utf-8")
    return 1 if differing - estimated_types() else 0


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    sys.exit(
        compare_types(
            sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1, [name for name in sys.argv[3:] if not name.startswith("-")]
        )
    )
