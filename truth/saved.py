"""Hold ``verify`` to the files that the reference library would save: ``python -m truth.saved [TYPES] [--n N]``.

For random configs of every class the live model's state dict is taken, ties left out and names and fusions turned back to those of
published files (``revert_weight_conversion``). Verified against the blueprint of the same config, every element must be matched or explained.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import weighbridge
from truth.check import _configs, classes
from truth.live import RefusedError
from weighbridge.blueprints import MODULES, is_remote
from weighbridge.errors import WeighbridgeError
from weighbridge.proofs.verify import verify
from weighbridge.readers import Listing, Stored
from weighbridge.readers.module import DTYPES


def saved(model: Any) -> tuple[Listing, Listing]:
    """Return the tensors that the reference saves of a live model: under published names, and under its own."""
    state = dict(model.state_dict())
    for name in getattr(model, "all_tied_weights_keys", None) or {}:
        state.pop(name, None)
    published = import_module("transformers.core_model_loading").revert_weight_conversion(model, dict(state))
    return _listing(published), _listing(state)


def _listing(state: dict[str, Any]) -> Listing:
    return Listing(
        "saved", tuple(Stored(name, DTYPES.get(str(value.dtype)[6:], ""), tuple(value.shape), 0) for name, value in state.items())
    )


def failures(model_type: str, class_name: str, n: int, seed: str) -> Iterator[str | None]:
    """Yield, for each config and each set of names, what verify could not explain, or None."""
    for index, (raw, live) in enumerate(_configs(model_type, class_name, n, seed)):
        if isinstance(live, RefusedError) or index == 0:
            continue
        try:
            described = weighbridge.model({**raw, "model_type": model_type}, class_name)
            files = saved(live)
        except (WeighbridgeError, RuntimeError, ValueError, KeyError) as error:
            yield f"{class_name}: {error} for {raw}"
            continue
        for listing in files:
            found = verify(described, listing)
            yield None if found.holds else f"{class_name}: residual {found.residual:,}, {found.unexplained[:3]} for {raw}"


def main(arguments: list[str] | None = None) -> int:
    """Check every class; the exit code is 1 if anything is unexplained."""
    parser = argparse.ArgumentParser("python -m truth.saved", description="verify against the files that the reference library would save")
    parser.add_argument("types", nargs="*", help="model types; all that have a blueprint if none is named")
    parser.add_argument("--n", type=int, default=1, help="random configs per class")
    parser.add_argument("--seed", default="saved")
    options = parser.parse_args(arguments)
    held = failed = 0
    for model_type in options.types or [name for name in MODULES if not is_remote(name)]:
        for class_name in classes(model_type):
            for failure in failures(model_type, class_name, options.n, options.seed):
                held, failed = held + (failure is None), failed + (failure is not None)
                if failure:
                    print(failure[:600])
    print(f"{held:,} files verified, {failed:,} not")
    return 1 if failed or not held else 0


if __name__ == "__main__":
    sys.exit(main())
