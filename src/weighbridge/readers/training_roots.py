"""The directories that DeepSpeed and Megatron-LM write: one file for each rank, under a folder for each step.

A model on one rank is read from that rank's file. Of DeepSpeed's ZeRO 3 every rank's file names the full shapes of all parameters. Files of several tensor- or
pipeline-parallel ranks are joined (``readers.parallel_ranks``). What does not say how its pieces are joined is refused, with the tool that joins them.

Source: deepspeed/runtime/engine.py (``_get_ckpt_name``, ``_save_checkpoint``), deepspeed/utils/zero_to_fp32.py (``parse_model_states``);
megatron/training/checkpointing.py (``get_checkpoint_name``, ``get_checkpoint_tracker_filename``)
"""

from __future__ import annotations

import re
from pathlib import Path

from weighbridge.core.errors import ReadError
from weighbridge.core.files import read_whole
from weighbridge.core.messages import Text
from weighbridge.readers.expert_ranks import WAY
from weighbridge.readers.formats import read_file
from weighbridge.readers.listing import Listing
from weighbridge.readers.parallel_ranks import Place, join, of_experts_alone
from weighbridge.readers.text import make_printable

TRACKERS = ("latest", "latest_checkpointed_iteration.txt")
"""Files that name the folder of the last step."""

ORBAX = "_CHECKPOINT_METADATA"
"""A file in each step's folder of Orbax' manager, which is called by the step's number."""

_RANKS = re.compile(r"(?P<zero>zero_pp_rank_\d+_)?mp_rank_(?P<rank>\d\d)(_(?P<stage>\d\d\d))?(_(?P<experts>\d\d\d))?(_model_states\.pt)?")
_PIECES = re.compile(r"layer_\d+(_expert_\d+_mp_rank_\d\d)?(-model_\d\d)?[-_]model_states\.pt")
_STEP = re.compile(r"[\w.-]{1,100}")


def step_folder(folder: Path) -> Path | None:
    """Return the folder of the last step, if this is the root of a training of DeepSpeed, Megatron or Orbax."""
    for name in TRACKERS:
        path = folder / name
        if path.is_file() and path.stat().st_size <= 100:
            word = read_whole(path, 100).decode("utf-8", "replace").strip()
            step = f"iter_{int(word):07}" if word.isdecimal() and word.isascii() else word
            if _STEP.fullmatch(step) and step not in (".", "..") and (folder / step).is_dir():
                return folder / step
    steps = [path for path in folder.iterdir() if path.name.isdecimal() and path.name.isascii() and (path / ORBAX).is_file()]
    return max(steps, key=lambda path: (len(path.name), path.name), default=None)


def rank_files(folder: Path) -> list[Path]:
    """Return the files of the ranks in the folder of a step; none if it is no such folder."""
    names = {path.name: path for path in folder.iterdir()}
    found = []
    for name, path in sorted(names.items()):
        match = _RANKS.fullmatch(name)
        if match and name.endswith(".pt"):
            found.append(path)
        elif match and match["zero"] is None and (path / "model_optim_rng.pt").is_file():
            found.append(path / "model_optim_rng.pt")
    return found


def list_ranks(folder: Path, files: list[Path]) -> Listing:
    """List the model in the files of the ranks of one step.

    Raises:
        ReadError: Several tensor- or pipeline-parallel ranks, or pieces that no file names together.
    """
    ranks = _places(files)
    if any(place[2] for place in ranks) or any(_match(path)["experts"] for path in files):
        return join(folder, ranks)
    if len(ranks) > 1 and any(_match(path)["zero"] for path in files):
        raise ReadError(Text("ZeRO 3 on {count} tensor-parallel ranks: {way}", count=len(ranks), way=WAY), path=str(folder))
    pieces = [path.name for path in folder.iterdir() if _PIECES.fullmatch(path.name)]
    if pieces:
        raise ReadError(
            Text("{count} files hold layers or experts apart, {first} among them: {way}", count=len(pieces), first=min(pieces), way=WAY),
            path=str(folder),
        )
    if len(ranks) > 1:
        return join(folder, ranks)
    listing = read_file(files[0])
    return listing._replace(
        notes=(*listing.notes, Text("read from {file} in {folder}", file=files[0].name, folder=make_printable(folder.name)))
    )


def _match(path: Path) -> re.Match[str]:
    """Return the match of a rank's file, or of the folder it is in."""
    match = _RANKS.fullmatch(path.name) or _RANKS.fullmatch(path.parent.name)
    assert match is not None
    return match


def _places(files: list[Path]) -> dict[Place, Path]:
    """Return the files by tensor-parallel rank, pipeline stage and expert-parallel rank; of those that ZeRO makes for each data-parallel rank the first.

    Megatron writes the stage only where there are several, and then the number behind the first is that of the experts.
    """
    places: dict[Place, Path] = {}
    for path in files:
        match = _match(path)
        places.setdefault((int(match["rank"]), int(match["stage"] or 0), int(match["experts"] or 0)), path)
    if len(places) > 1 and not any(place[2] for place in places) and of_experts_alone(next(iter(places.values()))):
        return {(rank, 0, stage): path for (rank, stage, _), path in places.items()}
    return places
