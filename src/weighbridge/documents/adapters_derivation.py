"""The derivation of ``weigh adapters --explain``: what each kind of module gets as formula, substitution and number, from the account itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from weighbridge.accounts.accepted_inputs import usual_inputs
from weighbridge.accounts.adapters.account import AdapterCount
from weighbridge.accounts.adapters.methods import METHODS
from weighbridge.accounts.adapters.prompts import PROMPTS
from weighbridge.accounts.adapters.sites import AddedTensor, Site
from weighbridge.config.fields import Config
from weighbridge.core.evaluation_steps import chain
from weighbridge.core.formula import Number, Product, Sum, Symbol
from weighbridge.core.messages import mark
from weighbridge.core.sizes import product
from weighbridge.documents.adapters import kinds, say_formula, say_own_parts
from weighbridge.documents.cost_lines import letter_table, sum_line
from weighbridge.documents.document import Block, Equation, Heading, Item, Paragraph
from weighbridge.explain.traced_ints import TracedInt, formula_of, with_letters

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from weighbridge.core.messages import Say
    from weighbridge.explain.traced_ints import LetteredModel
    from weighbridge.value import ModelValue

REASONS = {
    "LORA": mark("Two thin matrices stand beside a weight: A takes the inputs down to r numbers, B takes those up to the outputs."),
    "ADALORA": mark(
        "A singular value decomposition stands beside a weight: P over the inputs, Q over the outputs, and the singular values."
    ),
    "ADAMSS": mark(
        "The rows of a weight are sorted into clusters; each learns thin matrices over the directions that all share: every row stands in one."
    ),
    "SHADOW": mark(
        "A small model of the base's own kind runs beside it; each block gets a bottleneck that brings in its state, and two networks that move it on."
    ),
    "XLORA": mark("The adapters are already trained; only the classifier that mixes them is learned."),
    "IA3": mark("Every output is scaled by one learned number; in the feed-forward layers named for it, every input."),
    "LOHA": mark("Two products of thin matrices are multiplied element by element."),
    "LOKR": mark(
        "The change of a weight is a Kronecker product of two factors, the larger one a product of thin matrices where that is smaller."
    ),
    "OFT": mark(
        "The inputs are rotated in blocks; a rotation is learned as the strict triangle of a skew-symmetric matrix: b(b - 1)/2 numbers."
    ),
    "BOFT": mark("The inputs are rotated in blocks of one butterfly factor, and every output is scaled."),
    "HRA": mark("The inputs are reflected r times, each time at a plane that one vector over the inputs gives."),
    "VERA": mark("A and B are random and shared; one scale for each output and one for each of the r directions are learned."),
    "VBLORA": mark(
        "A and B are assembled from pieces, each a mixture of shared vectors; the vectors and the choice among them are learned."
    ),
    "LN_TUNING": mark("The module itself is trained, in a copy."),
    "TRAINABLE_TOKENS": mark("Of a table only the rows of the tokens named are trained."),
    "PROMPT_TUNING": mark("Every virtual token has one learned vector, as wide as an embedding."),
    "PREFIX_TUNING": mark("Every virtual token has a learned key and a learned value in every layer."),
    "CARTRIDGE": mark("Every virtual token has a learned key and a learned value in every layer."),
    "P_TUNING": mark("The vectors of the virtual tokens pass through a small network; only what comes out of it is saved."),
}
"""Why a method adds what it adds; the others are said by their formula."""

LETTERS = {
    "r": "r",
    "init_r": "r",
    "num_virtual_tokens": "t",
    "adapter_len": "t",
    "encoder_hidden_size": "h",
    "num_vectors": "v",
    "vector_length": "b",
    "oft_block_size": "b",
    "boft_block_size": "b",
    "block_size": "b",
    "boft_block_num": "m",
    "n_frequency": "f",
    "n_tasks": "t",
    "n_skills": "s",
    "n_splits": "p",
    "depth": "d",
    "gralora_k": "k",
    "hybrid_r": "q",
    "u": "u",
    "mini_r": "m",
    "num_B": "m",
    "theta_d_length": "t",
    "num_ranks": "q",
    "num_tasks": "s",
    "num_frozen_tokens": "f",
    "bottleneck": "r",
}
"""The letters of an adapter's own numbers."""

MEANINGS = {
    "r": mark("rank"),
    "init_r": mark("rank at the start"),
    "num_virtual_tokens": mark("virtual tokens"),
    "adapter_len": mark("virtual tokens"),
    "num_vectors": mark("shared vectors"),
    "vector_length": mark("length of a shared vector"),
    "oft_block_size": mark("size of a block"),
    "boft_block_size": mark("size of a block"),
    "block_size": mark("size of a block"),
    "n_frequency": mark("learned coefficients"),
    "bottleneck": mark("width of the bottleneck"),
}


def letters_in(config: Mapping[str, Any], book: LetteredModel) -> tuple[dict[str, Any], LetteredModel]:
    """Put letters behind the whole numbers of an adapter's config, its defaults among them."""
    name = str(config.get("peft_type", "LORA")).upper()
    method = METHODS.get(name) or PROMPTS.get(name)
    whole = {**(method.given if method else {}), **{key: value for key, value in config.items() if value is not None}}
    values, table = dict(book.values), dict(book.table)
    for key, letter in LETTERS.items():
        if type(whole.get(key)) is int and whole[key] > 0:
            free = letter if letter not in values else f"{letter}_adapter"
            symbol = Symbol(free, key=key, meaning=MEANINGS.get(key, key))
            values[free], table[free], whole[key] = whole[key], symbol, TracedInt(whole[key], symbol)
    return whole, book._replace(model=_with_facts(book), values=values, table=table)


def _with_facts(book: LetteredModel) -> ModelValue:
    """Return the model with letters behind what its config says, which prompts are as wide and as many as."""
    described = book.model.description
    assert described is not None
    symbols = {symbol.word: symbol for symbol in book.table.values() if "." not in symbol.key}
    sizes = {
        word: TracedInt(value, symbols[word]) if type(value) is int and word in symbols else value
        for word, value in vars(described.sizes).items()
    }
    return book.model.replace(description=described._replace(sizes=Config(**sizes)))


def derivation(
    model: ModelValue,
    config: Mapping[str, Any],
    found: AdapterCount,
    count: Callable[[ModelValue, Mapping[str, Any]], AdapterCount],
    say: Say,
) -> Iterator[Block]:
    """Yield what is trained, in all and saved, each as formula, substitution and number.

    Args:
        config: The adapter's config.
        found: What came out.
        count: The account, which is asked once more of the model and the config with letters behind their numbers.
    """
    lettering, book = letters_in(config, with_letters(model, usual_inputs(model)))
    derived = count(book.model, lettering)
    blocks = [Heading(1, "1", say("trained"), f"{found.trainable:,}"), *_trained_elements(derived, book, say)]
    blocks += [Heading(1, "2", say("in all"), f"{found.total:,}"), *_in_all(found, say)]
    blocks += [Heading(1, "3", say("saved, in bytes"), f"{found.saved_bytes:,}"), *_saved_bytes(found, say)]
    yield letter_table(blocks, book, say)
    yield from blocks


def _trained_elements(derived: AdapterCount, book: LetteredModel, say: Say) -> Iterator[Block]:
    total = say("{label}: ").format(label=say("sum"))
    reason = REASONS.get(derived.method)
    yield Paragraph(2, say(reason) if reason else say_formula(derived, say))
    amounts = []
    for path, copies, tensors in kinds_of_modules(derived):
        each = sum(int(tensor.count) for tensor in tensors)
        amounts.append(copies * each)
        yield Item(2, "", "", (f"{path} × {copies:,}" if copies > 1 else path,))
        yield from (_equation(tensor, book, 3) for tensor in tensors)
        if len(tensors) > 1:
            yield from sum_line([int(tensor.count) for tensor in tensors], 3, total)
        if copies > 1:
            yield Equation(3, (Product((Number(copies), Number(each))), Number(copies * each)))
    for tensor in derived.shared:
        if tensor.trainable and tensor.parameter:
            amounts.append(int(tensor.count))
            yield _equation(tensor, book, 2)
    for name, count in derived.copies:
        if count and not any(name.startswith(f"{outer}.") for outer, _ in derived.copies):
            amounts.append(int(count))
            yield Equation(2, chain(formula_of(count), book.values), f"{name} ({say('trained and saved whole')}): ")
    if derived.biases:
        amounts.append(int(derived.biases))
        yield Equation(2, (Number(int(derived.biases)),), f"{say_own_parts(derived, say)}: ")
    yield from sum_line(amounts, 2, total)


def kinds_of_modules(found: AdapterCount) -> Iterator[tuple[str, int, list[AddedTensor]]]:
    """Yield each kind of adapted module: its name, how many there are, and the tensors that one of them learns."""
    for path, members in kinds(found):
        learned = [tensor for tensor in members[0][1] if tensor.trainable and tensor.parameter]
        if learned:
            yield path, len(members), [tensor._replace(name=_short_name(tensor, members[0][0])) for tensor in learned]


def _short_name(tensor: AddedTensor, site: Site) -> str:
    return tensor.name.removeprefix(f"{site.path}.").removesuffix(".weight")


def _equation(tensor: AddedTensor, book: LetteredModel, level: int) -> Equation:
    return Equation(level, chain(formula_of(product(tensor.shape)), book.values), f"{tensor.name}: ")  # type: ignore[arg-type]


def _in_all(found: AdapterCount, say: Say) -> Iterator[Block]:
    """Add the model without the adapter, what is added to it, and the copies of its own modules."""
    added = sum(tensor.count for _, tensors in found.sites for tensor in tensors if tensor.parameter)
    added += sum(tensor.count for tensor in found.shared if tensor.parameter)
    copies = sum(count for _, count in found.copies)
    yield Paragraph(2, say("The model without the adapter, what the adapter adds, and copies of modules that are trained whole."))
    terms = [term for term in (found.total - added - copies, added, copies) if term]
    yield Equation(2, (Sum(tuple(map(Number, terms))), Number(found.total)) if len(terms) > 1 else (Number(found.total),))


def _saved_bytes(found: AdapterCount, say: Say) -> Iterator[Block]:
    """Add the bytes that are saved, by the bytes of an element."""
    yield Paragraph(2, say("What is trained, and what is kept with it untrained: elements of each type times their bytes."))
    terms = [Product((Number(count), Number(size))) for size, count in found.saved_sizes]
    if terms:
        yield Equation(2, (Sum(tuple(terms)) if len(terms) > 1 else terms[0], Number(found.saved_bytes)))
