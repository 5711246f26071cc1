"""A model with an adapter as a document and as JSON."""

from __future__ import annotations

from math import prod

from weighbridge.accounts.adapters.account import AdapterCount
from weighbridge.accounts.adapters.sites import AddedTensor, Site
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.messages import Say, mark, translator
from weighbridge.documents.document import Column, Document, Row, Table, notes
from weighbridge.documents.headline import headline
from weighbridge.documents.human import CERTAINTY, memory_size, size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from weighbridge.accounts.adapters.costs import AdapterCosts
    from weighbridge.documents.document import Block
    from weighbridge.value import ModelValue

    Derive = Callable[[Say], Iterable[Block]]

MOST_KINDS = 5_000
"""Kinds of modules that have a row of their own; no model has as many, and a file that does is not read to its end."""


def as_json(model: ModelValue, found: AdapterCount, costs: AdapterCosts | None = None) -> dict[str, Any]:
    """Return the answer of ``weigh adapters --json``.

    >>> from weighbridge import model
    >>> bert = model("bert-base-uncased")
    >>> as_json(bert, bert.adapters("lora:r=8"))["trainable"]
    294912
    """
    answer: dict[str, Any] = {
        "source": model.source,
        "class": model.class_name or None,
        "method": found.method,
        "trainable": found.trainable,
        "total": found.total,
        "saved": found.saved,
        "saved_bytes": found.saved_bytes,
        "formula": found.formula,
        "modules": _modules(found),
        "shared": [_tensor(tensor) for tensor in found.shared],
        "copies": [{"name": name, "trainable": count} for name, count in found.copies],
        "biases": found.biases,
        "trust": found.trust,
        "notes": list(found.notes),
    }
    if costs is not None:
        kept = {"activations": costs.activations, "refused": str(costs.unknown)}
        answer["memory"] = {name: getattr(costs, name) for name in MEMORY} | kept | {"trust": costs.trust}
        answer["flops"] = {"forward_matmul": costs.forward_matmul, "adapter": costs.added_matmul, "refused": str(costs.refused)}
    return answer


MEMORY = ("weights", "adapter", "gradients", "optimizer", "total")
"""What memory is told of, in the order in which it stands."""


def _modules(found: AdapterCount) -> list[dict[str, Any]]:
    """Return what each module gets; modules that get the same share one object."""
    alike: dict[tuple[object, ...], tuple[int, list[dict[str, Any]]]] = {}
    modules = []
    for site, added in found.sites:
        own = _without_path(site, added)
        if own not in alike:
            alike[own] = _count_trainable(added), [_tensor(tensor, site.path) for tensor in added]
        trainable, tensors = alike[own]
        modules.append(
            {
                "name": site.path,
                "kind": site.kind,
                "inputs": site.inputs,
                "outputs": site.outputs,
                "trainable": trainable,
                "tensors": tensors,
            }
        )
    return modules


def _without_path(site: Site, added: tuple[AddedTensor, ...]) -> tuple[object, ...]:
    """Return what a module gets with its own path cut off: equal for modules that differ only in name."""
    path = site.path
    after = len(path)
    return tuple([(tensor[0][after:] if tensor[0].startswith(path) else (tensor[0],), tensor[1:]) for tensor in added])


def _tensor(tensor: AddedTensor, path: str | None = None) -> dict[str, Any]:
    return {
        "name": tensor.name if path is None else tensor.name.removeprefix(f"{path}."),
        "shape": list(tensor.shape),
        "trainable": tensor.trainable and tensor.parameter,
        "parameter": tensor.parameter,
        "saved": tensor.saved,
    }


OWN_PARTS = ("BITFIT", "FREEZE")
"""Methods that add nothing and train parts of the model itself."""
WRITTEN = {
    "LORA": "LoRA", "ADALORA": "AdaLoRA", "DELORA": "DeLoRA", "FOURIERFT": "FourierFT", "GLORA": "GLoRA", "GRALORA": "GraLoRA", "HIRA": "HiRA",
    "LILY": "Lily", "LOHA": "LoHa", "LOKR": "LoKr", "MISS": "MiSS", "POLY": "Poly", "PVERA": "PVeRA", "RANDLORA": "RandLoRA", "ROAD": "RoAd",
    "SHIRA": "SHiRA", "TINYLORA": "TinyLoRA", "UNILORA": "Uni-LoRA", "VBLORA": "VB-LoRA", "VERA": "VeRA", "WAVEFT": "WaveFT",
    "PREFIX_TUNING": "Prefix tuning", "PROMPT_TUNING": "Prompt tuning", "P_TUNING": "P-tuning", "LN_TUNING": "LN tuning",
    "MULTITASK_PROMPT_TUNING": "Multitask prompt tuning", "ADAPTION_PROMPT": "Adaption prompts", "TRAINABLE_TOKENS": "Trainable tokens",
    "BITFIT": "BitFit", "CARTRIDGE": "Cartridge", "HOULSBY": "Houlsby's adapters", "FREEZE": mark("Frozen modules"),
}  # fmt: skip
"""Methods as their papers write them, where that is not the name PEFT has for them."""


def _count_trainable(added: tuple[AddedTensor, ...]) -> int:
    return sum([prod(shape) for _, shape, is_trained, is_parameter, _, _ in added if is_trained and is_parameter])


def document(
    model: ModelValue,
    found: AdapterCount,
    lang: str = "en",
    derive: Derive | None = None,
    costs: AdapterCosts | None = None,
    *,
    types: str = "",
) -> Document:
    """Return the document of ``weigh adapters``: the four figures, what each kind of module gets, what it takes, and, with *derive*, why.

    Args:
        types: The type or the scheme that the base is held in, where it is one for all of it.
    """
    say = translator(lang)
    base = found.total - sum([prod(shape) for _, added in found.sites for _, shape, _, is_parameter, _, _ in added if is_parameter])
    base -= sum(tensor.count for tensor in found.shared if tensor.parameter) + sum(count for _, count in found.copies)
    figures = {name: f"{getattr(found, name):,}" for name in ("trainable", "total", "saved", "saved_bytes")}
    share = _share(found.trainable, found.total)
    texts = (
        say("{method}: {trainable} of {total} parameters are trainable ({share}); the model alone has {base}.").format(
            method=say(WRITTEN.get(found.method, found.method)), share=share, base=f"{base:,}", **figures
        ),
        say("Saved: {saved} elements, {saved_bytes} bytes ({size}).").format(size=size(found.saved_bytes), **figures),
        say_formula(found, say),
        *map(say, found.notes),
        *(_remarks(costs, types, say) if costs is not None else ()),
    )
    figure = say("{trainable} trainable parameters").format(**figures)
    derived = derive(say) if derive is not None else ()
    return Document(headline(model, say), figure, (_table(found, say), *derived, *notes(texts)), lang)


def say_formula(found: AdapterCount, say: Say) -> str:
    """Say what a method adds, to a linear layer or to the model."""
    formula = found.formula.replace("*", " × ").replace("inputs", say("inputs")).replace("outputs", say("outputs"))
    if found.sites:
        return say("Added to each linear layer: {formula}.").format(formula=formula)
    if found.method in OWN_PARTS:
        return say("Trained: {formula}.").format(formula=say(found.formula))
    return say("Added: {formula}.").format(formula=formula)


def say_own_parts(found: AdapterCount, say: Say) -> str:
    """Say what of the model itself is trained: its biases, or what a method leaves unfrozen."""
    return say("parts of the model that are not frozen") if found.method == "FREEZE" else say("biases of the model")


def _remarks(costs: AdapterCosts, types: str, say: Say) -> Iterator[str]:
    """Yield what training takes, and the arithmetic where it is known."""
    base = say("the base model in {types}").format(types=types) if types else say("the base model")
    yield say(
        "Training takes {size} without activations: {total} bytes, of them {weights} for {base} ({trust}), {adapter} for the adapter,"
        " {gradients} for gradients, {optimizer} for the optimizer."
    ).format(
        base=base,
        size=memory_size(costs.total, say),
        trust=say(CERTAINTY[costs.trust["weights"]]),
        **{name: f"{getattr(costs, name):,}" for name in MEMORY},
    )
    if costs.activations is not None:
        yield say("Activations kept for the backward pass, loss included: {size}, {activations} bytes ({trust}; SDPA, no dropout).").format(
            size=memory_size(costs.activations, say), activations=f"{costs.activations:,}", trust=say(CERTAINTY[costs.trust["activations"]])
        )
    if costs.forward_matmul is not None:
        yield say("One forward pass: {forward} FLOPs in matrix products, {added} of them in the adapter.").format(
            forward=f"{costs.forward_matmul:,}", added=f"{costs.added_matmul:,}"
        )


def _share(part: int, whole: int) -> str:
    """Return a share in percent with four digits behind the point, as the library prints it.

    >>> _share(294912, 109777152)
    '0.2686%'
    """
    scaled = (part * 2_000_000 + whole) // (2 * whole) if whole else 0
    return f"{scaled // 10_000}.{scaled % 10_000:04}%"


def _table(found: AdapterCount, say: Say) -> Table:
    """Return what each kind of module gets: modules that differ by their layer alone share one row."""
    rows = [
        Row((f"{path} × {len(members)}" if len(members) > 1 else path, str(list(members[0][0].shape)), _shapes(*members[0]), _sum(members)))
        if path
        else Row((say("{count} modules of other kinds").format(count=f"{len(members):,}"), "", "", _sum(members)))
        for path, members in kinds(found, MOST_KINDS)
    ]
    own = tuple(tensor for tensor in found.shared if tensor.trainable and tensor.parameter)
    rows += [Row((tensor.name, "", str(list(tensor.shape)), tensor.count)) for tensor in own]
    rows += [Row((name, "", say("trained and saved whole"), count)) for name, count in found.copies]
    if found.biases:
        rows.append(Row((say_own_parts(found, say), "", "", found.biases)))
    columns = (Column(say("module")), Column(say("shape")), Column(say("added")), Column(say("trainable"), "integer"))
    return Table(columns, tuple(rows))


def kinds(found: AdapterCount, most: int | None = None) -> Iterator[tuple[str, list[tuple[Site, tuple[AddedTensor, ...]]]]]:
    """Yield the adapted modules by kind: a name for all, and the modules, which differ by their layer alone.

    Of more than *most* kinds, what is left comes last, together and without a name.
    """
    import re

    number = re.compile(r"(?<=\.)\d+(?=\.|$)")
    groups: dict[tuple[str, tuple[int, ...], str], list[tuple[Site, tuple[AddedTensor, ...]]]] = {}
    rest: list[tuple[Site, tuple[AddedTensor, ...]]] = []
    known: set[str] = set()
    written: dict[tuple[object, ...], str] = {}  # of a hundred thousand modules few differ in what they get
    for member in found.sites:
        path = number.sub("*", member[0].path)
        if most is not None and len(groups) >= most and path not in known:
            rest.append(member)
            continue
        known.add(path)
        own = _without_path(*member)
        if own not in written:
            written[own] = _shapes(*member)
        groups.setdefault((path, member[0].shape, written[own]), []).append(member)
    for (path, _, _), members in groups.items():
        yield path if len(members) > 1 else members[0][0].path, members
    if rest:
        yield "", rest


def _sum(members: Iterable[tuple[Site, tuple[AddedTensor, ...]]]) -> int:
    return sum([prod(shape) for _, added in members for _, shape, is_trained, is_parameter, _, _ in added if is_trained and is_parameter])


def _shapes(site: Site, added: tuple[AddedTensor, ...]) -> str:
    return ", ".join(
        f"{tensor.name.removeprefix(site.path + '.').removesuffix('.weight')} {list(tensor.shape)}" for tensor in added if tensor.saved
    )
