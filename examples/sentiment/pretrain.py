"""Pre-training in miniature: hidden words and next sentences, on the texts of the training part, whose labels are not looked at.

A review is cut in two. Half of the time the second piece stays, half of the time it comes from another review: is it the next? Of all
tokens 15 in 100 are to be guessed; of these 80 in 100 are hidden behind [MASK], 10 are replaced and 10 stay (Devlin et al., 3.1).
Words are scored only where one is to be guessed: the vocabulary head is most of a small BERT's arithmetic, and the other scores would be thrown away.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from examples.bert.bert import IGNORED, cross_entropy
from examples.sentiment.train import Steps
from examples.sentiment.vocabulary import SPECIAL, Encoded, group_texts, padded_length

CLS, SEP, MASK = SPECIAL.index("[CLS]"), SPECIAL.index("[SEP]"), SPECIAL.index("[MASK]")


class Exercise(NamedTuple):
    """A batch of pairs: tokens, where they are no padding, which sentence they are of, the words to guess, and whether the second follows (0) or not (1)."""

    input_ids: Tensor
    attention_mask: Tensor
    token_type_ids: Tensor
    words: Tensor
    other: Tensor


def exercise(texts: Sequence[Encoded], all_texts: Sequence[Encoded], longest: int, vocabulary: int, draw: random.Random) -> Exercise:
    """Make an exercise of texts."""
    rows = [pair(text, all_texts, longest, draw) for text in texts]
    length = padded_length(max(len(tokens) for tokens, _, _ in rows), longest)
    hidden = [hide(tokens, vocabulary, draw) for tokens, _, _ in rows]

    def stack_padded(lists: Sequence[Sequence[int]], filler: int) -> Tensor:
        return torch.tensor([[*one, *[filler] * (length - len(one))] for one in lists])

    return Exercise(
        stack_padded([seen for seen, _ in hidden], 0),
        stack_padded([[1] * len(tokens) for tokens, _, _ in rows], 0),
        stack_padded([[0] * first + [1] * (len(tokens) - first) for tokens, first, _ in rows], 0),
        stack_padded([words for _, words in hidden], IGNORED),
        torch.tensor([other for _, _, other in rows]),
    )


def pair(text: Encoded, all_texts: Sequence[Encoded], longest: int, draw: random.Random) -> tuple[list[int], int, int]:
    """Cut a text in two, maybe with another's end: the tokens, how many the first piece has, and whether the second is another's."""
    body = text.tokens[1:-1]
    cut = max(1, len(body) // 2)
    first, second, other = body[:cut], body[cut:], int(draw.random() < 0.5)
    if other:
        strange = draw.choice(all_texts).tokens[1:-1]
        second = strange[len(strange) // 2 :]
    tokens = [CLS, *first, SEP, *second[: longest - 3 - len(first)], SEP]
    return tokens, len(first) + 2, other


def hide(tokens: list[int], vocabulary: int, draw: random.Random) -> tuple[list[int], list[int]]:
    """Hide some tokens: what is seen, and the words to guess (IGNORED where nothing is)."""
    seen, words = list(tokens), [IGNORED] * len(tokens)
    for place, token in enumerate(tokens):
        if token >= len(SPECIAL) and draw.random() < 0.15:
            words[place], how = token, draw.random()
            seen[place] = MASK if how < 0.8 else draw.randrange(len(SPECIAL), vocabulary) if how < 0.9 else token
    return seen, words


def exercises(texts: Sequence[Encoded], batch: int, longest: int, vocabulary: int, seed: str) -> list[Exercise]:
    """Make the exercises of an epoch; the same seed gives the same."""
    draw = random.Random(seed)
    return [exercise(group, texts, longest, vocabulary, draw) for group in group_texts(texts, batch, longest, draw)]


def loss_of(model: nn.Module, one: Exercise) -> Tensor:
    """Return the loss of BertForPreTraining: of the words at the hidden tokens, and of the pairs."""
    tokens, text = model.bert(one.input_ids, one.attention_mask, one.token_type_ids)
    guessed = one.words != IGNORED
    words = model.cls["predictions"](tokens[guessed])
    return cross_entropy(words, one.words[guessed]) + cross_entropy(model.cls["seq_relationship"](text), one.other)


def steps(batches: Sequence[Exercise]) -> Steps:
    """Return the steps of an epoch."""
    return [lambda model, one=one: loss_of(model, one) for one in batches]
