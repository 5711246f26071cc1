"""Configs that no model has: every kind of value in every kind of key, texts that are no JSON, and files that are no text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

SMALL: dict[str, Any] = {
    "model_type": "bert",
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 16,
    "vocab_size": 32,
    "max_position_embeddings": 4,
    "type_vocab_size": 2,
}
DECODERS: dict[str, dict[str, Any]] = {
    "llama": {
        "model_type": "llama", "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1,
        "intermediate_size": 16, "vocab_size": 32, "head_dim": 4,
    },
    "mixtral": {
        "model_type": "mixtral", "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1,
        "intermediate_size": 16, "vocab_size": 32, "num_local_experts": 4, "num_experts_per_tok": 2,
    },
    "gemma3_text": {
        "model_type": "gemma3_text", "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1,
        "intermediate_size": 16, "vocab_size": 32, "head_dim": 4, "layer_types": ["sliding_attention", "full_attention"], "sliding_window": 4,
    },
    "clip": {
        "model_type": "clip", "projection_dim": 8, "text_config": {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2},
        "vision_config": {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "image_size": 32, "patch_size": 16},
    },
    "resnet": {"model_type": "resnet", "hidden_sizes": [8, 16], "depths": [1, 2], "embedding_size": 8},
}  # fmt: skip

REFUSED = "refused"
ANY = "any"


class HostileConfig(NamedTuple):
    """One config.

    Attributes:
        name: What is hostile in it.
        data: The file's bytes.
        expected: ``refused``; the exact number of parameters; or ``any`` where either is right.
    """

    name: str
    data: bytes
    expected: int | str = REFUSED


def bert(c: dict[str, Any]) -> int:
    """Count a BertModel by the textbook's formula, written down here once more.

    >>> bert({"hidden_size": 768, "num_hidden_layers": 12, "intermediate_size": 3072, "vocab_size": 30522,
    ...       "max_position_embeddings": 512, "type_vocab_size": 2})
    109482240
    """
    H, I = c["hidden_size"], c["intermediate_size"]
    embeddings = (c["vocab_size"] + c["max_position_embeddings"] + c["type_vocab_size"]) * H + 2 * H
    layer = 4 * (H * H + H) + 2 * H + H * I + I + I * H + H + 2 * H
    return int(embeddings + c["num_hidden_layers"] * layer + H * H + H)


VALUES: dict[str, str] = {
    "minus one": "-1", "nothing": "0", "minus nothing": "-0", "a fraction": "1.5", "a whole float": "8.0", "a large float": "1e30", "a text": '"8"', "true": "true",
    "false": "false", "a list": "[8]", "an empty list": "[]", "an object": "{}", "NaN": "NaN", "Infinity": "Infinity", "minus infinity": "-Infinity",
    "beyond a float": "1e999", "a thousand million": "1000000000", "2^63": "9223372036854775808", "10^40": "1" + "0" * 40, "4,300 digits": "9" * 4300,
    "100,000 digits": "9" * 100_000, "an escape code": '"\\u001b[2J"', "half a pair": '"\\ud800"', "a list of lists": "[[[[]]]]", "null": "null",
    "a long list": "[" + "1," * 5000 + "1]", "an object of itself": '{"hidden_size": {"hidden_size": 8}}', "deep": "[" * 3000 + "]" * 3000,
}  # fmt: skip
"""Values, as they are written, for every key."""

WHOLE = {"a thousand million": 10**9}
KEYS = (
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
    "vocab_size",
    "max_position_embeddings",
    "type_vocab_size",
)
OTHER_KEYS = (
    "model_type", "architectures", "tie_word_embeddings", "hidden_act", "torch_dtype", "dtype", "id2label", "num_labels", "layer_norm_eps",
    "pad_token_id", "quantization_config", "text_config", "is_decoder", "add_cross_attention", "position_embedding_type", "auto_map", "_name_or_path",
    "rope_scaling", "rope_parameters", "per_layer_config", "transformers_version", "pruned_heads",
)  # fmt: skip


def values() -> Iterator[HostileConfig]:
    """Yield BERT with every value in every key; where one is a size, the formula says what comes of it."""
    for key in KEYS:
        for name, written in VALUES.items():
            expected: int | str = REFUSED
            if name in WHOLE:
                sizes = {**SMALL, key: WHOLE[name]}
                fits = key not in ("hidden_size", "num_attention_heads") or sizes["hidden_size"] % sizes["num_attention_heads"] == 0
                expected = bert(sizes) if fits else REFUSED
            elif name in ("nothing", "minus nothing", "null", "a whole float"):
                expected = ANY
            yield HostileConfig(f"{key}: {name}", with_value(SMALL, key, written), expected)
    for key in OTHER_KEYS:
        for name, written in VALUES.items():
            yield HostileConfig(f"{key}: {name}", with_value(SMALL, key, written), ANY)
    for family, config in DECODERS.items():
        for key in config:
            for name, written in VALUES.items():
                yield HostileConfig(f"{family}, {key}: {name}", with_value(config, key, written), ANY)


def with_value(config: dict[str, Any], key: str, written: str) -> bytes:
    """Return a config's text with a value as it is written, which json might not write.

    >>> with_value({"a": 1}, "a", "1e999")
    b'{"a": 1e999}'
    """
    rest = {name: value for name, value in config.items() if name != key}
    start = json.dumps(rest)[:-1]
    return f'{start}{", " if rest else ""}"{key}": {written}}}'.encode()


TEXT = json.dumps(SMALL)
RIGHT = bert(SMALL)
TEXTS: tuple[HostileConfig, ...] = (
    HostileConfig("an empty file", b""),
    HostileConfig("blanks", b" \n\t" * 1000),
    HostileConfig("a zero byte", b"\0"),
    HostileConfig("zero bytes", b"\0" * 100_000),
    HostileConfig("a list", b"[1, 2]"),
    HostileConfig("a number", b"8"),
    HostileConfig("a text", b'"bert"'),
    HostileConfig("null", b"null"),
    HostileConfig("true", b"true"),
    HostileConfig("NaN", b"NaN"),
    HostileConfig("an empty object", b"{}"),
    HostileConfig("a byte order mark", b"\xef\xbb\xbf" + TEXT.encode(), RIGHT),
    HostileConfig("two byte order marks", b"\xef\xbb\xbf" * 2 + TEXT.encode()),
    HostileConfig("UTF-16", TEXT.encode("utf-16")),
    HostileConfig("UTF-16 with no mark", TEXT.encode("utf-16-le")),
    HostileConfig("UTF-16, the large end first", TEXT.encode("utf-16-be")),
    HostileConfig("UTF-32", TEXT.encode("utf-32")),
    HostileConfig("UTF-7", TEXT.replace("bert", "名").encode("utf-7")),
    HostileConfig("Latin-1", TEXT.replace("bert", "b\xe9rt").encode("latin-1")),
    HostileConfig("half a UTF-8 letter", TEXT.encode()[:-1] + b', "a": "\xe5\xad'),
    HostileConfig("overlong UTF-8", TEXT.encode().replace(b"bert", b"\xc1\xa2ert")),
    HostileConfig("a surrogate in UTF-8", TEXT.encode().replace(b"bert", b"bert\xed\xa0\x80")),
    HostileConfig("a surrogate written out", TEXT.encode().replace(b"bert", b"bert\\ud800")),
    HostileConfig("a key of half a pair", TEXT.encode()[:-1] + b', "\\udfff": 5}', RIGHT),
    HostileConfig("cut off", TEXT.encode()[:40]),
    HostileConfig("more behind it", TEXT.encode() + b" {}"),
    HostileConfig("another object behind it", TEXT.encode() * 2),
    HostileConfig("comments", b"// bert\n" + TEXT.encode()),
    HostileConfig("a comma at the end", TEXT.encode()[:-1] + b",}"),
    HostileConfig("single quotes", TEXT.replace('"', "'").encode()),
    HostileConfig("YAML", "\n".join(f"{key}: {value}" for key, value in SMALL.items()).encode()),
    HostileConfig("a key twice", TEXT.encode()[:-1] + b', "hidden_size": 16}'),
    HostileConfig("a key twice, the same value", TEXT.encode()[:-1] + b', "hidden_size": 8}'),
    HostileConfig("a key twice, below", TEXT.encode()[:-1] + b', "text_config": {"a": 1, "a": 2}}'),
    HostileConfig("a key twice, one of them escaped", TEXT.encode()[:-1] + b', "hidden\\u005fsize": 16}'),
    HostileConfig("two names of one field", TEXT.encode()[:-1] + b', "n_layer": 5}', ANY),
    HostileConfig("an empty key", TEXT.encode()[:-1] + b', "": 5}', RIGHT),
    HostileConfig("a key of a dot", TEXT.encode()[:-1] + b', ".": 5, "a.b": 6, "hidden_size.x": 7}', RIGHT),
    HostileConfig("a key of Python", TEXT.encode()[:-1] + b', "__class__": 5, "__dict__": {}, "self": 1}', RIGHT),
    HostileConfig("a key of a megabyte", TEXT.encode()[:-1] + b', "' + b"a" * 1_000_000 + b'": 5}', RIGHT),
    HostileConfig("a text of ten megabytes", TEXT.encode()[:-1] + b', "a": "' + b"a" * 10_000_000 + b'"}', RIGHT),
    HostileConfig("a type of a megabyte", TEXT.replace("bert", "b" * 1_000_000).encode()),
    HostileConfig("100,000 keys", (TEXT[:-1] + "".join(f', "k{number}": {number}' for number in range(100_000)) + "}").encode()),
    HostileConfig("20,000 sub-configs", (TEXT[:-1] + "".join(f', "k{number}_config": {{"hidden_size": 8}}' for number in range(20_000)) + "}").encode()),
    HostileConfig("nested lists", b"[" * 200_000),
    HostileConfig("nested lists, closed", b"[" * 200_000 + b"]" * 200_000),
    HostileConfig("nested objects", b'{"a":' * 100_000 + b"1" + b"}" * 100_000),
    HostileConfig("nested sub-configs", (TEXT[:-1] + ', "text_config": ' + '{"text_config": ' * 500 + "{}" + "}" * 501).encode(), ANY),
    HostileConfig("sub-configs nested 20,000 deep", (TEXT[:-1] + ', "text_config": ' + '{"text_config": ' * 20_000 + "{}" + "}" * 20_001).encode(), ANY),
    HostileConfig("nested in an ignored key", (TEXT[:-1] + ', "a": ' + "[" * 900 + "]" * 900 + "}").encode()),
    HostileConfig("17 megabytes", TEXT.encode() + b" " * 17_000_000),
    HostileConfig("labels that repeat", (TEXT[:-1] + ', "id2label": {"0": "a", "00": "a", "x": "b"}}').encode(), ANY),
    HostileConfig("a million labels", (TEXT[:-1] + ', "id2label": {' + ", ".join(f'"{n}": "l"' for n in range(300_000)) + "}}").encode(), ANY),
    HostileConfig("layer types for a thousand million layers", json.dumps({**DECODERS["gemma3_text"], "num_hidden_layers": 10**9}).encode(), ANY),
    HostileConfig("a hundred thousand layer types", json.dumps({**DECODERS["gemma3_text"], "num_hidden_layers": 100_000, "layer_types": ["full_attention", "sliding_attention"] * 50_000}).encode(), ANY),
    HostileConfig("layer types of another kind", json.dumps({**DECODERS["gemma3_text"], "layer_types": ["full_attention", 5]}).encode(), ANY),
    HostileConfig("layer types that are too few", json.dumps({**DECODERS["gemma3_text"], "layer_types": ["full_attention"]}).encode(), ANY),
    HostileConfig("layer types that are a text", json.dumps({**DECODERS["gemma3_text"], "layer_types": "full_attention"}).encode(), ANY),
    HostileConfig("layers without end", json.dumps({**DECODERS["llama"], "num_hidden_layers": 10**18}).encode(), ANY),
    HostileConfig("experts without end", json.dumps({**DECODERS["mixtral"], "num_local_experts": 10**18}).encode(), ANY),
    HostileConfig("more experts chosen than there are", json.dumps({**DECODERS["mixtral"], "num_experts_per_tok": 9}).encode(), ANY),
    HostileConfig("heads that do not divide", json.dumps({**SMALL, "num_attention_heads": 3}).encode()),
    HostileConfig("stages without end", json.dumps({**DECODERS["resnet"], "depths": [10**9, 10**9]}).encode(), ANY),
    HostileConfig("a hundred thousand stages", json.dumps({**DECODERS["resnet"], "depths": [1] * 100_000, "hidden_sizes": [8] * 100_000}).encode(), ANY),
    HostileConfig("a stride that is no number", b'{"model_type": "sam2_video", "mask_downsampler_stride": NaN}'),
    HostileConfig("blocks without end", b'{"model_type": "janus_vqgan", "num_res_blocks": 1000000000}'),
    HostileConfig("code of its own", json.dumps({**SMALL, "model_type": "own", "auto_map": {"AutoModel": "evil.Model"}}).encode()),
    HostileConfig("a type that is a path", json.dumps({**SMALL, "model_type": "../../bert"}).encode()),
    HostileConfig("a type of Python", json.dumps({**SMALL, "model_type": "__init__"}).encode()),
    HostileConfig("a type with a zero byte", json.dumps({**SMALL, "model_type": "bert\0"}).encode()),
    HostileConfig("a type with a line break", json.dumps({**SMALL, "model_type": "bert\n"}).encode()),
    HostileConfig("a type in capitals", json.dumps({**SMALL, "model_type": "BERT"}).encode(), ANY),
    HostileConfig("no type", json.dumps({key: value for key, value in SMALL.items() if key != "model_type"}).encode(), ANY),
    HostileConfig("a class of Python", json.dumps({**SMALL, "architectures": ["__class__"]}).encode(), ANY),
    HostileConfig("a thousand classes", json.dumps({**SMALL, "architectures": ["BertModel"] * 1000}).encode(), ANY),
    HostileConfig("pickle", b"\x80\x04cos\nsystem\n(S'true'\ntR."),
    HostileConfig("an archive", b"PK\x03\x04" + bytes(100)),
    HostileConfig("ELF", b"\x7fELF" + bytes(range(256))),
    HostileConfig("HTML of a server", b"<!DOCTYPE html><html><body>404 Not Found</body></html>"),
    HostileConfig("an LFS pointer", b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 570\n"),
)  # fmt: skip


def hostile_configs() -> Iterator[HostileConfig]:
    """Yield all of them; their names are unique.

    >>> names = [config.name for config in hostile_configs()]
    >>> len(names) == len(set(names)) > 1000
    True
    """
    yield from TEXTS
    yield from values()


def write(config: HostileConfig, folder: Path) -> Path:
    """Write one, as a model's config."""
    path = folder / "config.json"
    path.write_bytes(config.data)
    return path
