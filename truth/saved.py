"""Hold ``--names checkpoint`` and ``verify`` to files that the reference library saves: ``python -m truth names [TYPES] [--n N]``.

A small live model of every class is saved with ``save_pretrained``, and the header of the file is read with our reader: the names and
shapes are to be those of ``Model.tensors("checkpoint")``. One that was not loaded is saved without the prefixes that
towers have in published files; a file with them is to load without a tensor too many or too few, and to be saved with them again.
Verified against the blueprint of the same config, every element of these files, and of one with the library's own
names, must be matched or explained.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import weighbridge
from truth import live
from truth.check import _configs, classes
from truth.forward import SMALL
from truth.live import RefusedError
from weighbridge.api.model import Model
from weighbridge.core.errors import WeighbridgeError
from weighbridge.readers import Listing, StoredTensor, read_listing
from weighbridge.readers.module import DTYPES
from weighbridge.verification.checkpoint_names import saved_rows
from weighbridge.verification.verify import verify

Named: TypeAlias = frozenset[tuple[str, tuple[Any, ...]]]
"""Names and shapes."""


def written_file(model_type: str, class_name: str, raw: dict[str, Any], model: Any, described: Model) -> tuple[Listing, str | None]:
    """Return the tensors of the file that the library writes, and what it says to one with the prefixes of towers, if there are any.

    Of a large model, and of one that builds without values alone, those that it would write.
    """
    small = sum(tensor.numel() for tensor in model.parameters()) <= SMALL
    try:
        real = live.build(model_type, class_name, raw, "cpu") if small else None
    except RefusedError:
        real = None
    if real is None:
        return listing(import_module("transformers.core_model_loading").revert_weight_conversion(model, untied_state(model))), None
    with TemporaryDirectory() as folder:
        real.save_pretrained(folder)
        found = read_listing(Path(folder))
        return found, reload(type(real), Path(folder), described) if name_rows(described) != name_rows(described, towers=False) else None


def reload(cls: Any, folder: Path, described: Model) -> str | None:
    """Say what the library lacks, or finds too much, in a file with our names, and which others it gives it when it saves it again."""
    torch = import_module("torch")
    ours = {name: torch.zeros(shape) for name, shape in name_rows(described)}
    import_module("safetensors.torch").save_file(ours, folder / "model.safetensors", {"format": "pt"})
    model, found = cls.from_pretrained(folder, output_loading_info=True)
    wrong = {kind: sorted(names)[:3] for kind, names in found.items() if names}
    if wrong:
        return f"does not load: {wrong}"
    model.save_pretrained(folder)
    again = names(read_listing(folder))
    return None if again == name_rows(described) else f"saved again: {sorted(again ^ name_rows(described))[:3]}"


def untied_state(model: Any) -> dict[str, Any]:
    """Return a model's state dict as it is saved, under the library's own names."""
    state = {name: tensor for name, tensor in model.state_dict().items() if name not in (model._keys_to_ignore_on_save or ())}
    kept: dict[str, Any] = import_module("transformers.modeling_utils").remove_tied_weights_from_state_dict(state, model)
    return kept


def listing(state: dict[str, Any]) -> Listing:
    """Return a state dict as a file's tensors."""
    return Listing(
        "saved", tuple(StoredTensor(name, DTYPES.get(str(value.dtype)[6:], ""), tuple(value.shape), 0) for name, value in state.items())
    )


def file_with_our_names(described: Model) -> Listing:
    """Return a file with our names."""
    return Listing("saved", tuple(StoredTensor(name, "F32", shape, 0) for name, shape in sorted(name_rows(described))))


def name_rows(described: Model, towers: bool = True) -> Named:
    """Return our names and shapes of what a file has, with or without the prefixes that towers have in published files."""
    assert described.description
    rows = saved_rows(described.tensors(), described.description, described.class_name, towers)
    return frozenset((row.name, row.shape) for row in rows if row.tied_to is None)


def names(one: Listing) -> Named:
    """Return the names and shapes of a file's tensors."""
    return frozenset((tensor.name, tensor.shape) for tensor in one.tensors)


def failures(model_type: str, class_name: str, n: int, seed: str) -> Iterator[str | None]:
    """Yield, for each config and each set of names, what does not agree, or None."""
    for index, (raw, model) in enumerate(_configs(model_type, class_name, n, seed)):
        if isinstance(model, RefusedError) or (index == 0 and n):
            continue
        try:
            described = weighbridge.model({**raw, "model_type": model_type}, class_name)
            file, wrong = written_file(model_type, class_name, raw, model, described)
            files = {"file": file, "own names": listing(untied_state(model)), "published": file_with_our_names(described)}
        except (WeighbridgeError, RuntimeError, ValueError, KeyError, NotImplementedError) as error:
            yield f"{class_name}: {type(error).__name__}: {' '.join(str(error).split())[:300]} for {raw}"
            continue
        ours, theirs = name_rows(described, towers=False), names(file)
        only = f"only ours {sorted(ours - theirs)[:3]}, only in the file {sorted(theirs - ours)[:3]}"
        yield None if ours == theirs else f"{class_name}: names: {only} for {raw}"
        yield wrong and f"{class_name}: {wrong} for {raw}"
        for title, one in {names(one): (title, one) for title, one in files.items()}.values():
            found = verify(described, one)
            yield None if found.holds else f"{class_name}: {title}: residual {found.residual:,}, {found.unexplained[:3]} for {raw}"


def compare_classes(types: list[str], n: int, seed: str) -> int:
    """Check every class of some types; the exit code is 1 if anything is unexplained."""
    held = failed = 0
    for model_type in types:
        for class_name in classes(model_type):
            for failure in failures(model_type, class_name, n, seed):
                held, failed = held + (failure is None), failed + (failure is not None)
                if failure:
                    print(failure[:900], flush=True)
    print(f"{held:,} comparisons agree, {failed:,} do not")
    return 1 if failed or not held else 0
