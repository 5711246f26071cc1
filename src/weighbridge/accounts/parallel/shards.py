"""Along which dimension tensor and expert parallelism cut a tensor, and how large each piece is.

Column-parallel layers are cut along their outputs, row-parallel ones along their inputs, tables of tokens along their
rows; norms, routers and whatever is neither are whole on every device.

Source: Shoeybi et al. 2019 (Megatron-LM, arXiv:1909.08053, section 3); torch 2.13.0,
distributed/tensor/parallel/style.py (ColwiseParallel, RowwiseParallel) and placement_types.py (Shard: torch.chunk)
"""

from __future__ import annotations

from weighbridge.accounts.adapters.base import Base
from weighbridge.accounts.adapters.modules import Module
from weighbridge.accounts.memory.values import elements
from weighbridge.accounts.memory.weights import owned_tensors
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.last import keep_last
from weighbridge.core.tree import Part, Row

if TYPE_CHECKING:
    from collections.abc import Iterator

COLUMN = frozenset((
    "q_proj", "k_proj", "v_proj", "query", "key", "value", "q", "k", "v", "qkv_proj", "qkv", "query_key_value", "c_attn", "Wqkv", "W_pack",
    "q_lin", "k_lin", "v_lin", "query_proj", "key_proj", "value_proj", "gate_proj", "up_proj", "gate_up_proj", "fc1", "c_fc", "w1", "w3", "wi",
    "wi_0", "wi_1", "dense_h_to_4h", "lin1", "ff1", "fc_in", "intermediate_dense", "q_b_proj", "kv_b_proj",
))  # fmt: skip
ROW = frozenset(
    (
        "o_proj",
        "out_proj",
        "down_proj",
        "c_proj",
        "fc2",
        "w2",
        "wo",
        "dense_4h_to_h",
        "lin2",
        "ff2",
        "out_lin",
        "o",
        "fc_out",
        "output_dense",
    )
)
"""Names of layers that are cut along their outputs, and along their inputs."""

KEYS = frozenset(("k_proj", "v_proj", "key", "value", "k", "v", "k_lin", "v_lin", "key_proj", "value_proj"))
"""Column-parallel layers whose outputs are key-value heads, which may be fewer than devices."""

DOWN = ("down_proj", "w2", "wo", "output_linear", "down")
"""Parameters of fused experts that are cut along their inputs."""


class Cut(NamedTuple):
    """How one tensor is cut.

    Attributes:
        row: The tensor.
        way: ``column``, ``row``, ``vocabulary`` or ``whole``.
        dim: The dimension that tensor parallelism cuts, or None.
        expert: Whether its first dimension counts experts.
        key: Whether it makes keys or values.
    """

    row: Row
    way: str
    dim: int | None
    expert: bool = False
    key: bool = False


@keep_last
def cuts(base: Base) -> tuple[Cut, ...]:
    """Return how each parameter of a model is cut, ties left out."""
    return tuple(_cuts(base))


def _cuts(base: Base) -> Iterator[Cut]:
    hidden = base.config.get("hidden_size") or base.config.get("d_model") or base.config.get("n_embd")
    for module in base.modules.values():
        for row in module.tensors:
            if row.role != "buffer":
                yield _find_cut(base, module, row, hidden)
    for row in base.rows:
        if "." not in row.name and row.role != "buffer":
            yield Cut(row, "whole", None)


def _find_cut(base: Base, module: Module, row: Row, hidden: object) -> Cut:
    if module.kind == "experts" and len(row.shape) >= 2:
        return _fused_cut(row, hidden)
    expert = "experts" in module.path and "experts" in module.path.split(".")
    if module.path in (base.input_embedding, base.output_embedding) or module.path in base.tied:
        return Cut(row, "vocabulary", 0)
    way = style(module.path) if module.kind in ("linear", "conv1d") else "whole"
    if way == "whole" or (way == "row" and len(row.shape) == 1):
        return Cut(row, "whole", None, expert)
    dim = 0 if way == "column" else 1
    if module.kind == "conv1d" and len(row.shape) == 2:
        dim = 1 - dim
    return Cut(row, way, dim, expert, key=module.path.rpartition(".")[2] in KEYS)


def style(path: str) -> str:
    """Tell whether a linear layer is column-parallel, row-parallel or whole, by its name.

    >>> style("layers.0.self_attn.o_proj"), style("encoder.layer.0.intermediate.dense"), style("pooler.dense")
    ('row', 'column', 'whole')
    """
    parent, _, name = path.rpartition(".")
    if name in COLUMN:
        return "column"
    if name in ROW:
        return "row"
    if name == "dense":
        holder = parent.rpartition(".")[2]
        if holder == "intermediate":
            return "column"
        return "row" if holder in ("output", "self_attention", "attention", "self_attn") else "whole"
    return "whole"


def _fused_cut(row: Row, hidden: object) -> Cut:
    """Return how a tensor of experts that are held together is cut: it has a dimension of experts first."""
    last = row.name.rpartition(".")[2]
    down = any(last.startswith(name) for name in DOWN)
    if len(row.shape) < 3:
        return Cut(row, "whole", None, expert=True) if down else Cut(row, "column", 1, expert=True)
    stored_inputs_first = row.shape[1] == hidden if not down else row.shape[2] == hidden and row.shape[1] != hidden
    column = 2 if stored_inputs_first else 1
    return Cut(row, "row" if down else "column", 3 - column if down else column, expert=True)


def hand_out(tree: Part, ways: int, size: int) -> list[int]:
    """Return the bytes of optimizer states where whole tensors are handed out: the largest first, each to whom has least.

    Of *ways* devices those are listed that get any: with more devices than tensors the others have none.

    Args:
        tree: A model.
        ways: How many devices there are.
        size: Bytes of states of each element.

    Source: torch 2.13.0, distributed/optim/zero_redundancy_optimizer.py (``_partition_parameters``)

    >>> from weighbridge.core.parts import linear
    >>> hand_out(Part("", (linear("a", 4, 4), linear("b", 2, 2))), 2, 8)
    [128, 80]
    """
    from heapq import heappop, heappush

    learned = [entry for entry in owned_tensors(tree) if entry.tensor.role != "buffer" and not entry.tensor.frozen]
    counts = [count for entry in learned for count in [elements(entry.tensor.shape)] * entry.copies]
    held = [(0, device) for device in range(min(ways, len(counts)))]
    for count in sorted(counts, reverse=True):
        least, device = heappop(held)
        heappush(held, (least + count, device))
    return [size * count for count, _ in sorted(held, key=lambda entry: entry[1])]


def flat_piece(count: int, ways: int) -> int:
    """Return how many elements of one flat buffer each of *ways* devices gets: an even number, to which the buffer is padded.

    Source: deepspeedai/DeepSpeed 0.19.8, runtime/zero/stage_1_and_2.py (``nccl_start_alignment_factor``)

    >>> flat_piece(16, 4), flat_piece(17, 4)
    (4, 6)
    """
    return -(-count // (2 * ways)) * 2


def chunk(size: int, ways: int, rank: int) -> int:
    """Return how much of *size* one of *ways* devices gets, by the rule of ``torch.chunk``.

    >>> [chunk(10, 4, rank) for rank in range(4)]
    [3, 3, 3, 1]
    >>> [chunk(5, 4, rank) for rank in range(4)]
    [2, 2, 1, 0]
    """
    most = -(-size // ways)
    return max(0, min(most, size - rank * most))
