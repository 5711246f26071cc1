"""Step 3: pick a BERT that fits a budget, and predict what it will cost, all before a single weight exists.

Every number here comes from ``weigh``, but one: how many products a second this machine can do, which a product of two matrices tells.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from itertools import product
from typing import Any, NamedTuple

import torch

import weighbridge
from weighbridge import Model

HEAD_DIM = 32


class Budget(NamedTuple):
    """What a model may take: parameters, and bytes of training on one batch."""

    parameters: int
    memory_bytes: int
    batch: int
    tokens: int


class Prediction(NamedTuple):
    """What the run will take. The bytes are of one full batch, the seconds a lower bound: as if all time went into products of matrices."""

    parameters: int
    weight_bytes: int
    gradient_bytes: int
    optimizer_bytes: int
    activation_bytes: int
    memory_bytes: int
    epoch_flops: int
    pretraining_epoch_flops: int
    matmul_rate: float

    def seconds(self, epochs: int, pretraining_epochs: int) -> float:
        """Return the least time that so many epochs can take."""
        return (epochs * self.epoch_flops + pretraining_epochs * self.pretraining_epoch_flops) / self.matmul_rate


def sizes(vocabulary: int, hidden: int, layers: int, longest: int) -> dict[str, Any]:
    """Return the config of a BERT; the proportions are those of the paper: I = 4H, and heads of one width."""
    return {
        "model_type": "bert",
        "vocab_size": vocabulary,
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": hidden // HEAD_DIM,
        "intermediate_size": 4 * hidden,
        "max_position_embeddings": longest,
        "type_vocab_size": 2,
        "id2label": {"0": "negative", "1": "positive"},
    }


def choose(vocabulary: int, budget: Budget) -> dict[str, Any]:
    """Return the config of the largest BERT within the budget.

    Raises:
        SystemExit: None fits.
    """
    fitting = []
    for hidden, layers in product(range(HEAD_DIM, 513, HEAD_DIM), range(2, 9)):
        config = sizes(vocabulary, hidden, layers, budget.tokens)
        parameters = weigh(config).count().unique
        if parameters <= budget.parameters and training(config, budget.batch, budget.tokens).total <= budget.memory_bytes:
            fitting.append((parameters, hidden, config))
    if not fitting:
        raise SystemExit(f"no BERT fits {budget.parameters:,} parameters and {budget.memory_bytes:,} bytes with {vocabulary:,} words")
    return max(fitting, key=lambda found: found[:2])[2]


def weigh(config: dict[str, Any], class_name: str = "BertForSequenceClassification") -> Model:
    """Weigh a class of a config."""
    return weighbridge.model(config, class_name)


def training(config: dict[str, Any], batch: int, tokens: int, class_name: str = "BertForSequenceClassification") -> Any:
    """Return the bytes of training on one batch; ``eager`` is attention as the BERT to read has it, its scores written out."""
    return weigh(config, class_name).memory(training=True, attention="eager", batch=batch, seq=tokens)


def step_flops(config: dict[str, Any], batch: int, tokens: int, class_name: str = "BertForSequenceClassification") -> int:
    """Return the products and sums of one step: forward and backward, as torch's counter counts them."""
    found = weigh(config, class_name).flops(batch=batch, seq=tokens)
    return int(found.forward_matmul + found.backward)


def pretraining_flops(config: dict[str, Any], batch: int, tokens: int, hidden_tokens: int) -> int:
    """Return the same of a step of pre-training, where words are scored at the hidden tokens alone: the head is linear in its tokens."""
    rest = step_flops(config, batch, tokens, "BertForNextSentencePrediction")
    head_per_token = (
        step_flops(config, 1, tokens, "BertForPreTraining") - step_flops(config, 1, tokens, "BertForNextSentencePrediction")
    ) // tokens
    return rest + hidden_tokens * head_per_token


def predict(
    config: dict[str, Any], budget: Budget, shapes: Iterable[tuple[int, int]], pretraining: Iterable[tuple[int, int, int]]
) -> Prediction:
    """Predict the run from the shapes of an epoch's batches: (texts, tokens), and of pre-training (texts, tokens, hidden tokens)."""
    memory = training(config, budget.batch, budget.tokens)
    return Prediction(
        parameters=weigh(config).count().unique,
        weight_bytes=memory.weights,
        gradient_bytes=memory.gradients,
        optimizer_bytes=memory.optimizer,
        activation_bytes=memory.activations,
        memory_bytes=memory.total,
        epoch_flops=sum(times * step_flops(config, *shape) for shape, times in Counter(shapes).items()),
        pretraining_epoch_flops=sum(times * pretraining_flops(config, *shape) for shape, times in Counter(pretraining).items()),
        matmul_rate=matmul_rate(),
    )


def matmul_rate(size: int = 1024, seconds: float = 1.0) -> float:
    """Return how many products and sums a second this machine does at its best: 2n³ for a product of two n × n matrices."""
    a, b = torch.randn(size, size), torch.randn(size, size)
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        a @ b
        best = min(best, time.perf_counter() - start)
    return 2 * size**3 / best
