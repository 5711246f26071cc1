"""What a figure of memory or arithmetic work may be, by all that its passage says: weights, what training keeps, ZeRO's shares, caches, FLOPs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from weighbridge.auditing.byte_thresholds import MEMORY_FAR, NAMED_FAR, NEEDED_FAR, NOMINAL_FAR, PACKED_FAR, TOTAL_FAR, WEIGHTS_FAR
from weighbridge.auditing.checks.dtypes import dtype_sizes
from weighbridge.auditing.checks.own_counts import own_count
from weighbridge.auditing.checks.quantity_caches import possible_cache
from weighbridge.auditing.checks.quantity_subjects import NOTHING, Part, Possible, counts_of, models_of
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.quantities import Quantity
from weighbridge.core._namedtuple import NamedTuple

_STATES = {"gradients": (2, 4), "optimizer": (12, 8, 4, 2, 16), "master": (4,), "moment": (4, 2), "moments": (8, 4)}
"""Bytes for each parameter that training keeps, in mixed and in full precision."""
_ALL = (16, 18, 20, 12, 8)
_SHARDED = ((2, 2, 12), (2, 4, 12), (4, 4, 8), (2, 2, 8), (2, 2, 4))
"""Bytes for each parameter of weights, gradients and optimizer, as people count them where ZeRO divides them."""
_NEED = pattern(r"\bneed|\brequir|需要|得要|(?<![只就])要", re.IGNORECASE)
"""Verbs by which a figure may be what a machine must have, which is more than the weights."""
_REQUEST = pattern(r"\brequests?\b|\bsequences?\b|请求|序列", re.IGNORECASE)
_FORWARD = pattern(r"forward|inference|generat|decod|推理|前向|生成", re.IGNORECASE)
_USUAL = (Fraction(4), Fraction(2), Fraction(1), Fraction(1, 2))
_LARGEST = 4
_MACS = (2, 1)


def possible_of(scene: Scene, quantity: Quantity, rates: Sequence[Fraction], parts: Sequence[Part]) -> Possible:
    """Return what a figure may be.

    Args:
        rates: The bytes of one token that the passage has said before.
        parts: The figures before, of which this may be the sum.
    """
    if quantity.kind == "work":
        return _work(scene, quantity)
    words = quantity.words
    if "activations" in words:
        return NOTHING
    of_tokens = bool(words & {"per", "length", "batch"})
    of_tokens = of_tokens or (quantity.cached and "layers" in words)  # ``over 61 layers this is 70,272 bytes``
    kept = words & _STATES.keys() or words & {"weights", "states", "train", "zero", "total"}
    of_tokens = of_tokens or (quantity.cached and _REQUEST.search(quantity.clause) is not None)
    if "cache" in words or (quantity.cached and of_tokens and not kept):
        return NOTHING if "weights" in words else possible_cache(scene, quantity, rates)
    counts = counts_of(scene, quantity.subject)
    if "total" in words and not words & (_STATES.keys() | {"weights", "zero", "each"}) and not of_tokens:
        return _total(quantity, counts, parts)
    return _parameters(quantity, counts) if counts and not of_tokens else NOTHING


def _total(quantity: Quantity, counts: Sequence[Fraction], parts: Sequence[Part]) -> Possible:
    """Return what the figures before come to together, as they are said and as they should be, and what training keeps."""
    sums = [sum((part.said for part in parts), Fraction(0)), sum((part.right for part in parts), Fraction(0))] if len(parts) > 1 else []
    rates = [quantity.rate] if quantity.rate is not None else [Fraction(size) for size in _ALL]
    whole = [count * rate for rate in rates for count in counts] if quantity.trained else []
    nominal = quantity.subject is not None and quantity.subject.parameters is not None
    return Possible([*sums[::-1], *whole], bool(sums) or (bool(whole) and quantity.rate is not None), TOTAL_FAR, TOTAL_FAR, nominal)


def _parameters(quantity: Quantity, counts: Sequence[Fraction]) -> Possible:
    """Return the bytes that parameters may take, and all that training keeps beside them."""
    words, nominal = quantity.words, quantity.subject is not None and quantity.subject.parameters is not None
    exact = not nominal or counts[0] % _TENTH  # ``46.75B`` is a count, and no name
    far = NAMED_FAR if exact else PACKED_FAR if counts[0] < _SMALL else NOMINAL_FAR
    model = _Model(counts, far, nominal)
    roles = words & (_STATES.keys() | {"weights"})
    own = dtype_sizes(" ".join(quantity.dtypes))
    whole = quantity.rate is not None and quantity.rate > _LARGEST
    if quantity.zero or "each" in words:
        return _share_of_device(quantity, model)
    if {"weights", "gradients"} <= roles and roles & {"optimizer", "moments"}:
        return model.possible([quantity.rate] if quantity.rate is not None else _ALL)
    if len(roles) > 1 or words & {"total", "vague", "layer"}:
        return NOTHING
    role = next(iter(roles), "")
    if role in _STATES:
        return _of_state(role, own, model)
    if words & {"states", "train"} or (not role and not own and whole):
        above = MEMORY_FAR if "train" in words and not quantity.aside else far
        if quantity.rate is None or not whole or own:
            return model.possible((*_ALL, *_USUAL), settled=False)
        return model.possible([quantity.rate], above=above)
    return _of_weights(quantity, model, own, role=role)


class _Model(NamedTuple):
    """The parameters that a model may have, and how far bytes of them may be off."""

    counts: Sequence[Fraction]
    far: Fraction
    nominal: bool

    def possible(
        self, sizes: Sequence[Fraction | int], *, settled: bool = True, below: Fraction | None = None, above: Fraction | None = None
    ) -> Possible:
        """Return what a figure may be that is so many bytes for each parameter."""
        numbers = [count * size for size in sizes for count in self.counts]
        return Possible(numbers, settled, below or self.far, above or self.far, self.nominal)


def _of_state(role: str, own: Sequence[Fraction], model: _Model) -> Possible:
    """Return the bytes of gradients, or of what the optimizer keeps, in the dtype that is said."""
    if len(own) == 1 and role in ("gradients", "master"):
        return model.possible(own)
    return model.possible([*_STATES[role], *(2 * size for size in own if len(own) == 1 and role in ("moments", "optimizer"))])


def _of_weights(quantity: Quantity, model: _Model, own: Sequence[Fraction], *, role: str) -> Possible:
    """Return the bytes of weights; those that run need more than is stored, and how much more depends on the words."""
    rate = quantity.rate if quantity.rate is not None and quantity.rate <= _LARGEST and role else None
    sizes = own or ([rate] if rate is not None else [])
    if role and quantity.trained and not sizes:
        return model.possible((2, 4))
    known = sizes or dtype_sizes(" ".join(quantity.known_dtypes)) or _USUAL
    shared = [size / each for each in quantity.gpus if each for size in known]  # of each device, if not of all
    if len(sizes) != 1 or (quantity.trained and not role):
        alone = len(known) == 1 and model.nominal and not (quantity.trained or quantity.of_tokens or shared)
        return model.possible(known if alone else [*known, *shared], settled=False)._replace(listed=alone)
    packed, needs = sizes[0] < 1, _NEED.search(quantity.clause) is not None
    below = max(model.far, _PACKED_BELOW) if packed else model.far
    if role and not needs:
        above = PACKED_FAR if packed else NOMINAL_FAR if sizes[0] <= 1 else model.far
        return model.possible([*known, *shared], below=below, above=max(above, model.far))
    above = (
        (NEEDED_FAR if needs or packed else MEMORY_FAR)
        if sizes[0] <= 1
        else MEMORY_FAR
        if needs
        else model.far
        if model.nominal
        else WEIGHTS_FAR
    )
    return model.possible([*known, *shared], settled=not (quantity.of_tokens or quantity.gpus), below=below, above=above)


_PACKED_BELOW = Fraction(11, 10)
_TENTH = 10**8
"""What models are called by is given in."""
_SMALL = 4 * 10**9
"""Parameters below which what a model is called may be far from its count: a ``1B`` has 1.24 billion."""


def _share_of_device(quantity: Quantity, model: _Model) -> Possible:
    """Return the share of one device under ZeRO."""
    if not 1 <= quantity.zero <= _STAGES or len(quantity.gpus) != 1 or quantity.gpus[0] < 2:
        return NOTHING
    sizes = []
    for weights, gradients, optimizer in _SHARDED:
        if quantity.rate in (None, weights + gradients + optimizer):
            kept = (weights + gradients, weights, 0)[quantity.zero - 1]
            shared = (optimizer, gradients + optimizer, weights + gradients + optimizer)[quantity.zero - 1]
            sizes.append(kept + Fraction(shared) / quantity.gpus[0])
    sizes += [size / quantity.gpus[0] for size in dtype_sizes(" ".join(quantity.dtypes))]
    if "each" not in quantity.words:  # ``shards the 84 GB of optimizer states over 8 GPUs``
        sizes += [Fraction(size) for word in quantity.words & _STATES.keys() for size in _STATES[word]]
    return model.possible(sizes, settled=bool(sizes))


_STAGES = 3


def _work(scene: Scene, quantity: Quantity) -> Possible:
    """Return the FLOPs of a token, or of a training run."""
    counts = counts_of(scene, quantity.subject)
    counts += [
        Fraction(count)
        for model in models_of(scene, quantity.subject)
        for what in ("active", "non_embedding")
        if (count := own_count(model, what))
    ]
    nominal = quantity.subject is not None and quantity.subject.parameters is not None
    if "per" in quantity.words:
        times: Sequence[int] = _MACS if _FORWARD.search(quantity.clause) else (2, 6, 1, 3, 4, 8)
        if "train" in quantity.words and not _FORWARD.search(quantity.clause):
            times = (6, 8, 3, 4)
        if quantity.rules and not _FORWARD.search(quantity.clause):
            times = [time for time in (*quantity.rules, sum(quantity.rules)) if time in times] or times
        return Possible([time * count for time in times for count in counts], bool(counts), NOMINAL_FAR, NOMINAL_FAR, nominal)
    if len(quantity.lengths) == 1 and "length" in quantity.words and not quantity.data:
        numbers = [time * count * length for time in _MACS for length in quantity.lengths for count in counts]
        return Possible(numbers, bool(numbers) and not quantity.trained, NOMINAL_FAR, NOMINAL_FAR, nominal)
    if len(quantity.data) == 1 and "length" not in quantity.words:
        numbers = [time * count * quantity.data[0] for time in (6, 8, 2, 4, 3) for count in counts]
        return Possible(numbers, bool(numbers) and re.search(r"second|秒|/s", quantity.clause) is None, NOMINAL_FAR, NOMINAL_FAR, nominal)
    return NOTHING
