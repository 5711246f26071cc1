"""Step 2: a WordPiece vocabulary from the training part alone, and texts as tensors.

The published Chinese BERT cuts every text into single characters. Here pieces of several characters are learned too (不错, 的时候), wherever they
stand: that makes texts a third shorter, and what a token costs is paid a third less often. V of them weigh V × H parameters.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
from torch import Tensor

from examples.sentiment.data import Example

SPECIAL = PAD, UNK, CLS, SEP, MASK = "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"
STEP = 8  # texts of nearly one length go into one batch: lengths are rounded up to a multiple of this


class Encoded(NamedTuple):
    """A text as tokens, [CLS] in front and [SEP] behind, with its label."""

    tokens: list[int]
    label: int


class Batch(NamedTuple):
    """Texts of one padded length: B × N tokens, 1 where a token is no padding, and B labels."""

    input_ids: Tensor
    attention_mask: Tensor
    labels: Tensor


def learn(texts: Sequence[str], size: int) -> Tokenizer:
    """Learn *size* pieces from the training texts; what is in no other text may not have a piece of its own."""
    tokenizer = Tokenizer(models.WordPiece(unk_token=UNK, continuing_subword_prefix="", max_input_chars_per_word=1000))
    tokenizer.normalizer = normalizers.BertNormalizer(handle_chinese_chars=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=size, special_tokens=list(SPECIAL), continuing_subword_prefix="", show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def encode(tokenizer: Tokenizer, examples: Sequence[Example], longest: int) -> list[Encoded]:
    """Turn texts into tokens; of one that is too long, the first and the last halves are kept: opinions stand at the ends."""
    cls, sep = tokenizer.token_to_id(CLS), tokenizer.token_to_id(SEP)
    encoded = []
    for example, one in zip(
        examples, tokenizer.encode_batch([example.text for example in examples], add_special_tokens=False), strict=True
    ):
        room, ids = longest - 2, one.ids
        kept = ids if len(ids) <= room else ids[: room - room // 2] + ids[-(room // 2) :]
        encoded.append(Encoded([cls, *kept, sep], example.label))
    return encoded


def padded_length(tokens: int, longest: int) -> int:
    """Return the length to which a text is padded."""
    return min(-(-tokens // STEP) * STEP, longest)


def group_texts(texts: Sequence[Encoded], size: int, longest: int, draw: random.Random | None = None) -> Iterator[list[Encoded]]:
    """Deal texts out into batches of one padded length; with *draw* in a random order, which is another one in each epoch."""
    order = list(texts)
    if draw:
        draw.shuffle(order)
    open_batches: dict[int, list[Encoded]] = {}
    for text in order:
        batch = open_batches.setdefault(padded_length(len(text.tokens), longest), [])
        batch.append(text)
        if len(batch) == size:
            yield open_batches.pop(padded_length(len(text.tokens), longest))
    yield from open_batches.values()


def stack(texts: Sequence[Encoded], longest: int, pad: int = 0) -> Batch:
    """Pad texts to one length and stack them."""
    length = padded_length(max(len(text.tokens) for text in texts), longest)
    rows = [text.tokens + [pad] * (length - len(text.tokens)) for text in texts]
    seen = [[1] * len(text.tokens) + [0] * (length - len(text.tokens)) for text in texts]
    return Batch(torch.tensor(rows), torch.tensor(seen), torch.tensor([text.label for text in texts]))
