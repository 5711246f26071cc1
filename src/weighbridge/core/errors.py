"""Every error Weighbridge raises on purpose.

    WeighbridgeError
    ├── SourceError            what was typed is no preset, file, directory or id
    ├── UsageError             an invalid option or argument
    ├── ReadError (ValueError)     a file that is damaged, or not what it says it is
    └── ConfigError (ValueError)   a config that is wrong, or that nobody can weigh exactly
        └── UnknownArchitecture    no blueprint for this model type or class

The text says what is wrong with the value in hand, where it is, what was expected, and the
remedy if there is one. The attributes carry the same facts for programs.
"""

from __future__ import annotations

from weighbridge.core.escape import escape_invisible


class WeighbridgeError(Exception):
    """Root of all errors raised on purpose; the command line prints one line and exits with 2."""

    def __str__(self) -> str:
        """Return the text, in which names from files cannot be more than names."""
        return escape_invisible(super().__str__())


class SourceError(WeighbridgeError):
    """A source that cannot be found: no preset, file, directory or id of that name.

    Attributes:
        source: What was asked for.
        suggestions: Names that are close to it, nearest first.
    """

    def __init__(self, message: str, *, source: str = "", suggestions: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.source = source
        self.suggestions = suggestions


class UsageError(WeighbridgeError):
    """An invalid option or argument."""


class ReadError(WeighbridgeError, ValueError):
    """A file that is damaged, truncated, or not what it says it is.

    Attributes:
        message: What is wrong, without where.
        path: The file, as it was named.
        offset: The byte at which reading failed, if one can be named.
    """

    def __init__(self, message: str, *, path: str = "", offset: int | None = None) -> None:
        where = f"{path}: " if path else ""
        at = f" (at byte {offset:,})" if offset is not None else ""
        super().__init__(f"{where}{message}{at}")
        self.message = message
        self.path = path
        self.offset = offset

    def at(self, path: str) -> ReadError:
        """Return the error with the file it happened in, unless it names one; its text can still be said in another language.

        >>> print(ReadError("the header is damaged", offset=8).at("model.safetensors"))
        model.safetensors: the header is damaged (at byte 8)
        """
        return self if self.path else type(self)(self.message, path=path, offset=self.offset)


class ConfigError(WeighbridgeError, ValueError):
    """A config whose value cannot be right, named by its key path.

    Attributes:
        message: What is wrong, without key and hint.
        key: The key path, such as ``text_config.num_attention_heads``.
        value: The value in hand, or None.
        hint: What to do about it.
    """

    def __init__(self, message: str, *, key: str = "", value: object = None, hint: str = "") -> None:
        where = f"{key}: " if key and not message.startswith(key.partition(" and ")[0]) else ""
        remedy = f" ({hint})" if hint else ""
        super().__init__(f"{where}{message}{remedy}")
        self.message = message
        self.key = key
        self.value = value
        self.hint = hint

    def inside(self, path: str) -> ConfigError:
        """Return the error with its keys as they stand in the whole config, where the sub-config *path* is read.

        >>> print(ConfigError("7 is not possible", key="depths and out_indices").inside("backbone_config"))
        backbone_config.depths and backbone_config.out_indices: 7 is not possible
        """
        keys = [
            key if key == path or key.startswith((f"{path}.", f"{path}[")) else f"{path}.{key}".rstrip(".")
            for key in self.key.split(" and ")
        ]
        whole = " and ".join(keys)
        return self if whole == self.key else type(self)(self.message, key=whole, value=self.value, hint=self.hint)


class UnknownArchitecture(ConfigError):
    """A model type or class that has no blueprint; the text names the ways forward."""
