"""How inference engines round what they keep: for how many tokens a layer holds keys and values, and in which type its states are."""

from __future__ import annotations

from weighbridge.accounts.memory.weights import DTYPES, bits, dtype_name
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text

if TYPE_CHECKING:
    from collections.abc import Callable


class Engine(NamedTuple):
    """An engine's rules.

    Attributes:
        tokens: For how many tokens of a text keys and values are held, given the text and the window of the layer.
        state_bytes: Bytes of an element of a state, where it is not the type that was asked for; 0 where it is.
        shorter: Whether a convolution keeps one token less than its kernel is wide.
        trust: ``exact`` where it is what the engine allocates, else ``bound`` or ``estimate`` (docs/costs.md).
        source: Where the rules stand.
    """

    tokens: Callable[[int, int | None], int]
    state_bytes: int
    shorter: bool
    trust: str
    source: str


def reference(tokens: int, window: int | None) -> int:
    """Keep every token, or the last ``window - 1`` of them; a window of one is cut by ``[-1 + 1:]``, which keeps all.

    >>> reference(4096, None), reference(4096, 512), reference(100, 512), reference(9, 1)
    (4096, 511, 100, 9)
    """
    return tokens if window is None or window == 1 else min(tokens, window - 1)


def llama_cpp(tokens: int, window: int | None) -> int:
    """Hold cells in steps of 256; a window holds one micro-batch of 512 beside it.

    >>> llama_cpp(1000, None), llama_cpp(32768, 512)
    (1024, 1024)
    """
    cells = _round_up(tokens, 256)
    return cells if window is None else min(cells, _round_up(window + 512, 256))


def in_blocks(block: int) -> Callable[[int, int | None], int]:
    """Hold whole blocks; a window holds the blocks that it may touch.

    >>> in_blocks(16)(100, None), in_blocks(16)(4096, 512)
    (112, 528)
    """

    def kept_tokens(tokens: int, window: int | None) -> int:
        blocks = _round_up(tokens, block)
        return blocks if window is None else min(blocks, _round_up(window - 1, block) + block)

    return kept_tokens


def _round_up(value: int, by: int) -> int:
    return (value + by - 1) // by * by


ENGINES: dict[str, Engine] = {
    "reference": Engine(reference, 0, False, "exact", "transformers 5.23.0, cache_utils.py, DynamicCache"),
    "llama.cpp": Engine(
        llama_cpp,
        4,
        True,
        "estimate",
        "ggml-org/llama.cpp, src/llama-kv-cache-iswa.cpp (window + micro-batch, padded to 256); llama-memory-recurrent.cpp (float32)",
    ),
    "vllm": Engine(in_blocks(16), 0, False, "bound", "vllm-project/vllm, vllm/v1/kv_cache_interface.py, block_size 16"),
    "sglang": Engine(in_blocks(1), 0, False, "bound", "sgl-project/sglang, python/sglang/srt/mem_cache, page_size 1"),
}
"""By name."""


class ElementType(NamedTuple):
    """How keys or values are stored: *bytes* for every *block* of elements, its scale among them."""

    bytes: int
    block: int = 1


PACKED = {
    "q8_0": ElementType(34, 32),
    "q5_1": ElementType(24, 32),
    "q5_0": ElementType(22, 32),
    "q4_1": ElementType(20, 32),
    "q4_0": ElementType(18, 32),
    "iq4_nl": ElementType(18, 32),
}
"""What llama.cpp takes as ``--cache-type-k`` and ``--cache-type-v`` beside plain types (ggml-org/llama.cpp, common/arg.cpp; ggml/src/ggml-common.h)."""

PLAIN = ("float64", "float32", "bfloat16", "float16", "float8", "int8")
COMPUTED = ("float64", "float32", "bfloat16", "float16")
"""Types of keys and values that are not packed; and those in which the reference computes, so that its cache has them."""


def element_types(dtype: str, engine: str) -> tuple[ElementType, ElementType]:
    """Return how keys and how values are stored.

    Args:
        dtype: One type, or that of keys and that of values with a plus sign between them.
        engine: By whose rules.

    Raises:
        UsageError: A type that is not known, or is not the engine's.

    >>> element_types("q8_0+float16", "llama.cpp")
    (ElementType(bytes=34, block=32), ElementType(bytes=2, block=1))
    """
    keys, plus, values = dtype.partition("+") if isinstance(dtype, str) else (dtype, "", "")
    if plus and engine != "llama.cpp":
        raise UsageError(Text("dtype: one type for keys and another for values is a setting of the engine llama.cpp"))
    return _element_type(keys, engine), _element_type(values if plus else keys, engine)


def _element_type(dtype: str, engine: str) -> ElementType:
    if dtype in PACKED:
        if engine != "llama.cpp":
            raise UsageError(Text("dtype: {dtype} is a type of the engine llama.cpp; found {engine}", dtype=dtype, engine=engine))
        return PACKED[dtype]
    if dtype in DTYPES and dtype not in PLAIN:
        raise UsageError(
            Text("dtype: keys and values are not kept in {dtype}; expected float32, bfloat16, float16, float8 or int8", dtype=dtype)
        )
    return ElementType(bits(dtype_name(dtype, (*PLAIN, *PACKED) if engine == "llama.cpp" else PLAIN)) // 8)
