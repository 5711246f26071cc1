"""The year of a model, and where it is from: what a record or a file's metadata states, else the time of the file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

STATED = ("created_at", "createdAt", "release_date", "released", "published", "date", "year", "lastModified", "last_modified")
"""Columns of a table that say when a model was made or published, the first that is there; the Hub's API writes ``createdAt``."""
OF_FILES = ("modelspec.date", "general.date", "date", "created_at")
"""Keys of a file's metadata that do: the model specification of safetensors, and GGUF's."""
FIRST, LAST = 1990, 2100


def year_of(value: object) -> int | None:
    """Return the year that a value states: a date, a text that begins with one, a year, or seconds or milliseconds since 1970.

    >>> year_of("2023-07-18T16:00:00.000Z"), year_of(2024), year_of(1_700_000_000), year_of("unknown")
    (2023, 2024, 2023, None)
    """
    year: Any = getattr(value, "year", None)
    if isinstance(value, str):
        found = re.match(r"(\d{4})(?:$|[-/.T ]|\d{4}\b)", value)
        year = int(found[1]) if found else None
    elif type(value) in (int, float):
        assert isinstance(value, (int, float))
        seconds = value / 1000 if value > 1e11 else value
        year = int(value) if FIRST <= value <= LAST else year_at(seconds) if 1e9 < seconds < 4e9 else None
    return year if type(year) is int and FIRST <= year <= LAST else None


def year_at(seconds: float) -> int:
    """Return the year of a time in seconds since 1970.

    >>> year_at(0)
    1970
    """
    return datetime.fromtimestamp(seconds, UTC).year


def stated_year(record: Mapping[str, Any], keys: tuple[str, ...] = STATED) -> int | None:
    """Return the year that the first of some keys states.

    >>> stated_year({"createdAt": "2022-03-02", "lastModified": "2024-01-01"})
    2022
    """
    return next((year for key in keys if (year := year_of(record.get(key))) is not None), None)
