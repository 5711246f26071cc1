"""What one expert-parallel rank of Megatron-LM holds, joined with the others; and what one pipeline stage holds, in its virtual stages.

Every expert-parallel rank holds all of the model but for the experts, of which it holds as many as each other; it numbers its own from 0, and those of the
next rank count on. A stage of a virtual pipeline writes a state dict for each of its parts, ``model0``, ``model1``, each with layers from 0.

Experts are modules of their own, or numbered matrices of one module, or all of a rank's stand in one matrix: then the ranks' matrices stand side by side.

Source: NVIDIA/Megatron-LM, megatron/core/transformer/moe/experts.py (``SequentialMLP``: ``local_experts_indices_offset``; ``TEGroupedMLP``:
``linear_fc1.weight0`` and so on; ``GroupedMLP``: ``weight1`` as ``[hidden, experts * inner]``, ``weight2`` as ``[experts * inner, hidden]``),
megatron/training/checkpointing.py (``generate_state_dict``), megatron/core/transformer/transformer_layer.py (``get_transformer_layer_offset``)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from weighbridge.core.errors import ReadError
from weighbridge.core.messages import Text
from weighbridge.readers.listing import StoredTensor
from weighbridge.readers.text import make_printable

WAY = Text(
    "join them with the tool that wrote them (DeepSpeed: zero_to_fp32.py; Megatron: tools/checkpoint/convert.py) and weigh the result"
)

MOST_PARTS = 1_024
"""Parts of a pipeline stage that are looked for."""

_EXPERT = re.compile(
    r"(?P<before>.*\.experts\.(?:local_experts\.(?=\d+\.)|linear_fc[12]\.(?:weight|bias)(?=\d+$)))(?P<number>\d{1,6})(?P<behind>\..*|)"
)
_FUSED = re.compile(r".*\.experts\.weight(?P<number>[12])")
_PART = re.compile(r"model(?P<number>\d{1,4})\.(?P<name>.*)")


def stated_size(arguments: Mapping[str, Any], key: str) -> int:
    """Return the degree of parallelism that a training states, 1 if it states none.

    >>> stated_size({"expert_model_parallel_size": 4}, "expert_model_parallel_size"), stated_size({}, "expert_model_parallel_size")
    (4, 1)
    """
    found = arguments.get(key)
    if isinstance(found, int) and found > MOST_PARTS:
        raise ReadError(Text("a training whose {key} is {stated}: {way}", key=key, stated=found, way=WAY))
    return found if isinstance(found, int) and found > 1 else 1


def join_experts(ranks: Sequence[list[StoredTensor]]) -> list[StoredTensor]:
    """Join the expert-parallel ranks that share all other coordinates.

    Raises:
        ReadError: They differ in more than their experts, or hold experts in a form of which it is not known how they count on.

    >>> one = [StoredTensor("mlp.experts.local_experts.0.w", "F32", (2,), 8)]
    >>> [tensor.name for tensor in join_experts([one, one])]
    ['mlp.experts.local_experts.0.w', 'mlp.experts.local_experts.1.w']
    """
    if len(ranks) == 1:
        return ranks[0]
    joined = {tensor.name: tensor for tensor in ranks[0]}
    experts: dict[str, set[int]] = {}
    fused: list[StoredTensor] = []
    for tensor in ranks[0]:
        match = _EXPERT.fullmatch(tensor.name)
        if match:
            experts.setdefault(match["before"], set()).add(int(match["number"]))
        elif len(tensor.shape) == 2 and tensor.elements is None and cut_of_fused(tensor.name) is not None:
            fused.append(tensor)
        elif ".experts." in tensor.name:
            raise ReadError(
                Text(
                    "it is not known how the experts in {name} count on from rank to rank: {way}", name=make_printable(tensor.name), way=WAY
                )
            )
    if any(numbers != set(range(len(numbers))) for numbers in experts.values()):
        raise ReadError(Text("the experts of a rank are not numbered from 0: {way}", way=WAY))
    alike = {tensor.name: tensor[:3] for tensor in ranks[0]}
    for number, tensors in enumerate(ranks[1:], 1):
        if {tensor.name: tensor[:3] for tensor in tensors} != alike:
            raise ReadError(Text("the expert-parallel ranks differ in more than their experts: {way}", way=WAY))
        for tensor in tensors:
            name = _count_on(tensor.name, number, experts)
            if name != tensor.name:
                owner = tensor.tied_to and _count_on(tensor.tied_to, number, experts)
                joined[name] = tensor._replace(name=name, tied_to=owner)
    joined |= {tensor.name: _concatenate(tensor, len(ranks)) for tensor in fused}
    return list(joined.values())


def cut_of_fused(name: str) -> int | None:
    """Return the dimension along which a rank's fused expert matrix is concatenated with the next rank's; None for other matrices.

    >>> cut_of_fused("mlp.experts.weight1"), cut_of_fused("mlp.experts.weight2"), cut_of_fused("mlp.weight1")
    (1, 0, None)
    """
    match = _FUSED.fullmatch(name)
    return None if match is None else 2 - int(match["number"])


def _concatenate(tensor: StoredTensor, ranks: int) -> StoredTensor:
    """Return the concatenation of equally shaped matrices of all ranks."""
    dimension = cut_of_fused(tensor.name)
    shape = tuple(size * ranks if place == dimension else size for place, size in enumerate(tensor.shape))
    return tensor._replace(shape=shape, size_bytes=tensor.size_bytes * ranks)


def _count_on(name: str, rank: int, experts: Mapping[str, set[int]]) -> str:
    """Renumber a rank's local expert to its global index; return any other name unchanged."""
    match = _EXPERT.fullmatch(name)
    if match is None:
        return name
    number = int(match["number"]) + rank * len(experts.get(match["before"], ()))
    return f"{match['before']}{number}{match['behind']}"


def count_experts(names: Iterable[str]) -> int:
    """Return the largest number of experts in any layer, by their names.

    >>> count_experts(["mlp.experts.local_experts.3.linear_fc1.weight", "mlp.router.weight"])
    4
    """
    return max((int(match["number"]) + 1 for name in names if (match := _EXPERT.fullmatch(name))), default=0)


def split_virtual(tensors: list[StoredTensor], parts: int) -> list[list[StoredTensor]]:
    """Return what each part of a stage holds, by the state dicts that it writes; of a stage in one part all.

    Raises:
        ReadError: A tensor is in none of as many parts, or a part is empty.

    >>> [[tensor.name for tensor in part] for part in split_virtual([StoredTensor(f"model{n}.w", "F32", (2,), 8) for n in (0, 1)], 2)]
    [['w'], ['w']]
    """
    if parts == 1:
        return [tensors]
    found: list[list[StoredTensor]] = [[] for _ in range(parts)]
    for tensor in tensors:
        match = _PART.fullmatch(tensor.name)
        if match is None or int(match["number"]) >= parts:
            raise ReadError(
                Text("{name} is in none of the {parts} parts of its stage: {way}", name=make_printable(tensor.name), parts=parts, way=WAY)
            )
        tied = None if tensor.tied_to is None else tensor.tied_to.removeprefix(f"model{match['number']}.")
        found[int(match["number"])].append(tensor._replace(name=match["name"], tied_to=tied))
    if not all(found):
        raise ReadError(Text("a part of a stage is missing: {way}", way=WAY))
    return found
