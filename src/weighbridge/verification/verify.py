"""Does a file hold what its config says? Every tensor matches, or is listed with the reason.

The account is kept in elements: what the file holds, less what the config's class has, is the sum of what
is explained and what is not. Unexplained is only what no rule of this module accounts for, and then the
residual is not zero.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weighbridge.accounts.parameters import tally_of, unique_of
from weighbridge.config.read import CONFIG_NAMES, find_config, read_config
from weighbridge.core.errors import ReadError, SourceError, UsageError
from weighbridge.core.messages import Text
from weighbridge.load import load, place
from weighbridge.readers import as_model, read_listing, rows
from weighbridge.readers.gguf_models import config_of
from weighbridge.readers.packing import config_beside, unpack
from weighbridge.verification.alignment import align_in_any_spelling, spelling_for
from weighbridge.verification.copies import Compare, comparer
from weighbridge.verification.findings import Claim, Finding, Verification
from weighbridge.verification.tensor_match import Judge, elements
from weighbridge.verification.unmatched import explain_rest

if TYPE_CHECKING:
    from weighbridge.readers import Listing
    from weighbridge.value import ModelValue


def verify_checkpoint(
    source: object,
    config: object = None,
    model_class: str | None = None,
    overrides: Mapping[str, Any] | None = None,
    *,
    thorough: bool = False,
) -> Verification:
    """Verify a checkpoint against a config: the given one, the metadata of a GGUF file, or the config.json beside it.

    Args:
        source: A directory, a checkpoint file, or the index of a sharded one, here or elsewhere.
        config: What :func:`weighbridge.model` takes; by default a GGUF file's own metadata, or the ``config.json`` beside the weights.
        model_class, overrides: As for :func:`weighbridge.model`.
        thorough: Read both tensors of a tie that the file holds twice to the end; by default a few kilobytes are sampled.

    Raises:
        SourceError: No such file, or no config beside it.
        ReadError: A damaged file.
        ConfigError: A config that is wrong or has no blueprint.
    """
    path = place(str(source))
    if not path.exists():
        raise SourceError(Text("{source}: no such file or directory; verify needs weights", source=source), source=str(source))
    listing = read_listing(path)
    if config is None:
        config, name = _own_config(path, listing)
        described = load(config, model_class, overrides).replace(source=name)
    else:
        described = load(config, model_class, overrides)
    if described.description is None:
        raise UsageError(Text("{source}: verify needs a config to hold the file against", source=described.source))
    return verify(described, unpack(listing, config_beside(path)), str(source), comparer(path, thorough=thorough))


def _own_config(path: Path, listing: Listing) -> tuple[dict[str, Any], str]:
    """Return the config that belongs to a checkpoint, and where it was found."""
    if listing.format == "gguf" and (not path.is_dir() or not (path / "config.json").is_file()):
        try:
            return config_of(listing), "its own metadata"
        except ReadError as error:
            raise error.at(str(path)) from None
    beside = _config_beside(path)
    return read_config(beside), str(beside)


def _config_beside(path: Path) -> Path:
    folder = path if path.is_dir() else path.parent
    config = find_config(folder)
    if config is None and isinstance(folder, Path) and os.path.lexists(folder / CONFIG_NAMES[0]):
        return folder / CONFIG_NAMES[0]  # a pipe, or a link that leads nowhere: reading it says which
    if config is None:
        raise SourceError(
            Text("{path}: no config.json beside the weights; name one: weigh verify {name} CONFIG", path=path, name=path.name),
            source=str(path),
        )
    return config


def verify(described: ModelValue, listing: Listing, source: str = "", compare: Compare = lambda one, other: None) -> Verification:
    """Verify the tensors of a file against a config's class.

    Args:
        described: A model made from a config.
        listing: The tensors of the file or files.
        source: What they were read from, in words.
        compare: Compares the bytes of two tensors of the file, for ties that it holds twice; by default nothing can.

    Raises:
        UsageError: *described* was not made from a config.
    """
    if described.description is None:
        raise UsageError(Text("{source}: verify needs a config to hold the file against", source=described.source))
    actual, spelling = rows(listing), spelling_for(listing, described)
    notes = {tensor.name: tensor.note for tensor in listing.tensors if tensor.note}
    expected, aligned = align_in_any_spelling(described, actual, spelling)
    judge = Judge(expected, described.description, aligned, notes, spelling, compare)
    explained: list[Finding] = []
    unexplained: list[Finding] = []
    matched: set[str] = set()
    for targets, sources in aligned.groups:
        judge.group(targets, sources, matched, explained, unexplained)
    explain_rest(judge, described, actual, aligned, (explained, unexplained))
    tally = tally_of(described)
    found = sum(elements(row) for row in actual if row.tied_to is None)
    assert isinstance(tally.unique, int)
    return Verification(
        source,
        described.source,
        described.class_name,
        tally.unique,
        found,
        len(matched),
        sum(elements(expected[name]) for name in matched if expected[name].tied_to is None),
        tuple(explained),
        tuple(unexplained),
        claims(listing, tally.unique),
        (*described.notes, *listing.notes),
    )


def claims(listing: Listing, expected: int | None = None) -> tuple[Claim, ...]:
    """Check what a file claims about itself: bytes (``total_size``) and parameters.

    A name does not tell a frozen batch norm's gain, which is a buffer, from a parameter; a class that has *expected* ones does.
    """
    found = []
    if "total_size" in listing.metadata:
        stated = listing.metadata["total_size"]
        found.append(Claim("total_size", stated, listing.size_bytes, stated == listing.size_bytes))
    for key in ("total_parameters", "general.parameter_count"):
        if key in listing.metadata:
            stated = listing.metadata[key]
            unique = expected if expected is not None and stated == expected else unique_of(as_model(listing, ""))
            found.append(Claim(key, stated, unique, stated in (unique, listing.stored)))
    return tuple(found)
