"""``weigh design --like TYPE --params N``."""

from __future__ import annotations

from weighbridge.commands.options import CLASS, OUTPUT, SET, Answer, Arguments, Option, overrides
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.escape import escape_invisible
from weighbridge.core.messages import Text, mark

if TYPE_CHECKING:
    from fractions import Fraction

    from weighbridge.designs.search import Search
    from weighbridge.value import ModelValue

EXAMPLE = """example:
  weigh design --like llama --class LlamaForCausalLM --params 124M±0.5% --multiple-of 128 --head-dim 64 --gqa 4 --vocab 32000
  weigh design --like bert-base-uncased --params 30M±1% --max-flops 50B --seq 512 --sort flops
  weigh design --like mixtral --params 2B±1% --max-active 700M -o config.json
"""
OPTIONS = (
    Option(
        "like",
        mark("a model type, or any source: the designs are of its class, and what is not searched stays as there"),
        "SOURCE",
        needed=True,
    ),
    CLASS,
    SET,
    Option("params", mark("parameters, with a tolerance: 124M±0.5%"), "N", needed=True),
    Option("multiple_of", mark("hidden size and MLP width are multiples of it (default 64)"), "N", kind="whole", default=64),
    Option("head_dim", mark("head dimension (default: that of the --like model)"), "N", kind="whole"),
    Option("gqa", mark("query heads to each key-value head (default: as there)"), "N", kind="whole"),
    Option("vocab", mark("rows of the vocabulary (default: as there)"), "N", kind="whole"),
    Option("layers", mark("fewest and most layers (default 1:128)"), "A:B", default="1:128"),
    Option("mlp_ratio", mark("narrowest and widest MLP, in hidden sizes (default 2:4)"), "A:B", default="2:4"),
    Option("part", mark("for a model made of several, the sub-config to search (default text_config)"), "KEY"),
    Option("max_active", mark("most active parameters"), "N"),
    Option("max_flops", mark("most FLOPs of a forward pass over --seq tokens"), "N"),
    Option("max_cache", mark("most bytes of cache per token: 64KiB"), "SIZE"),
    Option("max_bytes", mark("most bytes of the weights, in --dtype: 16MB"), "SIZE"),
    Option("max_memory", mark("most bytes of memory (for training with --training): 24GiB"), "SIZE"),
    Option("training", mark("memory is that of training"), kind="switch"),
    Option("batch", mark("examples (default 1)"), "N", kind="whole", default=1),
    Option("seq", mark("tokens of each (default 2048, or as many as the model can take)"), "N", kind="whole"),
    Option("dtype", mark("element type of weights and cache (default bfloat16)"), "TYPE", default="bfloat16"),
    Option(
        "sort",
        mark("sort order (default fit: nearest to --params)"),
        "ORDER",
        default="fit",
        choices=("fit", "depth", "width", "aspect", "flops", "cache", "memory"),
    ),
    Option("limit", mark("how many designs to show (default 20)"), "N", kind="whole", default=20),
    *OUTPUT,
)


def run(arguments: Arguments) -> int:
    """Show the designs; with ``-o`` and a name that ends in .json, write the config of the first; 1 if nothing fits."""
    import json

    from weighbridge.commands import output
    from weighbridge.core.errors import UsageError

    if arguments.output and arguments.output.endswith(".json"):
        found = _search(arguments)[1]
        if not found.designs:
            raise UsageError("nothing fits, so there is no config to write")
        from weighbridge.documents.renderers import write_bytes

        write_bytes((json.dumps(found.designs[0].config, indent=2) + "\n").encode(), arguments.output)
        output.emit(f"{escape_invisible(arguments.output)}: {found.class_name}, {found.designs[0].parameters:,} parameters\n")
        return 0
    answered = answer(arguments)
    output.deliver(answered, arguments)
    return 0 if answered.holds else 1


def answer(arguments: Arguments) -> Answer:
    """Find the designs."""
    from weighbridge.designs.search import words_of
    from weighbridge.documents import design as documents

    like, found = _search(arguments)
    laid = tuple(words_of(like, entry.config, found.part) for entry in found.designs)
    return Answer(lambda: documents.as_json(found), lambda: documents.document(found, laid, arguments.lang), bool(found.designs))


def whole_range(text: str, name: str) -> tuple[int, int]:
    """Read ``A:B``, or one number for both.

    >>> whole_range("2:48", "layers"), whole_range("12", "layers")
    ((2, 48), (12, 12))
    """
    from weighbridge.core.errors import UsageError

    parts = text.split(":")
    if len(parts) > 2 or not all(part.isdecimal() and len(part) < 10 for part in parts):
        raise UsageError(Text("{name}: expected a range such as 2:48, found {text!r:.40}", name=name, text=text))
    return int(parts[0]), int(parts[-1])


def ratio_range(text: str, name: str) -> tuple[Fraction, Fraction]:
    """Read ``A:B`` of numbers that may be fractions.

    >>> ratio_range("8/3:4", "mlp-ratio")
    (Fraction(8, 3), Fraction(4, 1))
    """
    from fractions import Fraction

    from weighbridge.core.errors import UsageError

    parts = text.split(":")
    try:
        if len(parts) > 2 or len(text) > 40 or "e" in text.lower():
            raise ValueError
        return Fraction(parts[0]), Fraction(parts[-1])
    except (ValueError, ZeroDivisionError):
        raise UsageError(Text("{name}: expected a range such as 8/3:4, found {text!r:.40}", name=name, text=text)) from None


def _search(arguments: Arguments) -> tuple[ModelValue, Search]:
    from weighbridge.blueprints import MODULES
    from weighbridge.designs.budget import BYTES, COUNTS, parse_budget
    from weighbridge.designs.costs import Workload
    from weighbridge.designs.search import design
    from weighbridge.designs.space import Space
    from weighbridge.load import load

    if arguments.like in MODULES:  # a type itself, with the sizes of its class
        like: ModelValue = load({"model_type": arguments.like}, arguments.class_name, overrides(arguments.overrides or ()))
    else:
        like = arguments.model(arguments.like)
    limits = {
        name: parse_budget(text, f"max-{name}", units).target
        for name, text, units in (
            ("active", arguments.max_active, COUNTS),
            ("flops", arguments.max_flops, COUNTS),
            ("bytes", arguments.max_bytes, BYTES),
            ("memory", arguments.max_memory, BYTES),
            ("cache", (arguments.max_cache or "").removesuffix("/token") or None, BYTES),
        )
        if text is not None
    }
    layers, ratios = whole_range(arguments.layers, "layers"), ratio_range(arguments.mlp_ratio, "mlp-ratio")
    space = Space(arguments.multiple_of, arguments.head_dim, arguments.gqa, arguments.vocab, layers, ratios, arguments.part)
    work = Workload(arguments.batch, arguments.seq, arguments.dtype, arguments.training)
    return like, design(
        like, parse_budget(arguments.params), space, limits=limits, workload=work, sort=arguments.sort, limit=arguments.limit
    )
