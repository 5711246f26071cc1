"""Hold the reader of torch files to ``torch.load``: ``python -m truth checkpoints [--n N] [--seed S]``.

Random checkpoints are written by torch: nested containers of every kind, keys of every kind, views, ties, expanded, sparse, quantized and
meta tensors, tensors of classes of their own, NumPy arrays, whole modules; layers that torch changed (norms, pruning, quantization); and the layouts in which training scripts, Lightning, DeepSpeed,
Composer and others save. What ``torch.load(weights_only=False)`` returns is walked here by rules of this file alone. Of each file every tensor's
shape and type must be listed, as often as torch has it; and of a training checkpoint the parameters must be those of its model.
"""

from __future__ import annotations

import io
import json
import random
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from weighbridge.accounts.parameters import tally_of
from weighbridge.core.errors import ReadError
from weighbridge.readers import as_model, list_open
from weighbridge.readers.torch_storages import DTYPES

torch: Any = import_module("torch")
nn: Any = torch.nn
Pair = namedtuple("Pair", "first second")


FOLDER = Path(__file__).parents[1] / "tests" / "corpus" / "torch" / "checkpoints"
LARGEST = 12_000
"""Bytes of a file that is kept for the tests."""


class Holder:
    """An object of a class of the user's own."""

    def __init__(self, **held: Any) -> None:
        self.__dict__ |= held


class Slotted:
    """One without a dict."""

    __slots__ = ("left", "right")

    def __init__(self, left: Any, right: Any) -> None:
        self.left, self.right = left, right


class Marked(torch.Tensor):  # type: ignore[misc,unused-ignore]
    """A subclass of tensors."""


def tensors(root: Any) -> Iterator[tuple[tuple[int, ...], str]]:
    """Yield the shape and type of every tensor and array in an object, as often as it is reached; an object of a user's class once."""
    once = set()
    around: set[int] = set()

    def walk(node: Any) -> Iterator[tuple[tuple[int, ...], str]]:
        if id(node) in around:
            return
        around.add(id(node))
        if type(node).__name__ == "ShardedTensor":
            yield tuple(node.metadata().size), "F32"
        elif isinstance(node, torch.Tensor):
            yield tuple(node.shape), DTYPES[str(node.dtype)[6:]]
            if type(node) in (torch.Tensor, Marked, nn.Parameter):
                yield from walk(dict(node.__dict__))
            if node.is_quantized and node.qscheme() in (torch.per_channel_affine, torch.per_channel_affine_float_qparams):
                yield from walk([node.q_per_channel_scales(), node.q_per_channel_zero_points()])
        elif isinstance(node, np.ndarray) and node.dtype == object:
            yield from walk(node.tolist())
        elif isinstance(node, np.ndarray):
            yield (
                tuple(node.shape),
                "BOOL" if node.dtype == bool else node.dtype.name.replace("float", "F").replace("int", "I").replace("uI", "U"),
            )
        elif isinstance(node, dict):
            for key, value in node.items():
                yield from walk(value)
                if not isinstance(key, str):
                    yield from walk(key)
        elif isinstance(node, list | tuple | set | frozenset | deque):
            for value in node:
                yield from walk(value)
        elif isinstance(node, nn.Module):
            yield from walk(dict(node.__dict__))
        elif isinstance(node, Holder | Slotted | torch.optim.Optimizer) and id(node) not in once:
            once.add(id(node))
            yield from walk([node.left, node.right] if isinstance(node, Slotted) else node.__dict__)
        around.discard(id(node))

    return walk(root)


TYPES = tuple(map(torch.__dict__.get, "float32 float16 bfloat16 float64 int64 int32 uint8 bool complex64 float8_e4m3fn".split()))
LEAVES: tuple[Callable[[random.Random], Any], ...] = (
    lambda draw: torch.zeros(shape(draw), dtype=draw.choice(TYPES)),
    lambda draw: torch.ones(shape(draw)),
    lambda draw: torch.ones(6, 4)[1:5, ::2],
    lambda draw: torch.zeros(1).expand(5),
    lambda draw: torch.ones(3, 4).t(),
    lambda draw: nn.Parameter(torch.ones(shape(draw))),
    lambda draw: torch.eye(draw.randrange(1, 5)).to_sparse(),
    lambda draw: torch.eye(draw.randrange(1, 5)).to_sparse_csr(),
    lambda draw: torch.quantize_per_tensor(torch.ones(3, 2), 0.1, 0, torch.qint8),
    lambda draw: torch.quantize_per_channel(torch.ones(3, 2), torch.ones(3), torch.zeros(3), 0, torch.qint8),
    lambda draw: torch.ones(2, 3, device="meta"),
    lambda draw: torch.ones(shape(draw)).as_subclass(Marked),
    lambda draw: import_module("torch.testing._internal.two_tensor").TwoTensor(torch.ones(2, 3), torch.ones(2, 3)),
    lambda draw: mark(torch.ones(3), torch.ones(4)),
    lambda draw: np.ones(shape(draw), draw.choice(["f4", "f8", "f2", "i8", "u1", "?"])),
    lambda draw: np.ones(20_000, "f4") if draw.random() < 0.2 else np.array([torch.ones(2), None], dtype=object),
    lambda draw: draw.choice([1, 2.5, "text", None, b"bytes", torch.float32, torch.Size([3, 4]), np.float64(3)]),
    lambda draw: nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)),
    lambda draw: shard(draw),
)


def shard(draw: random.Random) -> Any:
    """Return a tensor of a group of processes, as FSDP saves it: one cut up, one that all have, or one of the older kind."""
    start_group()
    tensor: Any = import_module("torch.distributed.tensor")
    mesh = tensor.init_device_mesh("cpu", (1,))
    if draw.random() < 0.7:
        made = tensor.distribute_tensor(torch.ones(4, 6), mesh, [draw.choice([tensor.Shard(0), tensor.Shard(1), tensor.Replicate()])])
        return nn.Parameter(made) if draw.random() < 0.5 else made
    spec = import_module("torch.distributed._shard.sharding_spec").ChunkShardingSpec(dim=0, placements=["rank:0/cpu"])
    return import_module("torch.distributed._shard.sharded_tensor").rand(spec, 4, 6)


def of_group(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state dict as FSDP's sharded ones are; what is one tensor stays one."""
    start_group()
    kinds: Any = import_module("torch.distributed.tensor")
    mesh, made = kinds.init_device_mesh("cpu", (1,)), dict[int, Any]()
    for tensor in state.values():
        kind = kinds.Shard(0) if tensor.dim() else kinds.Replicate()
        made.setdefault(tensor.data_ptr(), kinds.distribute_tensor(tensor, mesh, [kind]))
    return {name: made[tensor.data_ptr()] for name, tensor in state.items()}


def parallel(net: Any) -> Any:
    """Return a module as DDP wraps it."""
    start_group()
    return nn.parallel.DistributedDataParallel(net)


def start_group() -> None:
    """Be a group of one process."""
    group: Any = import_module("torch.distributed")
    if not group.is_initialized():
        group.init_process_group("gloo", store=group.HashStore(), rank=0, world_size=1)


KEYS: tuple[Callable[[random.Random], Any], ...] = (
    lambda draw: draw.choice("weight bias layer.0 loss x".split()) + str(draw.randrange(9)),
    lambda draw: draw.randrange(-5, 2**70),
    lambda draw: draw.random(),
    lambda draw: (draw.randrange(9), "a"),
    lambda draw: draw.choice([None, True, frozenset([1, 2]), b"key", Pair(1, (2, 3)), "", "a.b", "1"]),
)


def shape(draw: random.Random) -> tuple[int, ...]:
    """Return a small shape, of any number of dimensions."""
    return tuple(draw.randrange(4) for _ in range(draw.randrange(4)))


def mark(tensor: Any, extra: Any) -> Any:
    """Return a tensor with an attribute that is one too."""
    tensor.extra = extra
    return tensor


def nested(draw: random.Random, depth: int, made: list[Any]) -> Any:
    """Return a random object; it may be one that was made before."""
    if made and draw.random() < 0.15:
        return draw.choice(made)
    if depth == 0 or draw.random() < 0.3:
        made.append(draw.choice(LEAVES)(draw))
        return made[-1]
    items = [nested(draw, depth - 1, made) for _ in range(draw.randrange(1, 5))]
    pairs = [(draw.choice(KEYS)(draw), item) for item in items]
    hashable = [item for item in items if isinstance(item, torch.Tensor) and type(item) in (torch.Tensor, nn.Parameter)]
    containers: list[Callable[[], Any]] = [
        lambda: dict(pairs),
        lambda: dict(pairs),
        lambda: OrderedDict(pairs),
        lambda: defaultdict(list, pairs),
        lambda: items,
        lambda: tuple(items),
        lambda: Pair(items[0], items[-1]),
        lambda: set(hashable),
        lambda: frozenset(hashable),
        lambda: deque(items),
        lambda: dict.fromkeys(hashable, items[0]),
        lambda: Holder(a=items[0], b=items),
        lambda: Slotted(items[0], items[-1]),
    ]
    made.append(draw.choice(containers)())
    return made[-1]


def model(draw: random.Random) -> Any:
    """Return a small module, sometimes with a tie, sometimes with buffers."""
    width = draw.randrange(2, 6)
    layers = [nn.Embedding(7, width), *(nn.Linear(width, width, bias=draw.random() < 0.5) for _ in range(draw.randrange(1, 4)))]
    layers += [nn.LayerNorm(width)] if draw.random() < 0.5 else [nn.BatchNorm1d(width)]
    head = nn.Linear(width, 7, bias=False)
    if draw.random() < 0.5:
        head.weight = layers[0].weight
    return nn.Sequential(*layers, head)


def step_optimizer(draw: random.Random, net: Any) -> Any:
    """Return an optimizer that has state."""
    kinds: list[Callable[[Any], Any]] = [
        lambda p: torch.optim.AdamW(p),
        lambda p: torch.optim.SGD(p, 0.1, momentum=0.9),
        lambda p: torch.optim.Adagrad(p),
        lambda p: torch.optim.RMSprop(p, momentum=0.5),
    ]
    optimizer = draw.choice(kinds)(net.parameters())
    for parameter in net.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimizer.step()
    return optimizer


def training(draw: random.Random, number: int | None = None) -> tuple[Any, int]:
    """Return a training checkpoint in one of the layouts that people use (or the one of this number), and how many parameters its model has."""
    net = model(draw)
    state, optimizer = net.state_dict(), step_optimizer(draw, net)
    kept = optimizer.state_dict()
    word = draw.choice
    bare = {
        key: draw.choice([torch.tensor(1.0), torch.ones(3), 0.5, np.float64(2), np.ones(4)])
        for key in draw.sample(
            ["loss", "best_acc1", "best_loss", "step", "global_step", "epoch", "train_loss", "iteration", "lr"], draw.randrange(4)
        )
    }
    bare |= {"rng_state": torch.get_rng_state()} if draw.random() < 0.3 else {}
    wrapped = OrderedDict((f"module.{name}", value) for name, value in state.items())
    average = {"shadow_params": [value.clone() for value in net.parameters()], "decay": 0.999}
    layouts: list[Callable[[], Any]] = [
        lambda: {word(["model_state_dict", "state_dict", "model", "net"]): state, word(["optimizer_state_dict", "optimizer", "optim"]): kept, **bare},
        lambda: {"state_dict": wrapped, "optimizer": kept, "arch": "resnet", **bare},
        lambda: {"epoch": 1, "global_step": 2, "pytorch-lightning_version": "2.5.0", "state_dict": state, "loops": {"fit_loop": {"state_dict": {}}},
                 "callbacks": {"best": {"best_model_score": torch.tensor(0.5)}}, "optimizer_states": [kept], "lr_schedulers": [], "hyper_parameters": {"a": 1},
                 "MixedPrecision": {"scale": torch.tensor(2.0)}},
        lambda: {"state": {"model": state, "optimizers": {"Adam": kept}, "schedulers": {}, "timestamp": {}, "train_metrics": {}},
                 "rng": [{"cpu": torch.get_rng_state(), "numpy": ("MT19937", np.ones(624, "u4"))}]},
        lambda: {"module": state, "buffer_names": [], "optimizer": kept, "param_shapes": None, "lr_scheduler": {"last": torch.ones(2)},
                 "skipped_steps": 0, "global_steps": 3, "dp_world_size": 1},
        lambda: {"args": {"lr": 1}, "checkpoint_version": 3.0, "iteration": 4, "model": state, "optimizer": {"optimizer": kept, "fp32_from_fp16_params":
                 [list(net.parameters())]}, "rng_state": [{"torch_rng_state": torch.get_rng_state()}]},
        lambda: {**state, "optimizer": kept, **bare},
        lambda: (state, kept, 3),
        lambda: [state, {"optimizer": kept}],
        lambda: {"model": net, "optimizer": optimizer, "ema": average, **bare},
        lambda: {"model": None, "ema": net, "epoch": 1},
        lambda: {"params_ema": state},
        lambda: {"state_dict": state, "state_dict_ema": state, "optimizer": kept},
        lambda: {"model": state, "model_ema": {name: value.clone() for name, value in state.items()}, "optimizer": kept, "scaler": {"scale": torch.ones(1)}},
        lambda: {"model": of_group(state), "optim": {"state": {}, "param_groups": []}, "step": 3},
        lambda: {"model_state_dict": parallel(net).state_dict(), "optimizer_state_dict": kept, **bare},
        lambda: {"encoder": net[0].state_dict(), "decoder": net[1:].state_dict(), "optimizerG": kept, **bare},
        lambda: {"checkpoint": {"model": state, "optimizer": kept}, "epoch": 3},
        lambda: Holder(model=state, optimizer=kept, step=3),
        lambda: state,
        lambda: net,
    ]  # fmt: skip
    return (draw.choice(layouts) if number is None else layouts[number % len(layouts)])(), sum(
        parameter.numel() for parameter in net.parameters()
    )


def hooked(draw: random.Random) -> tuple[Any, int]:
    """Return the state of a layer that torch changed (a norm of its weight, pruning, quantization, a compiler), and its module's parameters.

    A converted layer has none that torch would count; they are those that it was made of.
    """
    norms, prune, quantized = (
        import_module(f"torch.{name}") for name in ("nn.utils.parametrizations", "nn.utils.prune", "ao.quantization")
    )
    layer = nn.Linear(draw.randrange(2, 7), draw.randrange(2, 7), bias=draw.random() < 0.7)
    before = sum(parameter.numel() for parameter in layer.parameters())

    def observed() -> Any:
        net = quantized.QuantWrapper(layer).eval()
        net.qconfig = quantized.get_default_qconfig("x86")
        quantized.prepare(net, inplace=True)
        net(torch.ones(1, layer.in_features))
        return quantized.convert(net) if draw.random() < 0.5 else net

    def trained() -> Any:
        net = quantized.QuantWrapper(layer).train()
        net.qconfig = quantized.get_default_qat_qconfig("x86")
        return quantized.prepare_qat(net)

    changes: list[Callable[[], Any]] = [
        lambda: norms.weight_norm(layer),
        lambda: norms.spectral_norm(layer),
        lambda: norms.orthogonal(layer),
        lambda: nn.utils.weight_norm(layer),
        lambda: nn.utils.spectral_norm(layer),
        lambda: prune.random_unstructured(layer, "weight", 0.5),
        lambda: torch.compile(layer),
        lambda: quantized.quantize_dynamic(nn.Sequential(layer), {nn.Linear}),
        observed,
        trained,
    ]
    changed = draw.choice(changes)()
    state = changed.state_dict()
    return (state if draw.random() < 0.5 else {"model": state, "epoch": 1}), sum(p.numel() for p in changed.parameters()) or before


def tied_on_meta(draw: random.Random) -> tuple[Any, int]:
    """Return a whole module without elements in which a parameter has two names, and how many it has."""
    width = draw.randrange(2, 6)
    with torch.device("meta"):
        net = nn.Sequential(nn.Embedding(7, width), nn.Linear(width, 7, bias=False))
    net[1].weight = net[0].weight
    return net, 7 * width


def save(thing: Any, draw: random.Random) -> bytes:
    """Return a file of torch, in one of its two formats and any protocol."""
    file = io.BytesIO()
    torch.save(thing, file, _use_new_zipfile_serialization=draw.random() < 0.8, pickle_protocol=draw.choice([2, 2, 3, 4, 5]))
    return file.getvalue()


def differs(data: bytes, parameters: int | None) -> str:
    """Say in what our listing of a file differs from what torch loads; the empty string if in nothing."""
    try:
        expected = Counter(tensors(torch.load(io.BytesIO(data), weights_only=False)))
    except AttributeError:  # torch does not read back all that it writes in its old format
        return ""
    try:
        listing = list_open(io.BytesIO(data), "x.pt")
    except ReadError as error:
        return "" if not expected and "no tensors" in str(error) else f"refused: {error}"
    found = Counter((tensor.shape, tensor.dtype) for tensor in listing.tensors)
    if found != expected:
        return f"torch alone: {dict(expected - found)}; we alone: {dict(found - expected)}"
    unique = tally_of(as_model(listing, "x")).unique
    return "" if parameters in (None, unique) else f"{unique} parameters, its model has {parameters}: {listing.notes}"


def record(n: int, seed: str) -> int:
    """Write *n* checkpoints of each sort for the ordinary tests, with what torch says of them."""
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.pt"):
        path.unlink()
    expected = {}
    for number in range(n):
        draw = random.Random(f"{seed}-{number}")
        for sort, (thing, parameters) in {"nested": (nested(draw, 3, []), None), "training": training(draw, number)}.items():
            data = save(thing, draw)
            difference = differs(data, parameters)
            assert not difference, difference
            found = Counter(tensors(torch.load(io.BytesIO(data), weights_only=False)))
            if len(data) <= LARGEST and found:
                expected[f"{sort}-{number:02}"] = {"parameters": parameters, "tensors": [[*kind, times] for kind, times in found.items()]}
                (FOLDER / f"{sort}-{number:02}.pt").write_bytes(data)
    written = {"torch": torch.__version__, "command": f"python -m truth checkpoints --record {n} --seed {seed}", "files": expected}
    (FOLDER / "expected.json").write_text(json.dumps(written) + "\n", "utf-8")
    print(f"{len(expected)} files in {FOLDER}")
    return 0


def compare_checkpoints(n: int, seed: str) -> int:
    """Write and compare *n* checkpoints of each sort; the exit code is 1 if any differs."""
    bad = 0
    for number in range(n):
        draw = random.Random(f"{seed}-{number}")
        sorts = {"nested": (nested(draw, 4, []), None), "training": training(draw), "hooked": hooked(draw), "meta": tied_on_meta(draw)}
        for sort, (thing, parameters) in sorts.items():
            difference = differs(save(thing, draw), parameters)
            if difference:
                bad += 1
                print(f"{sort} {seed}-{number}: {difference}", flush=True)
    print(f"{4 * n:,} checkpoints of torch {torch.__version__}, {bad:,} differ")
    return 1 if bad else 0
