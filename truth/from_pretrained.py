"""What loading makes of a class, held to ``from_pretrained``: ``python -m truth.from_pretrained [TYPE...] [--n N] [--seed S]``.

A small live model is saved with random values, in the layouts that published files have: every tensor under the library's own names, the
tensors of a tie with values of their own (all of them, or one), without what is tied, the base model alone (its head is then made anew), with
``gamma`` and ``beta``, in shards, as ``save_pretrained`` writes it. Each is loaded again by the live class, and what it then has is to be
what ``verify`` says of the file; where the config says that nothing is tied and the file has a head of its own, also what
``counts`` says of the config alone.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from truth import live
from truth.check import _configs, classes
from truth.forward import SMALL
from weighbridge.blueprints import MODULES, is_remote
from weighbridge.conventions.loading import loading_of
from weighbridge.core.errors import WeighbridgeError
from weighbridge.load import load
from weighbridge.verification.verify import verify_checkpoint

SHARD = "100KB"
MATRICES = "matrices of ties broken"
ARGUMENTS = {"add_pooling_layer"}
"""Arguments of classes that stand beside the fields of a config here."""


def layouts(model: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the layouts of a live model's tensors, by what is special in them."""
    state = {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}
    owner = {name: line.tied_to for name, line in ((line.name, line) for line in live.listing(model).parameters) if line.tied_to}
    yield "own names", state
    if owner:
        yield "ties broken", {name: tensor + 1 if name in owner else tensor for name, tensor in state.items()}
        yield MATRICES, {name: tensor + 1 if name in owner and tensor.dim() > 1 else tensor for name, tensor in state.items()}
        yield "without what is tied", {name: tensor for name, tensor in state.items() if name not in owner}
        for one in list(owner)[:2] if len(owner) > 1 else ():
            yield f"{one} broken", {name: tensor + 1 if name == one else tensor for name, tensor in state.items()}
    prefix = model.base_model_prefix + "."
    base = {name.removeprefix(prefix): tensor for name, tensor in state.items() if name.startswith(prefix)}
    if base and len(base) < len(state):
        yield "base model alone", base
    if any(name.endswith("LayerNorm.weight") for name in state):
        yield (
            "gamma and beta",
            {
                name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): tensor
                for name, tensor in state.items()
            },
        )


def files(model: Any, folder: Path) -> Iterator[str]:
    """Write one layout after another into *folder*, and yield its name."""
    save = import_module("safetensors.torch").save_file
    for title, state in layouts(model):
        save({name: tensor.contiguous() for name, tensor in state.items()}, folder / "model.safetensors", {"format": "pt"})
        yield title
    (folder / "model.safetensors").unlink()
    model.save_pretrained(folder, max_shard_size=SHARD)
    yield "as saved, in shards"


def count_loaded(cls: Any, folder: Path) -> int:
    """Count what the live class has once it is loaded."""
    return sum(tensor.numel() for tensor in cls.from_pretrained(folder).parameters())


def failures(model_type: str, class_name: str, n: int, seed: str) -> Iterator[str | None]:
    """Yield, for each file of random configs of a class, in what we differ from the live class, or None."""
    for raw, meta in _configs(model_type, class_name, n, seed, default=False):
        if isinstance(meta, live.RefusedError) or sum(tensor.numel() for tensor in meta.parameters()) > SMALL:
            continue
        if ARGUMENTS & raw.keys():
            continue  # an argument of the class, which no config.json keeps
        try:
            real = live.build(model_type, class_name, raw, "cpu")
        except live.RefusedError:
            continue
        torch = import_module("torch")
        with torch.no_grad():
            for tensor in real.parameters():
                tensor.uniform_(-1, 1)
        with TemporaryDirectory() as name:
            folder = Path(name)
            real.config.save_pretrained(folder)
            for title in files(real, folder):
                yield from _differences(type(real), folder, class_name, title, raw)


def _differences(cls: Any, folder: Path, class_name: str, title: str, raw: dict[str, Any]) -> Iterator[str | None]:
    try:
        theirs = count_loaded(cls, folder)
    except Exception as error:  # whatever a file may provoke in there
        print(f"{class_name}: {title}: does not load: {' '.join(str(error).split())[:120]}", flush=True)
        return
    try:
        found = verify_checkpoint(folder, model_class=class_name)
    except WeighbridgeError as error:
        yield f"{class_name}: {title}: {error} for {raw}"
        return
    ours = found.loaded or found.expected
    yield None if ours == theirs else f"{class_name}: {title}: verify {ours:,}, live {theirs:,} for {raw}"
    if title not in ("base model alone",):
        wrong = f"residual {found.residual:,}: {found.unexplained[:3]}"
        yield None if found.holds else f"{class_name}: {title}: {wrong} for {raw}"
    if title == MATRICES:
        said = loading_of(load(str(folder / "config.json"), class_name))
        if said is not None and said.separate:
            yield None if said.loaded == theirs else f"{class_name}: {title}: counts {said.loaded:,}, live {theirs:,} for {raw}"


def main() -> int:
    """Compare, print what differs, and return 1 if anything does."""
    parser = argparse.ArgumentParser("python -m truth.from_pretrained", description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("types", nargs="*", help="model types; all that have a blueprint if none is named")
    parser.add_argument("--n", type=int, default=2, help="random configs per class")
    parser.add_argument("--seed", default="loaded")
    options = parser.parse_args()
    import_module("transformers.utils.logging").disable_progress_bar()
    held = failed = 0
    for model_type in options.types or [name for name in MODULES if not is_remote(name)]:
        for class_name in classes(model_type):
            for failure in failures(model_type, class_name, options.n, options.seed):
                held, failed = held + (failure is None), failed + (failure is not None)
                if failure:
                    print(failure[:600], flush=True)
    print(f"{held:,} comparisons agree, {failed:,} do not")
    return 1 if failed or not held else 0


if __name__ == "__main__":
    sys.exit(main())
