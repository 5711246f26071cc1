"""BERT in one file, to read: every parameter that ``weigh explain`` counts, and what it is for.

The modules have the names of the published checkpoints, so this file, ``weigh tensors bert-base-uncased`` and a checkpoint can be
held side by side. A module's docstring ends with what it weighs, in the letters of ``weigh formula``: V words, S positions, T token types, hidden
size H, I the width in the middle of a layer, L layers, C classes. B and N in the comments are examples and tokens: they cost time, never parameters.

Devlin et al., 2018, arXiv 1810.04805. Checked against transformers 5.23.0 by ``tests/examples/test_bert.py``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import torch
from torch import Tensor, nn
from torch.nn import functional as F

ACTIVATIONS = {"gelu": F.gelu, "gelu_new": lambda x: F.gelu(x, approximate="tanh"), "relu": F.relu, "silu": F.silu, "tanh": torch.tanh}
IGNORED = -100  # the label of a token that has no part in the loss


@dataclass
class Config:
    """The sizes of a BERT, named and defaulted as in the ``config.json`` of a published model."""

    vocab_size: int = 30522  # V
    max_position_embeddings: int = 512  # S
    type_vocab_size: int = 2  # T
    hidden_size: int = 768  # H
    intermediate_size: int = 3072  # I, by custom 4H
    num_hidden_layers: int = 12  # L
    num_attention_heads: int = 12
    num_labels: int = 2  # C
    hidden_act: str = "gelu"
    hidden_dropout_prob: float = 0.1
    attention_probs_dropout_prob: float = 0.1
    classifier_dropout: float | None = None
    layer_norm_eps: float = 1e-12
    pad_token_id: int | None = 0
    is_decoder: bool = False  # each token sees only those before it
    tie_word_embeddings: bool = True

    @classmethod
    def of(cls, raw: dict) -> Config:
        """Take the sizes out of a parsed ``config.json``; what is no size of these modules (names, versions) is left."""
        if raw.get("add_cross_attention"):
            raise ValueError("add_cross_attention: an encoder alone is described here")
        labels = {"num_labels": len(raw["id2label"])} if "id2label" in raw else {}
        return cls(**(labels | {field.name: raw[field.name] for field in fields(cls) if field.name in raw}))


class Embeddings(nn.Module):
    """Words become vectors: three tables, from each of which a token fetches one row; the rows are added.

    Attention by itself is blind to order, so a token says not only what it is but also where it stands (position) and in which of two
    sentences (token type). A table has a row for each thing that can be asked for, hence V, S and T rows of H numbers.

    Weighs V*H + S*H + T*H + 2*H: the tables, and the norm's gain and shift.
    """

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(c.vocab_size, c.hidden_size, padding_idx=c.pad_token_id)
        self.position_embeddings = nn.Embedding(c.max_position_embeddings, c.hidden_size)
        self.token_type_embeddings = nn.Embedding(c.type_vocab_size, c.hidden_size)
        self.LayerNorm = nn.LayerNorm(c.hidden_size, eps=c.layer_norm_eps)
        self.dropout = nn.Dropout(c.hidden_dropout_prob)
        self.register_buffer("position_ids", torch.arange(c.max_position_embeddings).unsqueeze(0), persistent=False)

    def forward(self, input_ids: Tensor, token_type_ids: Tensor | None) -> Tensor:
        positions = self.position_ids[:, : input_ids.size(1)]  # 0, 1, 2 ...: a buffer, held beside the parameters and not learned
        types = torch.zeros_like(positions) if token_type_ids is None else token_type_ids
        x = self.word_embeddings(input_ids) + self.token_type_embeddings(types) + self.position_embeddings(positions)
        return self.dropout(self.LayerNorm(x))  # B × N × H


class SelfAttention(nn.Module):
    """Each token asks all others: its query is held against their keys, and it takes a mean of their values, weighted by the fit.

    A head is a slice: head number h owns rows h·d to (h+1)·d of the three maps, d = H / heads, and attends with those d numbers alone, so
    that different heads can look for different things. Cutting H rows into heads adds no row: twelve heads weigh as much as one.
    That is why the number of heads stands in no formula of parameters (and why "3H²/heads" is wrong).

    Weighs 3*(H*H + H): the maps of query, key and value, each H × H with H biases.
    """

    def __init__(self, c: Config) -> None:
        super().__init__()
        if c.hidden_size % c.num_attention_heads:
            raise ValueError(f"hidden_size {c.hidden_size} does not divide by num_attention_heads {c.num_attention_heads}")
        self.heads = c.num_attention_heads
        self.query = nn.Linear(c.hidden_size, c.hidden_size)
        self.key = nn.Linear(c.hidden_size, c.hidden_size)
        self.value = nn.Linear(c.hidden_size, c.hidden_size)
        self.dropout = nn.Dropout(c.attention_probs_dropout_prob)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        B, N, H = x.shape

        def by_head(y: Tensor) -> Tensor:
            return y.view(B, N, self.heads, H // self.heads).transpose(1, 2)  # B × heads × N × d

        q, k, v = by_head(self.query(x)), by_head(self.key(x)), by_head(self.value(x))
        scores = q @ k.transpose(2, 3) / math.sqrt(q.size(-1))  # B × heads × N × N: quadratic in N, and not one parameter
        if mask is not None:
            scores = scores + mask
        weights = self.dropout(F.softmax(scores, dim=-1))
        return (weights @ v).transpose(1, 2).reshape(B, N, H)  # the heads side by side again: H numbers


class Output(nn.Module):
    """End either half of a layer: a linear map to H numbers, then add what the half was given (the shortcut) and normalize.

    The shortcut has no parameters. After attention the map mixes the heads, each of which knows only its own d numbers; it is the fourth H × H.

    Weighs inputs*H + 3*H: the map of inputs × H, its H biases, gain and shift of the norm.
    """

    def __init__(self, c: Config, inputs: int) -> None:
        super().__init__()
        self.dense = nn.Linear(inputs, c.hidden_size)
        self.LayerNorm = nn.LayerNorm(c.hidden_size, eps=c.layer_norm_eps)
        self.dropout = nn.Dropout(c.hidden_dropout_prob)

    def forward(self, x: Tensor, shortcut: Tensor) -> Tensor:
        return self.LayerNorm(self.dropout(self.dense(x)) + shortcut)


class Attention(nn.Module):
    """Tokens look at each other, and what the heads found is mixed: query, key, value and this last map are the 4H² of a layer.

    Weighs 4*H*H + 6*H: four maps of H × H with H biases each, and the norm's 2H.
    """

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.self = SelfAttention(c)
        self.output = Output(c, c.hidden_size)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        return self.output(self.self(x, mask), x)


class Intermediate(nn.Module):
    """Widen every token by itself from H to I numbers and bend the result: without the activation the two maps of a layer were one.

    Weighs H*I + I.
    """

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.dense = nn.Linear(c.hidden_size, c.intermediate_size)
        self.activation = ACTIVATIONS[c.hidden_act]

    def forward(self, x: Tensor) -> Tensor:
        return self.activation(self.dense(x))


class Layer(nn.Module):
    """Attention between the tokens, then a feed-forward network within each: up to I numbers and down again. With I = 4H that is 8H², twice the attention.

    Weighs 4*H*H + 2*H*I + 9*H + I.
    """

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.attention = Attention(c)
        self.intermediate = Intermediate(c)
        self.output = Output(c, c.intermediate_size)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        x = self.attention(x, mask)
        return self.output(self.intermediate(x), x)


class Encoder(nn.Module):
    """The layers, one after the other: of one shape, so one derivation serves all, but each with numbers of its own.

    Weighs L*(4*H*H + 2*H*I + 9*H + I).
    """

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.layer = nn.ModuleList(Layer(c) for _ in range(c.num_hidden_layers))

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        for layer in self.layer:
            x = layer(x, mask)
        return x


class Pooler(nn.Module):
    """One vector for the whole text: that of the first token, [CLS], which stands for no word and so is free to collect what a head on texts needs.

    Heads on single tokens have no use for it; that is why BertForMaskedLM is built without one, and weighs H² + H less here.

    Weighs H*H + H.
    """

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.dense = nn.Linear(c.hidden_size, c.hidden_size)

    def forward(self, x: Tensor) -> Tensor:
        return torch.tanh(self.dense(x[:, 0]))


class Transform(nn.Module):
    """Turn a token's vector from "what it means here" into "which word stands here".

    Weighs H*H + 3*H.
    """

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.dense = nn.Linear(c.hidden_size, c.hidden_size)
        self.activation = ACTIVATIONS[c.hidden_act]
        self.LayerNorm = nn.LayerNorm(c.hidden_size, eps=c.layer_norm_eps)

    def forward(self, x: Tensor) -> Tensor:
        return self.LayerNorm(self.activation(self.dense(x)))


class Predictions(nn.Module):
    """Score every word of the vocabulary: the table of words once more, read the other way, with a bias for each word.

    The decoder's weight *is* the word table and its bias *is* ``bias``: one storage under two names, so both are counted once.

    Weighs H*H + 3*H + V beside the table.
    """

    def __init__(self, c: Config, words: nn.Parameter) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(c.vocab_size))
        self.transform = Transform(c)
        self.decoder = nn.Linear(c.hidden_size, c.vocab_size)
        if c.tie_word_embeddings:
            self.decoder.weight, self.decoder.bias = words, self.bias

    def forward(self, x: Tensor) -> Tensor:
        return self.decoder(self.transform(x))


class BertModel(nn.Module):
    """Embeddings, encoder and, where a head needs it, the pooler: what all nine classes share."""

    def __init__(self, c: Config, *, pooled: bool = True) -> None:
        super().__init__()
        self.config = c
        self.embeddings = Embeddings(c)
        self.encoder = Encoder(c)
        self.pooler = Pooler(c) if pooled else None
        self.apply(initialize)

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None, token_type_ids: Tensor | None = None) -> tuple:
        """Return the vectors of the tokens, B × N × H, and the pooled vector of each text, B × H (None without a pooler)."""
        x = self.embeddings(input_ids, token_type_ids)
        x = self.encoder(x, self.mask(x, attention_mask))
        return x, None if self.pooler is None else self.pooler(x)

    def mask(self, x: Tensor, attention_mask: Tensor | None) -> Tensor | None:
        """Return what is added to the scores: 0 where a token may look; at padding, and in a decoder ahead of it, the least number there is."""
        if attention_mask is None and not self.config.is_decoder:
            return None
        seen = torch.ones(1, 1, 1, x.size(1), dtype=torch.bool) if attention_mask is None else attention_mask[:, None, None, :].bool()
        if self.config.is_decoder:
            seen = seen & torch.ones(x.size(1), x.size(1), dtype=torch.bool).tril()
        return torch.zeros(seen.shape, dtype=x.dtype).masked_fill(~seen, torch.finfo(x.dtype).min)


class WithHead(nn.Module):
    """BERT, and a head that turns its vectors into scores. With labels every class returns the loss beside the scores."""

    pooled = False

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.bert = BertModel(c, pooled=self.pooled)
        self.dropout = nn.Dropout(c.hidden_dropout_prob if c.classifier_dropout is None else c.classifier_dropout)
        self.add_head(c)
        self.apply(initialize)

    def add_head(self, c: Config) -> None:
        raise NotImplementedError

    def scores(self, tokens: Tensor, text: Tensor | None) -> Tensor | tuple[Tensor, Tensor]:
        raise NotImplementedError

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None, token_type_ids: Tensor | None = None, labels=None) -> tuple:
        scores = self.scores(*self.bert(input_ids, attention_mask, token_type_ids))
        return scores, None if labels is None else self.loss(scores, labels)

    def loss(self, scores, labels):
        return cross_entropy(scores, labels)


class BertForMaskedLM(WithHead):
    """Which word was here? Pre-training's first task: 15 of 100 tokens are hidden, and guessed from both sides."""

    def add_head(self, c: Config) -> None:
        self.cls = nn.ModuleDict({"predictions": Predictions(c, self.bert.embeddings.word_embeddings.weight)})

    def scores(self, tokens: Tensor, text: Tensor | None) -> Tensor:
        return self.cls["predictions"](tokens)


class BertLMHeadModel(BertForMaskedLM):
    """Which word comes next? The same modules; with ``is_decoder`` no token sees what it is to guess."""

    def loss(self, scores: Tensor, labels: Tensor) -> Tensor:
        return cross_entropy(scores, F.pad(labels[:, 1:], (0, 1), value=IGNORED))


class BertForNextSentencePrediction(WithHead):
    """Did the second sentence follow the first? Pre-training's other task, on the pooled vector; always two scores."""

    pooled = True

    def add_head(self, c: Config) -> None:
        self.cls = nn.ModuleDict({"seq_relationship": nn.Linear(c.hidden_size, 2)})

    def scores(self, tokens: Tensor, text: Tensor) -> Tensor:
        return self.cls["seq_relationship"](text)


class BertForPreTraining(WithHead):
    """Both tasks at once, as the published models were trained: labels are a pair, and the losses are added."""

    pooled = True

    def add_head(self, c: Config) -> None:
        words = self.bert.embeddings.word_embeddings.weight
        self.cls = nn.ModuleDict({"predictions": Predictions(c, words), "seq_relationship": nn.Linear(c.hidden_size, 2)})

    def scores(self, tokens: Tensor, text: Tensor) -> tuple[Tensor, Tensor]:
        return self.cls["predictions"](tokens), self.cls["seq_relationship"](text)

    def loss(self, scores: tuple[Tensor, Tensor], labels: tuple[Tensor, Tensor]) -> Tensor:
        return cross_entropy(scores[0], labels[0]) + cross_entropy(scores[1], labels[1])


class BertForSequenceClassification(WithHead):
    """What is said of the whole text? C scores from the pooled vector: sentiment, or how a pair of sentences belongs together."""

    pooled = True

    def add_head(self, c: Config) -> None:
        self.classifier = nn.Linear(c.hidden_size, c.num_labels)

    def scores(self, tokens: Tensor, text: Tensor) -> Tensor:
        return self.classifier(self.dropout(text))


class BertForMultipleChoice(BertForSequenceClassification):
    """Which of several answers fits? Each is read with the question as a text of its own (B × choices × N) and gets one score."""

    def add_head(self, c: Config) -> None:
        self.classifier = nn.Linear(c.hidden_size, 1)

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None, token_type_ids: Tensor | None = None, labels=None) -> tuple:
        texts = [None if x is None else x.flatten(0, 1) for x in (input_ids, attention_mask, token_type_ids)]
        scores = self.scores(*self.bert(*texts)).view(input_ids.shape[:2])
        return scores, None if labels is None else self.loss(scores, labels)


class BertForTokenClassification(BertForSequenceClassification):
    """What is each token? C scores a token: names of people and places, parts of speech. No pooler."""

    pooled = False

    def scores(self, tokens: Tensor, text: Tensor | None) -> Tensor:
        return self.classifier(self.dropout(tokens))


class BertForQuestionAnswering(WithHead):
    """Where in the text is the answer? Two scores a token, begins here and ends here; labels are a pair of positions."""

    def add_head(self, c: Config) -> None:
        self.qa_outputs = nn.Linear(c.hidden_size, c.num_labels)

    def scores(self, tokens: Tensor, text: Tensor | None) -> tuple[Tensor, Tensor]:
        start, end = self.qa_outputs(tokens).unbind(-1)
        return start, end

    def loss(self, scores: tuple[Tensor, Tensor], labels: tuple[Tensor, Tensor]) -> Tensor:
        end = scores[0].size(-1)  # an answer beyond the text that was kept has no part
        return sum(F.cross_entropy(score, label.clamp(0, end), ignore_index=end) for score, label in zip(scores, labels, strict=True)) / 2


def cross_entropy(scores: Tensor, labels: Tensor) -> Tensor:
    """Return the mean surprise, -log p of the label, over all labels but those that are IGNORED."""
    return F.cross_entropy(scores.reshape(-1, scores.size(-1)), labels.reshape(-1), ignore_index=IGNORED)


def initialize(module: nn.Module) -> None:
    """Draw maps and tables from a narrow normal distribution, as in the paper; biases begin at 0, gains at 1."""
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear):
        nn.init.zeros_(module.bias)


NINE = (BertModel, BertForPreTraining, BertLMHeadModel, BertForMaskedLM, BertForNextSentencePrediction, BertForSequenceClassification)
NINE += (BertForMultipleChoice, BertForTokenClassification, BertForQuestionAnswering)
CLASSES = {cls.__name__: cls for cls in NINE}
