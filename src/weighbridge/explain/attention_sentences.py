"""Sentences on attention: maps, heads that share keys and values, windows, positions, latent vectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from weighbridge.core.formula import Symbol, evaluate
from weighbridge.core.messages import Text, mark
from weighbridge.core.polynomials import polynomial
from weighbridge.core.sizes import as_int
from weighbridge.core.tree import Attend
from weighbridge.explain.scope import Scope, letters_of

WINDOWED = mark("A token sees at most {window} tokens (a sliding window), which saves cache and arithmetic, but no parameters.")
ROTATED = mark("Positions enter by rotating queries and keys (rotary embeddings), which takes no parameters.")
ROTATED_IN_PART = mark(
    "Positions enter by rotating {part} of the {whole} dimensions of each query and key (rotary embeddings), which takes no parameters."
)


def attention_title(scope: Scope, usual: str) -> str:
    """Return what attention is called by how its heads share keys and values."""
    found = [ours for ours, _ in scope.attends()]
    if not found:
        return mark("Attention")
    if all(as_int(ours.kv_heads) == 1 < as_int(ours.heads) for ours in found):
        return mark("Multi-query attention")
    if all(as_int(ours.kv_heads) < as_int(ours.heads) for ours in found):
        return mark("Grouped-query attention")
    return usual if all(as_int(ours.heads) > 1 for ours in found) else mark("Self-attention")


def attention_sentences(scope: Scope) -> Iterator[str]:
    """Say what attention maps, how its heads share, what each token sees, and where its positions come from."""
    yield from _maps(scope)
    yield from _heads(scope)
    yield from _windows(scope)
    yield from _positions(scope)
    if scope.attends() and scope.kinds() <= {"linear"}:
        yield mark("Scores, softmax and the weighted sum have no parameters.")


def _maps(scope: Scope) -> Iterator[str]:
    names = scope.names()
    if "convolution" not in scope.kinds() and (
        names >= {"query", "key", "value", "output"} or names >= {"query, key and value in one", "output"}
    ):
        yield mark("Queries, keys and values are linear maps of the input; the results of all heads are concatenated and mapped once more.")
    elif scope.attends():
        yield mark("Each position gathers values from the others, weighted by how well its query matches their keys.")


def _heads(scope: Scope) -> Iterator[str]:
    found = scope.attends()
    if not found or not scope.values:
        return
    ours, theirs = found[0]
    heads, shared = as_int(ours.heads), as_int(ours.kv_heads)
    mapped = {"key", "query, key and value in one", "key and value, expanded"} & scope.names()
    alike = bool(mapped) and all((o.heads, o.kv_heads) == (ours.heads, ours.kv_heads) for o, _ in found)
    if alike and shared == 1 < heads:
        yield Text(
            mark("All {heads} query heads share one key-value head: keys and values are mapped to one head only."), heads=f"{heads:,}"
        )
    elif alike and 0 < shared < heads and heads % shared == 0:
        yield Text(
            mark("{heads} query heads share {shared} key-value heads, {each} to each: keys and values are mapped to {shared} heads only."),
            heads=f"{heads:,}",
            shared=f"{shared:,}",
            each=f"{heads // shared:,}",
        )
    elif alike and shared == heads > 1 and len(letters_of(theirs.heads)) == 1:
        yield from _whether_heads_count(scope, theirs)


def _whether_heads_count(scope: Scope, attend: Attend) -> Iterator[str]:
    """Say whether another number of heads would give another count: by the formula, and by its value with more heads."""
    (letter,) = letters_of(attend.heads)
    if letter not in letters_of(scope.formula.expression()):
        yield mark("The heads share the width, so any number of heads that divides it gives the same count.")
        return
    if letter in letters_of(attend.head_dim):
        return  # the width of a head follows from their number: what changes then is told by the formula alone
    before = evaluate(scope.formula.expression(), scope.values)
    after = evaluate(scope.formula.expression(), {**scope.values, letter: scope.values[letter] * 2})
    if as_int(after) > as_int(before):
        yield mark("The head dimension is set independently, so more heads mean more parameters.")


def _windows(scope: Scope) -> Iterator[str]:
    found = [ours for ours, _ in scope.attends()]
    if found and all(ours.window is not None and ours.windowed is None for ours in found):
        windows = {ours.window for ours in found}
        if len(windows) == 1:
            yield Text(WINDOWED, window=f"{as_int(windows.pop()):,}")


def _positions(scope: Scope) -> Iterator[str]:
    """Say of rotary positions that they own no parameter; the tree, in which they own nothing, does not show them."""
    if not (scope.leaves and scope.attends() and all(_stands_in(leaf.path, scope.rotary) for leaf in scope.leaves)):
        return
    widths = {as_int(ours.head_dim) for ours, _ in scope.attends()}
    parts = {_rotated_dimensions(scope, ours, theirs) for ours, theirs in scope.attends()}
    if len(widths) == len(parts) == 1 and (part := parts.pop()) is not None:
        yield Text(ROTATED_IN_PART, part=f"{part:,}", whole=f"{widths.pop():,}")
    else:
        yield ROTATED


def _rotated_dimensions(scope: Scope, ours: Attend, theirs: Attend) -> int | None:
    """Return how many dimensions of a head are rotated, where these are a part: a size of their own in its width, or a share of it."""
    for monomial in polynomial(theirs.head_dim).terms:
        for atom, _ in monomial:
            if isinstance(atom, Symbol) and atom.word == "rope_dim":
                return scope.values[atom.letter] if scope.values[atom.letter] < as_int(ours.head_dim) else None
    return scope.rotated(scope.leaves[0].path, as_int(ours.head_dim)) if scope.rotated else None


def _stands_in(path: str, places: Iterable[str]) -> bool:
    """Tell whether a module stands in one of some places, whatever wraps the model that they were named in."""
    return any(f".{place}." in f".{path}." for place in places)


def cross_attention_sentences(scope: Scope) -> Iterator[str]:
    """Say what the queries of cross-attention look at."""
    inside = {pair.part.kind for leaf in scope.leaves for pair in leaf.around}
    if "decoder" in inside and scope.attends():
        yield mark("Queries come from the decoder, keys and values from the sequence it attends to, usually the encoder's output.")
    else:
        yield mark("Queries come from one sequence, keys and values from another.")
    yield from _heads(scope)


def latent_attention_sentences(scope: Scope) -> Iterator[str]:
    """Say what latent attention compresses, and what of it is kept."""
    names = scope.names()
    if {"key and value, compressed", "key and value, expanded"} <= names:
        yield mark("Keys and values are compressed to one vector that all heads share, and expanded from it to each head.")
    if {"query, compressed", "query, expanded"} <= names:
        yield mark("Queries too are compressed to a vector first, and expanded from it to the heads.")
    elif "query" in names:
        yield mark("Queries are projected directly, without compression.")
    yield from _positions(scope)
    kept = [(ours, theirs) for ours, theirs in scope.attends() if ours.cache is not None]
    if kept and len(kept) == len(scope.attends()):
        text = mark("The cache keeps {kept} numbers for each token and layer, not the {whole} of all heads' keys and values.")
        ours = kept[0][0]
        whole = as_int(ours.kv_heads) * (as_int(ours.head_dim) + as_int(ours.value_dim))
        if ours.cache is not None and as_int(ours.cache) < whole:
            yield Text(text, kept=f"{as_int(ours.cache):,}", whole=f"{whole:,}")
