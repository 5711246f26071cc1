"""The layers of Core ML's neural networks that have weights, and where in a layer's message they stand.

Source: apple/coremltools 9.0, mlmodel/format/NeuralNetwork.proto (``NeuralNetworkLayer``, ``WeightParams``, ``QuantizationParams``), Model.proto
"""

from __future__ import annotations

from weighbridge.core.messages import Text
from weighbridge.readers.cursor import Cursor
from weighbridge.readers.listing import StoredTensor
from weighbridge.readers.protobuf import BYTES, VARINT, Budget, Field, fields, numbers, text

FLAT = "a run of numbers, whose shape the file does not tell"

_WEIGHTS = ("weights", "bias")
_LSTM = {
    1: "input_gate.weight",
    2: "forget_gate.weight",
    3: "block_input.weight",
    4: "output_gate.weight",
    20: "input_gate.recursion",
    21: "forget_gate.recursion",
    22: "block_input.recursion",
    23: "output_gate.recursion",
    40: "input_gate.bias",
    41: "forget_gate.bias",
    42: "block_input.bias",
    43: "output_gate.bias",
    60: "input_gate.peephole",
    61: "forget_gate.peephole",
    62: "output_gate.peephole",
}
_ACTIVATION: dict[tuple[int, ...], str] = {(25, 1): "prelu.alpha", (71, 1): "softplus.alpha", (71, 2): "softplus.beta"}


def _activations(*places: int) -> dict[tuple[int, ...], str]:
    return {(place, *path): f"activation_{place}.{name}" for place in places for path, name in _ACTIVATION.items()}


def _two_tensors(first: int, *, names: tuple[str, str] = ("weight", "bias")) -> dict[tuple[int, ...], str]:
    return {(first,): names[0], (first + 1,): names[1]}


_CELL: dict[tuple[int, ...], str] = {(20, number): name for number, name in _LSTM.items()}
LAYERS: dict[int, dict[tuple[int, ...], str]] = {
    100: _two_tensors(90),
    130: dict(_ACTIVATION),
    140: _two_tensors(20),
    150: _two_tensors(20),
    160: {(15,): "gamma", (16,): "beta", (17,): "moving_mean", (18,): "moving_variance"},
    245: {(2,): "scale", (5,): "bias"},
    250: {(2,): "bias"},
    290: {(2,): "data"},
    400: {**_activations(10), (30,): "weight", (31,): "recursion", (32,): "bias"},
    410: {
        **_activations(10),
        **{
            (number + gate,): f"{name}_gate.{kind}"
            for number, kind in ((30, "weight"), (50, "recursion"), (70, "bias"))
            for gate, name in enumerate(("update", "reset", "output"))
        },
    },
    420: {**_activations(10), **_CELL},
    430: {**_activations(10, 11), **_CELL},
    500: {(20,): "weight"},
    1040: _two_tensors(20),
    1045: _two_tensors(8),
    1070: {(2,): "data"},
    1350: _two_tensors(3, names=("gamma", "beta")),
    1471: _two_tensors(60),
}
"""By the number of the layer's kind: the numbers of the fields that lead to each of its weights."""

BODIES = {605: (1, 2), 615: (3, 4)}
"""Layers that hold networks: branches and loops."""

STATISTICS = ("moving_mean", "moving_variance")
CONSTANTS = (290, 1070)
"""Layers that put a constant into the network, which the file does not say to be learned."""

KINDS = {
    300: "GLMRegressor",
    301: "SupportVectorRegressor",
    302: "TreeEnsembleRegressor",
    304: "BayesianProbitRegressor",
    400: "GLMClassifier",
    401: "SupportVectorClassifier",
    402: "TreeEnsembleClassifier",
    404: "KNearestNeighborsClassifier",
    501: "ItemSimilarityRecommender",
    555: "CustomModel",
    556: "LinkedModel",
    2000: "TextClassifier",
    2001: "WordTagger",
    2002: "VisionFeaturePrint",
    2004: "Gazetteer",
    2005: "WordEmbedding",
    2006: "AudioFeaturePrint",
    3000: "SerializedModel",
}
WITHOUT_WEIGHTS = (560, 600, 601, 602, 603, 604, 606, 607, 609, 610, 900, 2003)
"""Models that only rearrange what passes through them: in a pipeline they stand beside those that have weights."""

DEEPEST = 20
MOST_LAYERS = 50_000


def network(cursor: Cursor, budget: Budget, field: Field, prefix: str, found: list[StoredTensor], depth: int = 0) -> None:
    """Put the weights of a network's layers among those found."""
    if depth > DEEPEST or field.wire != BYTES:
        cursor.fail("networks nested too deep", field.start)
    cursor.at = field.start
    layers = [part for part in fields(cursor, field.end, budget) if part.number == 1]
    if len(layers) > MOST_LAYERS:
        cursor.fail(Text("a network of more than {most_layers:,} layers", most_layers=MOST_LAYERS), field.start)
    for layer in layers:
        _layer(cursor, budget, layer, prefix, found, depth)


def _layer(cursor: Cursor, budget: Budget, layer: Field, prefix: str, found: list[StoredTensor], depth: int) -> None:
    """Add the weights of one layer, and of the layers inside a branch or a loop."""
    parts = _submessage(cursor, budget, layer)
    name = prefix + next((text(cursor, part, "layer") for part in parts if part.number == 1), "")
    for part in parts:
        for body in (
            (one for one in _submessage(cursor, budget, part) if one.number in BODIES[part.number]) if part.number in BODIES else ()
        ):
            network(cursor, budget, body, f"{name}.", found, depth + 1)
        seen: dict[tuple[int, ...], int] = {}
        for path, weight in _weights(cursor, budget, part, LAYERS.get(part.number, {}), ()):
            seen[path] = seen.get(path, 0) + 1
            tensor = _tensor(cursor, budget, weight)
            if tensor is not None:
                last = LAYERS[part.number][path] + (f"_{seen[path]}" if seen[path] > 1 else "")
                buffer = last in STATISTICS or (part.number in CONSTANTS and tensor.shape == (1,))
                found.append(tensor._replace(name=f"{name}.{last}", role="buffer" if buffer else _role(last)))


def _role(name: str) -> str:
    last = name.rpartition(".")[2].rstrip("_0123456789")
    return {"bias": "bias", "beta": "shift", "gamma": "gain", "scale": "gain"}.get(last, "weight")


def _submessage(cursor: Cursor, budget: Budget, field: Field) -> list[Field]:
    if field.wire != BYTES:
        return []
    cursor.at = field.start
    return list(fields(cursor, field.end, budget))


def _weights(
    cursor: Cursor, budget: Budget, field: Field, paths: dict[tuple[int, ...], str], taken: tuple[int, ...]
) -> list[tuple[tuple[int, ...], Field]]:
    """Return the weights in a layer's message, each with the numbers of the fields that lead to it."""
    found: list[tuple[tuple[int, ...], Field]] = []
    wanted = {path[len(taken)] for path in paths if path[: len(taken)] == taken and len(path) > len(taken)}
    for part in _submessage(cursor, budget, field) if wanted else ():
        path = (*taken, part.number)
        if path in paths:
            found.append((path, part))
        elif part.number in wanted:
            found += _weights(cursor, budget, part, paths, path)
    return found


def _tensor(cursor: Cursor, budget: Budget, weight: Field) -> StoredTensor | None:
    """Return a run of numbers: as floats of four or two bytes, or packed to so many bits each; None if it is empty."""
    bits, size, count, dtype = 0, 0, 0, "F32"
    for part in _submessage(cursor, budget, weight):
        if part.number in (1, 2, 30, 31) and part.wire == BYTES:
            size += part.end - part.start
            count += (part.end - part.start) // {1: 4, 2: 2}.get(part.number, 1)
            dtype = {1: "F32", 2: "F16", 30: "U8", 31: "I8"}[part.number]
            if (part.end - part.start) % {1: 4, 2: 2}.get(part.number, 1):
                cursor.fail("a weight whose bytes are no whole numbers", part.start)
        elif part.number == 1:
            count, size = count + 1, size + 4
        elif part.number == 40:
            bits = next(
                (numbers(cursor, one, "bits")[0] for one in _submessage(cursor, budget, part) if one.number == 1 and one.wire == VARINT), 0
            )
    if dtype == "U8" and 0 < bits <= 8:
        return StoredTensor("", f"U{bits}", (count * 8 // bits,), size, note=FLAT)
    return StoredTensor("", dtype, (count,), size, note=FLAT) if count else None
