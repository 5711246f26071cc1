"""Exercises: a question about a model, its hints and its solution. The same model, level and seed give the same exercise."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.core.errors import UsageError
from weighbridge.core.formula import letters
from weighbridge.core.messages import Text, mark, translator
from weighbridge.exercises.levels import QUESTIONS
from weighbridge.explain.derive import Derivation, derive
from weighbridge.explain.section import Section

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

LEVEL_WORDS = {
    "table": mark("one table"),
    "module": mark("one module"),
    "layer": mark("one layer"),
    "model": mark("the whole model"),
    "heads": mark("grouped heads"),
    "active": mark("active experts"),
    "convention": mark("which convention"),
}
"""The levels, and what each asks for."""

LEVELS = tuple(LEVEL_WORDS)
"""From one table to the whole model; then grouped heads, active experts, and which convention gives a number."""

MODELS = {
    "table": ("bert-base-uncased", "bert-base-chinese", "gpt2", "roberta-base", "llama-3-8b", "bert-tiny", "t5-small", "qwen3-0.6b", "bert-large-uncased"),
    "module": ("bert-base-uncased", "gpt2", "vit-base-patch16-224", "llama-3-8b", "t5-base", "qwen2.5-0.5b", "bert-mini", "roberta-large"),
    "layer": ("bert-base-uncased", "bert-large-uncased", "gpt2", "gpt2-medium", "llama-2-7b", "vit-base-patch16-224", "bert-small", "tinyllama-1.1b", "qwen3-0.6b"),
    "model": ("bert-base-uncased", "bert-base-chinese", "bert-large-uncased", "gpt2", "llama-2-7b", "vit-base-patch16-224", "bert-tiny", "tinyllama-1.1b", "distilbert-base-uncased"),
    "heads": ("llama-3-8b", "llama-3-70b", "tinyllama-1.1b", "mistral-7b-v0.1", "qwen2.5-7b", "qwen3-0.6b", "llama-3.2-1b", "gemma-2-9b"),
    "active": ("mixtral-8x7b", "qwen3-30b-a3b", "deepseek-v3", "olmoe-1b-7b", "mixtral-8x22b", "qwen1.5-moe-a2.7b", "deepseek-v2-lite"),
    "convention": ("bert-base-uncased", "bert-large-uncased", "bert-base-chinese", "gpt2", "roberta-base", "t5-small", "llama-3.2-1b"),
}  # fmt: skip
"""Which models an exercise is drawn from when none is named."""


class Exercise(NamedTuple):
    """One exercise.

    Attributes:
        level: One of :data:`LEVELS`.
        seed: Which exercise of that level it is.
        model: The model that it is about; where other sizes are asked for, the one with those.
        lang: The language of its words.
        title: Level, seed, class and model.
        question: What is asked.
        symbols: The sizes that it takes: letter, config key, meaning, value.
        choices: The answers to choose from, numbered from 1; empty where a number is to be found.
        answer: The number, or the number of the right choice.
        hints: Each says a little more than the one before.
        solution: The derivation of the part in question.
        working: Steps that lead from the derivation to the answer, where it does not end with it.
        traps: Other numbers that one may come to, and what each of them counts.
    """

    level: str
    seed: int
    model: ModelValue
    lang: str
    title: str
    question: str
    symbols: tuple[tuple[str, str, str, int], ...]
    choices: tuple[str, ...]
    answer: int
    hints: tuple[str, ...]
    solution: Derivation
    working: tuple[str, ...] = ()
    traps: tuple[tuple[int, str], ...] = ()


def choose_preset(level: str, seed: int) -> str:
    """Return the preset that an exercise is about when none is named.

    >>> choose_preset("layer", 3) in MODELS["layer"]
    True
    """
    _check(level, seed)
    return Random(f"{level} {seed}").choice(MODELS[level])


def exercise_about(model: ModelValue, level: str = "layer", seed: int = 1, lang: str = "en") -> Exercise:
    """Make an exercise about *model*.

    Raises:
        UsageError: There is no such level, or the model has nothing that it could ask about.

    >>> from weighbridge import model
    >>> exercise_about(model("bert-base-uncased"), "layer").answer
    7087872
    """
    _check(level, seed)
    say = translator(lang)
    found = derive(model, lang)
    draft = QUESTIONS[level](model, found, Random(f"{level} {seed} {model.class_name}"), say)
    used = set(_letters(draft.root))
    found = found if draft.model is None else derive(draft.model, lang)
    symbols = tuple((s.letter, s.key, meaning, found.values[s.letter]) for s, meaning in found.symbols if s.letter in used)
    name = " · ".join(text for text in (model.class_name, model.source) if text)
    title = say("Exercise {seed} ({level}): {model}").format(seed=seed, level=say(LEVEL_WORDS[level]), model=name)
    solution = Derivation(
        name, lang, draft.root, tuple(pair for pair in found.symbols if pair[0].letter in used), {s[0]: s[3] for s in symbols}, None
    )
    return Exercise(
        level=level,
        seed=seed,
        model=draft.model or model,
        lang=lang,
        title=title,
        question=draft.question,
        symbols=symbols,
        choices=draft.choices,
        answer=draft.answer,
        hints=draft.hints,
        solution=solution,
        working=draft.working,
        traps=draft.traps,
    )


def _letters(section: Section) -> Iterator[str]:
    yield from letters(section.times)
    for part in section.parts:
        yield from _letters(part) if isinstance(part, Section) else letters(part.formula)


def _check(level: str, seed: int) -> None:
    if level not in LEVELS:
        raise UsageError(Text("level: expected one of {levels}, found {found!r}", levels=", ".join(LEVELS), found=level[:40]))
    if not 1 <= seed <= 999_999_999:
        raise UsageError(Text("seed: expected a whole number from 1 to 999,999,999, found {found}", found=seed))
