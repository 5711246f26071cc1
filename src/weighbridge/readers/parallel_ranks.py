"""Tensor- and pipeline-parallel ranks of one step, joined: what the files of all ranks together hold.

A tensor that is cut up among tensor-parallel ranks is joined along one dimension; one that every rank holds whole counts once. Which is which the
shapes do not tell. It is known by Megatron-LM's names of modules, whose classes say it (``ColumnParallelLinear``, ``RowParallelLinear``,
``VocabParallelEmbedding``; all else is whole), or by the patterns that DeepSpeed writes for its universal checkpoints. A tensor that neither
knows is no guess: the step is refused. Layers count on from one pipeline stage to the next.

Source: NVIDIA/Megatron-LM, megatron/core/tensor_parallel/layers.py, megatron/training/checkpointing.py (``get_checkpoint_name``,
``generate_state_dict``); deepspeed/checkpoint/ds_to_universal.py (``merge_tp_slices``), deepspeed/checkpoint/constants.py
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from weighbridge.core.errors import ReadError
from weighbridge.core.files import open_file
from weighbridge.core.messages import Text
from weighbridge.readers.expert_ranks import WAY, count_experts, cut_of_fused, join_experts, split_virtual, stated_size
from weighbridge.readers.formats import read_file
from weighbridge.readers.listing import MOST_TENSORS, Listing, StoredTensor
from weighbridge.readers.pickle_values import Stub
from weighbridge.readers.text import make_printable
from weighbridge.readers.torch_zip import contents

MOST_RANKS = 1_024

WHOLE = -1
"""In place of the dimension along which a tensor is cut: every rank holds all of it."""

_COLUMN = frozenset(
    """word_embeddings word_embeddings_for_head output_layer linear_qkv linear_fc1 query_key_value dense_h_to_4h key_value query linear_q linear_kv
    linear_q_proj linear_q_up_proj linear_kv_up_proj""".split()
)
"""Modules of Megatron whose weight and bias are cut along their outputs."""

_ROW = frozenset(("linear_proj", "linear_fc2", "dense_4h_to_h", "attention.dense", "self_attention.dense", "inter_attention.dense"))
"""Those whose weight is cut along its inputs, and whose bias is not."""

_REPLICATED = frozenset(
    """position_embeddings tokentype_embeddings router linear_q_down_proj linear_kv_down_proj lm_head.dense pooler.dense binary_head""".split()
)
"""Those that every rank holds whole, beside norms."""

_LAYER = re.compile(r"(?P<before>(.*\.)?layers\.)(?P<number>\d{1,6})(?P<behind>\..*)")
_SIMPLE = re.compile(r"\^?(?:(?:[\w-]|\\\.|\.(?![*+?]))*)(?:(?:\\d[+*]?|\.\*)(?:[\w-]|\\\.|\.(?![*+?]))*)?\$?")
"""Patterns with one repetition at most, which take no longer than the name is, whoever wrote them."""

MOST_PATTERNS = 100

Place: TypeAlias = tuple[int, int, int]
"""The tensor-parallel rank, the pipeline stage and the expert-parallel rank that a file is of."""

Cut: TypeAlias = Callable[[str], int | None]
"""Returns along which dimension a tensor is cut, :data:`WHOLE`, or None if it is not known."""


class Facts(NamedTuple):
    """What the files say of the training: Megatron's arguments, and DeepSpeed's patterns."""

    arguments: Mapping[str, Any]
    patterns: Mapping[str, Any] | None


def join(folder: Path, files: Mapping[Place, Path]) -> Listing:
    """List the model that the files of several ranks hold together.

    Raises:
        ReadError: As for :func:`join_listings`, or a damaged file.
    """
    try:
        check_ranks(files)
        return join_listings({place: read_file(path) for place, path in files.items()}, _facts(files[0, 0, 0]))
    except ReadError as error:
        raise error.at(str(folder)) from None


def join_listings(listings: Mapping[Place, Listing], facts: Facts) -> Listing:
    """Join the ranks' tensors, by the training's own arguments.

    Raises:
        ReadError: A tensor of which it is not known how it is cut up, pieces that do not fit each other, or less or more than the training states.
    """
    tensor_ranks, stages, expert_ranks = (sorted({place[which] for place in listings}) for which in (0, 1, 2))
    _check_arguments(facts.arguments, len(tensor_ranks), len(stages), len(expert_ranks))
    cut = _sharding_rule(facts)
    model: dict[str, StoredTensor] = {}
    layers = 0
    virtual = stated_size(facts.arguments, "virtual_pipeline_model_parallel_size")
    held = {
        (rank, stage): join_experts([_model_tensors(listings[rank, stage, experts]) for experts in expert_ranks])
        for rank in tensor_ranks
        for stage in stages
    }
    parts = {place: split_virtual(tensors, virtual) for place, tensors in held.items()}
    for chunk, stage in product(range(virtual), stages):  # each stage runs its first part before any runs its second
        joined = _stage([parts[rank, stage][chunk] for rank in tensor_ranks], cut)
        first = layers if any(_count_on(tensor.name, 0)[1] == 0 for tensor in joined) else 0
        for tensor in joined:
            name, number = _count_on(tensor.name, first)
            layers = max(layers, number + 1)
            if name in model:
                raise ReadError(Text("{name} is in two pipeline stages: {way}", name=make_printable(name), way=WAY))
            model[name] = _tie_output(tensor._replace(name=name), model, facts.arguments)
    _check_whole(model, layers, facts.arguments)
    aside = [
        tensor._replace(name=_with_rank(place, len(expert_ranks), tensor.name), tied_to=None)
        for place, listing in sorted(listings.items())
        for tensor in listing.tensors
        if _is_aside(tensor)
    ]
    if len(model) + len(aside) > MOST_TENSORS:
        raise ReadError(Text("the ranks name more than {most:,} tensors", most=MOST_TENSORS))
    note = Text("joined from {tensor} tensor-parallel ranks and {pipeline} pipeline stages", tensor=len(tensor_ranks), pipeline=len(stages))
    if len(expert_ranks) > 1 or virtual > 1:
        note = Text(
            "joined from {tensor} tensor-parallel ranks, {experts} expert-parallel ranks and {pipeline} pipeline stages, in {virtual} parts each",
            tensor=len(tensor_ranks),
            experts=len(expert_ranks),
            pipeline=len(stages),
            virtual=virtual,
        )
    return Listing("torch", (*model.values(), *aside), notes=(note,))


def _model_tensors(listing: Listing) -> list[StoredTensor]:
    return [tensor for tensor in listing.tensors if not _is_aside(tensor)]


def _with_rank(place: Place, expert_ranks: int, name: str) -> str:
    rank, stage, experts = place
    among = f", experts {experts}" if expert_ranks > 1 else ""
    return f"rank {rank}, stage {stage}{among}: {name}"


def check_ranks(files: Collection[Place]) -> None:
    """Refuse files of ranks of which one is missing.

    >>> check_ranks({(0, 0, 0), (1, 0, 0)})
    """
    if len(files) > MOST_RANKS:
        raise ReadError(Text("{count:,} ranks, the most accepted is {most:,}", count=len(files), most=MOST_RANKS))
    sizes = [range(max(place[which] for place in files) + 1) for which in (0, 1, 2)]
    for rank, stage, experts in product(*sizes):  # ends at the first that is missing, however high the numbers are
        if (rank, stage, experts) in files:
            continue
        if len(sizes[2]) > 1:
            raise ReadError(
                Text(
                    "the file of tensor-parallel rank {rank} in pipeline stage {stage} with expert-parallel rank {experts} is missing",
                    rank=rank,
                    stage=stage,
                    experts=experts,
                )
            )
        raise ReadError(Text("the file of tensor-parallel rank {rank} in pipeline stage {stage} is missing", rank=rank, stage=stage))


def _check_arguments(arguments: Mapping[str, Any], tensor_ranks: int, stages: int, expert_ranks: int) -> None:
    """Hold the number of files against what the training says of itself, and refuse what these files do not tell apart."""
    sizes = {
        "tensor_model_parallel_size": tensor_ranks,
        "pipeline_model_parallel_size": stages,
        "expert_model_parallel_size": expert_ranks,
    }
    for key, found in sizes.items():
        stated = arguments.get(key)
        if isinstance(stated, int) and stated != found:
            raise ReadError(
                Text("there are the files of {found}, where the training's {key} is {stated}", found=found, key=key, stated=stated)
            )
    experts = arguments.get("expert_tensor_parallel_size")
    if isinstance(experts, int) and experts != tensor_ranks and arguments.get("num_experts"):
        raise ReadError(Text("a training whose {key} is {stated}: {way}", key="expert_tensor_parallel_size", stated=experts, way=WAY))
    if expert_ranks > 1 and not isinstance(arguments.get("expert_model_parallel_size"), int):
        raise ReadError(Text("files of expert-parallel ranks of a training that does not say how many there are: {way}", way=WAY))


def of_experts_alone(path: Path) -> bool:
    """Tell whether the number behind the first in the name of a rank's file is that of its experts: there is but one pipeline stage.

    Raises:
        ReadError: As for reading the file.
    """
    arguments = _facts(path).arguments
    return stated_size(arguments, "expert_model_parallel_size") > 1 and arguments.get("pipeline_model_parallel_size") == 1


def _facts(path: Path) -> Facts:
    with open_file(path) as file:
        root = contents(file)
    found = root if isinstance(root, dict) else {}
    arguments = found.get("args")
    state = arguments.state if isinstance(arguments, Stub) else arguments
    if not isinstance(state, dict):
        state = {"tensor_model_parallel_size": found.get("mp_world_size")}
    patterns = found.get("universal_checkpoint_info")
    return Facts(state, patterns if isinstance(patterns, dict) else None)


def _sharding_rule(facts: Facts) -> Cut:
    """Return the rule by which tensors are sharded: DeepSpeed's patterns if the file has them, else Megatron's names."""
    if facts.patterns is None:
        return megatron_dimension
    whole = (*_patterns(facts.patterns, "tp_replicated_parameter_patterns"), *_patterns(facts.patterns, "parameter_to_average_patterns"))
    rows = _patterns(facts.patterns, "parameter_with_row_parallelism_patterns")

    def cut(name: str) -> int:
        if any(pattern.match(name) for pattern in whole):
            return WHOLE
        return 1 if any(pattern.match(name) for pattern in rows) else 0

    return cut


def megatron_dimension(name: str) -> int | None:
    """Return the dimension along which Megatron-LM shards a tensor, by its module's name; None for an unknown name.

    >>> [megatron_dimension(f"decoder.layers.0.mlp.{name}") for name in ("linear_fc1.bias", "linear_fc2.weight", "linear_fc2.bias", "gate.weight")]
    [0, 1, -1, None]
    """
    fused = cut_of_fused(name)
    if fused is not None:
        return fused
    before, _, leaf = name.rpartition(".")
    if ".experts.linear_fc" in name:
        leaf = leaf.rstrip("0123456789")  # of a module that has all of a rank's experts the matrices are numbered
    parent, _, module = before.rpartition(".")
    within = f"{parent.rpartition('.')[2]}.{module}"
    if name.endswith("lm_head.bias") or (module in _COLUMN and leaf in ("weight", "bias")):
        return 0
    if module in _ROW or within in _ROW:
        return {"weight": 1, "bias": WHOLE}.get(leaf)
    norm = leaf in ("layer_norm_weight", "layer_norm_bias") or (
        "norm" in module and leaf in ("weight", "bias") and not within.startswith("mixer.")
    )
    return WHOLE if norm or module in _REPLICATED or within in _REPLICATED else None


def _patterns(stated: Mapping[str, Any], key: str) -> list[re.Pattern[str]]:
    """Return the patterns under a key, of which only plain ones are taken."""
    found = stated.get(key)
    texts = found if isinstance(found, list) else []
    if len(texts) > MOST_PATTERNS:
        raise ReadError(Text("{key} has {count:,} patterns, the most accepted is {most}", key=key, count=len(texts), most=MOST_PATTERNS))
    for text in texts:
        if not isinstance(text, str) or len(text) > 300 or not _SIMPLE.fullmatch(text):
            raise ReadError(Text("{key} has the pattern {text!r:.80}, which is not read: {way}", key=key, text=text, way=WAY))
    return [re.compile(text) for text in texts]


def _stage(listings: list[list[StoredTensor]], cut: Cut) -> list[StoredTensor]:
    """Join what the tensor-parallel ranks of one stage hold."""
    held = [{tensor.name: tensor for tensor in tensors} for tensors in listings]
    for other in held[1:]:
        lone = held[0].keys() ^ other.keys()
        if lone:
            raise ReadError(Text("{name} is not on all tensor-parallel ranks: {way}", name=make_printable(min(lone)), way=WAY))
    return [_join_pieces([of[name] for of in held], cut) for name in held[0]]


def _is_aside(tensor: StoredTensor) -> bool:
    """Tell whether a tensor is a rank's own state beside the model."""
    return tensor.role == "buffer" and tensor.note != ""


def _join_pieces(pieces: list[StoredTensor], cut: Cut) -> StoredTensor:
    """Join the pieces of one tensor that lie on several ranks along the dimension in which they were cut; they must be alike in all others."""
    first = pieces[0]
    if len(pieces) == 1:
        return first
    dimension = cut(first.name)
    if dimension is None:
        raise ReadError(
            Text(
                "it is not known whether {name} is cut up among the {count} tensor-parallel ranks or on each of them: {way}",
                name=make_printable(first.name),
                count=len(pieces),
                way=WAY,
            )
        )
    if dimension == WHOLE or not first.shape:
        alike = all((piece.shape, piece.dtype, piece.tied_to) == (first.shape, first.dtype, first.tied_to) for piece in pieces)
        if not alike:
            raise _mismatch_error(first)
        return first
    if dimension >= len(first.shape):
        raise _mismatch_error(first)
    rest = [(piece.shape[:dimension], piece.shape[dimension + 1 :], piece.dtype, piece.tied_to) for piece in pieces]
    if any(other != rest[0] for other in rest):
        raise _mismatch_error(first)
    joined = sum(piece.shape[dimension] for piece in pieces)
    elements = None if first.elements is None else sum(piece.stored for piece in pieces)
    shape = (*first.shape[:dimension], joined, *first.shape[dimension + 1 :])
    return first._replace(shape=shape, size_bytes=sum(piece.size_bytes for piece in pieces), elements=elements)


def _mismatch_error(tensor: StoredTensor) -> ReadError:
    return ReadError(
        Text("the pieces of {name} on the tensor-parallel ranks do not fit each other: {way}", name=make_printable(tensor.name), way=WAY)
    )


def _count_on(name: str, first: int) -> tuple[str, int]:
    """Return a name with its layer renumbered after the earlier stages', and that number; *first* - 1 outside of layers.

    >>> _count_on("decoder.layers.1.mlp.linear_fc1.weight", 12)
    ('decoder.layers.13.mlp.linear_fc1.weight', 13)
    """
    match = _LAYER.fullmatch(name)
    if match is None:
        return name, first - 1
    number = int(match["number"]) + first
    return f"{match['before']}{number}{match['behind']}", number


def _tie_output(tensor: StoredTensor, model: Mapping[str, StoredTensor], arguments: Mapping[str, Any]) -> StoredTensor:
    """Tie the last stage's output matrix to the first one's embeddings, of which it is a copy unless the training unties them."""
    table = next((name for name in model if name.endswith("word_embeddings.weight")), None)
    copied = tensor.name.endswith("word_embeddings_for_head.weight") or (
        tensor.name.endswith("output_layer.weight") and arguments.get("untie_embeddings_and_output_weights") is False
    )
    if table is None or not copied or model[table].shape != tensor.shape:
        return tensor
    return tensor._replace(tied_to=table, note="a copy of the embeddings, which the last pipeline stage keeps")


def _check_whole(model: Mapping[str, StoredTensor], layers: int, arguments: Mapping[str, Any]) -> None:
    """Check the joined tensors against the sizes that the training states."""
    stated = arguments.get("num_layers")
    if isinstance(stated, int) and layers != stated:
        raise ReadError(Text("the stages hold {found} layers, where the training's num_layers is {stated}", found=layers, stated=stated))
    experts, found = arguments.get("num_experts"), count_experts(model)
    if isinstance(experts, int) and found and found != experts:
        raise ReadError(Text("the ranks hold {found} experts, where the training's num_experts is {stated}", found=found, stated=experts))
    rows = arguments.get("padded_vocab_size")
    for tensor in model.values():
        if tensor.name.endswith("word_embeddings.weight") and isinstance(rows, int) and tensor.shape[:1] != (rows,):
            raise ReadError(
                Text(
                    "{name} has {found:,} rows, where the training's padded_vocab_size is {stated:,}",
                    name=make_printable(tensor.name),
                    found=tensor.shape[0] if tensor.shape else 0,
                    stated=rows,
                )
            )
