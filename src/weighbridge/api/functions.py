"""The public functions: from what was typed to an answer, in one call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from weighbridge.accounts.parameters import Tally
from weighbridge.api.model import model
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.load import load

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from weighbridge.accounts.compare import Comparison
    from weighbridge.auditing.claims import Audit
    from weighbridge.conventions.reconcile import Reconciliation
    from weighbridge.designs.costs import Workload
    from weighbridge.designs.search import Search
    from weighbridge.designs.solve import Solution
    from weighbridge.designs.space import Space
    from weighbridge.designs.sweep import Sweep
    from weighbridge.exercises.marking import Marking
    from weighbridge.exercises.questions import Exercise
    from weighbridge.inventory.run import Summary
    from weighbridge.verification.diff import Difference
    from weighbridge.verification.findings import Verification


def count(source: object, model_class: str | None = None, overrides: Mapping[str, Any] | None = None) -> Tally:
    """Count the parameters of *source*: short for ``model(...).count()``.

    >>> count("bert-base-uncased").unique
    109482240
    """
    return model(source, model_class, overrides).count()


def params(config: object, model_class: str | None = None) -> int:
    """Return the unique parameters of a config, a preset or a file, as one int for programs that need no more.

    >>> params("llama-3.2-1b")
    1235814400
    """
    found = count(config, model_class).unique
    assert isinstance(found, int), "a config has ints"
    return found


def kv_bytes(
    config: object,
    seq: int | None = None,
    batch: int = 1,
    *,
    dtype: str = "bfloat16",
    engine: str = "reference",
    decoder_seq: int | None = None,
) -> int:
    """Return the bytes of keys, values and states that a model keeps after a prompt; see :meth:`Model.cache`.

    >>> kv_bytes("llama-3.2-1b", 1024)
    33554432
    """
    return model(config).cache(batch, seq, decoder_seq, dtype, engine).bytes


def flops_per_token(config: object, seq: int | None = None, *, convention: str = "torch") -> float:
    """Return the FLOPs of one forward pass over *seq* tokens, for each of them, by a convention of :meth:`Model.arithmetic`.

    By default they are 4,096, or as many as the model has positions for.

    >>> flops_per_token("bert-base-uncased", 128)
    174597120.0
    """
    from weighbridge.accounts.accepted_inputs import usual_lengths
    from weighbridge.accounts.cache import SEQ
    from weighbridge.accounts.inputs import positive_int

    whole = model(config)
    seq = usual_lengths(whole, SEQ)[0] if seq is None else positive_int(seq, "seq")
    value = whole.flops(seq=seq).forward_matmul if convention == "torch" else whole.arithmetic(convention, seq=seq).value
    assert isinstance(value, int), "a config has ints"
    return value / seq


def verify(
    source: object,
    config: object = None,
    model_class: str | None = None,
    overrides: Mapping[str, Any] | None = None,
    *,
    thorough: bool = False,
) -> Verification:
    """Hold a checkpoint against a config: every tensor matched, or named with its reason.

    Args:
        source: A directory, a checkpoint file, or the index of a sharded one, here or elsewhere.
        config: What :func:`model` takes; by default a GGUF file's own metadata, or the ``config.json`` beside the weights.
        model_class, overrides: As for :func:`model`.
        thorough: Read both tensors of a tie that the file holds twice to the end; by default a few kilobytes are sampled.

    Raises:
        SourceError: No such file, or no config beside it.
        ReadError: A damaged file.
        ConfigError: A config that is wrong or has no blueprint.
    """
    from weighbridge.verification.verify import verify_checkpoint

    return verify_checkpoint(source, config, model_class, overrides, thorough=thorough)


def audit(data: bytes | str, *, name: str = "", model: object = None) -> Audit:
    """Check every numeric claim of a text.

    Args:
        data: The text, or the bytes of its file.
        name: The file's name; its ending may say what it is.
        model: The model it is about, or what :func:`model` takes; without one, the text's names and sizes tell.

    Raises:
        ReadError: It is no text.

    >>> [claim.verdict for claim in audit("30522 × 768 = 23,449,856").claims]
    ['wrong']
    """
    from weighbridge.auditing import audit

    return audit(data, name=name, model=None if model is None else load(model))


def diff(a: object, b: object) -> Difference:
    """Compare two models, or two of what :func:`model` takes, tensor by tensor.

    >>> [(change.name, change.b) for change in diff("bert-base-uncased", "bert-base-chinese").reshaped]
    [('embeddings.word_embeddings.weight', (21128, 768))]
    """
    from weighbridge.verification.diff import diff

    return diff(load(a), load(b))


def compare(sources: Iterable[object], batch: int = 1, seq: int | None = None) -> Comparison:
    """Put models, or what :func:`model` takes, side by side, with the config fields that explain each difference from the first.

    Args:
        sources: At least one.
        batch, seq: Examples and tokens per example, for the arithmetic; by default 128, or as many as all of them have positions for.

    >>> compare(["bert-base-uncased", "bert-large-uncased"]).measures[0].differences
    (0, 225659648)
    """
    from weighbridge.accounts.compare import compare
    from weighbridge.verification.attribution import with_causes

    return with_causes(compare([load(source) for source in sources], batch, seq))


def reconcile(source: object, number: str | int, lang: str = "en") -> Reconciliation:
    """Find which way of counting a model, or what :func:`model` takes, gives a number.

    >>> reconcile("bert-base-uncased", "108,808,704").matches[0].convention
    'BertModel without linear biases and pooler'
    """
    from weighbridge.conventions.reconcile import reconcile

    return reconcile(load(source), number, lang)


def exercise(
    source: object = None,
    level: str = "layer",
    seed: int = 1,
    lang: str = "en",
    *,
    model_class: str | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> Exercise:
    """Make a counting exercise: the same model, level and seed give the same one.

    Args:
        source, model_class, overrides: As for :func:`model`; without a source, a model that suits the level is drawn by the seed.
        level: ``table``, ``module``, ``layer``, ``model``, ``heads``, ``active`` or ``convention``.
        seed: Which exercise of that level.
        lang: The language of its words.

    Raises:
        UsageError: There is no such level, or the model has nothing that it could ask about.

    >>> exercise("bert-base-uncased", "table").question
    'How many parameters are in Word embeddings (embeddings.word_embeddings)?'
    """
    from weighbridge.exercises.questions import choose_preset, exercise_about

    return exercise_about(load(choose_preset(level, seed) if source is None else source, model_class, overrides), level, seed, lang)


def mark(exercise: Exercise, answer: str | int) -> Marking:
    """Mark an answer to an exercise: a number, or the steps to it, an equation a line.

    Raises:
        UsageError: There is no answer, or it is too long.

    >>> mark(exercise("bert-base-uncased", "layer"), "4 × (768² + 768) = 2,362,368").remarks
    ('4,725,504 too low: without Feed-forward network and Layer normalization',)
    """
    from weighbridge.exercises.marking import mark_answer

    return mark_answer(exercise, answer)


def solve(
    source: object,
    *keys: str,
    params: str | int | None = None,
    active: str | int | None = None,
    loaded: str | int | None = None,
    flops: str | int | None = None,
    cache: str | int | None = None,
    memory: str | int | None = None,
    multiple: Mapping[str, int] | None = None,
    workload: Workload | None = None,
    model_class: str | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> Solution:
    """Solve one or two sizes of a config exactly for a number of parameters.

    Args:
        source, model_class, overrides: As for :func:`model`.
        keys: One or two key paths of sizes.
        params, active, loaded, flops: What the parameters, the active ones, those once it is loaded, or the FLOPs of a forward pass are
            to be: an int, or text such as ``124M±0.5%``.
        cache, memory: What the bytes of cache that a token adds, or of memory, are to be: an int, or text such as ``64KiB``.
        multiple: For a key, the number that its value must be a multiple of.
        workload: Batch, length and types for arithmetic, cache and memory.

    Raises:
        UsageError: No target, no such size, or a source without a config.

    >>> solve("bert-base-uncased", "num_hidden_layers", params=109482240).solutions[0].values
    {'num_hidden_layers': 12}
    """
    from weighbridge.core.errors import UsageError
    from weighbridge.designs.budget import BYTES, COUNTS, parse_budget
    from weighbridge.designs.solve import solve as solved

    counts = {"params": params, "loaded": loaded, "active": active, "flops": flops}
    targets = {name: parse_budget(text, name, COUNTS) for name, text in counts.items() if text is not None}
    targets |= {name: parse_budget(text, name, BYTES) for name, text in (("cache", cache), ("memory", memory)) if text is not None}
    if not targets:
        raise UsageError("solve: for how many parameters? give params, active, loaded, flops, cache or memory")
    named = {"parameters" if name == "params" else name: budget for name, budget in targets.items()}
    return solved(model(source, model_class, overrides), keys, named, step=multiple, workload=workload)


def design(
    like: object,
    params: str | int,
    space: Space | None = None,
    *,
    limits: Mapping[str, int] | None = None,
    workload: Workload | None = None,
    sort: str = "fit",
    limit: int = 20,
    model_class: str | None = None,
) -> Search:
    """Find all designs of an architecture within a budget of parameters.

    Args:
        like, model_class: As for :func:`model`; what is not searched stays as there.
        params: How many parameters: an int, or text such as ``124M±0.5%``.
        space, limits, workload, sort, limit: As for :func:`weighbridge.designs.search.design`.

    Raises:
        UsageError: An invalid number or range, or a model that has no hidden size or layers.

    >>> design({"model_type": "bert"}, "110M±0.5%", limit=1).designs[0].parameters
    109992000
    """
    from weighbridge.designs.budget import parse_budget
    from weighbridge.designs.search import design as designed

    wanted = parse_budget(params)
    return designed(model(like, model_class), wanted, space, limits=limits, workload=workload, sort=sort, limit=limit)


def sweep(
    source: object, ranges: Mapping[str, Sequence[int]], accounts: Sequence[str] = ("parameters",), model_class: str | None = None
) -> Sweep:
    """Count every combination of values of some sizes.

    Args:
        source, model_class: As for :func:`model`.
        ranges: From a key to the values it takes.
        accounts: What to count: ``parameters``, ``active`` and the like.

    Raises:
        UsageError: No config, too many combinations, an unknown account.

    >>> [row["parameters"] for row in sweep("bert-base-uncased", {"num_hidden_layers": [6, 12]}).rows]
    [66955008, 109482240]
    """
    from weighbridge.designs.sweep import sweep as swept

    return swept(model(source, model_class), ranges, accounts)


def census(sources: Iterable[str], out: str, **how: Any) -> Summary:
    """Weigh every model that *sources* name, one row each, into a folder of Parquet files.

    Args:
        sources: Folders, files, globs, tables, archives, addresses, ids.
        out: The folder.
        how: As for :func:`weighbridge.inventory.run.census`.

    Raises:
        SourceError: A source that is not there.
        UsageError: A folder that holds something else; a package that is missing.
    """
    from weighbridge.inventory.run import census as taken

    return taken(sources, out, **how)
