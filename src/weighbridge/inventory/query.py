"""Questions to a census: ready ones by name, or SQL, read-only, by DuckDB."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text, mark


class Question(NamedTuple):
    """A ready question: what it asks, and its SQL over the view ``census``."""

    meaning: str
    sql: str


QUESTIONS = {
    "summary": Question(mark("rows by status"), "SELECT status, count(*) AS models FROM census GROUP BY status ORDER BY models DESC"),
    "largest": Question(
        mark("the largest models"),
        'SELECT path, "class", "unique" FROM census WHERE status = \'ok\' ORDER BY "unique" DESC NULLS LAST LIMIT 20',
    ),
    "wrong-claims": Question(
        mark("models whose stated parameters are not what they have"),
        'SELECT path, claimed, "unique", claimed - "unique" AS difference, claim_convention AS explained_by '
        "FROM census WHERE NOT claim_holds ORDER BY path",
    ),
    "mismatches": Question(
        mark("weights that are not those of their config"), "SELECT path, mismatch FROM census WHERE NOT verified ORDER BY path"
    ),
    "unknown": Question(
        mark("architectures that are not described, by how many models they have"),
        "SELECT error, count(*) AS models, min(path) AS example FROM census WHERE status = 'unknown' GROUP BY error ORDER BY models DESC LIMIT 50",
    ),
    "errors": Question(mark("what could not be weighed"), "SELECT path, error FROM census WHERE status = 'error' ORDER BY path LIMIT 100"),
    "duplicates": Question(
        mark("models of the same shape"),
        'SELECT fingerprint, count(*) AS models, min("class") AS "class", min(path) AS first FROM census '
        "WHERE fingerprint IS NOT NULL GROUP BY fingerprint HAVING count(*) > 1 ORDER BY models DESC LIMIT 50",
    ),
    "families": Question(
        mark("models and parameters by model type"),
        'SELECT model_type, count(*) AS models, min("unique") AS smallest, max("unique") AS largest, sum("unique"::HUGEINT) AS parameters '
        "FROM census WHERE status = 'ok' GROUP BY model_type ORDER BY models DESC",
    ),
    "vocabulary": Question(
        mark(
            "vocabularies that are multiples of 64, by year; year_from says whether a record, a file's metadata or its time gives the year"
        ),
        "SELECT year, year_from, count(*) AS models, count(*) FILTER (vocab % 64 = 0) AS multiples_of_64, "
        "round(100.0 * count(*) FILTER (vocab % 64 = 0) / count(*), 1) AS percent "
        "FROM census WHERE vocab IS NOT NULL GROUP BY year, year_from ORDER BY year NULLS LAST, year_from",
    ),
}
MOST_ROWS = 100_000


class Answer(NamedTuple):
    """The columns and the rows of an answer."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


def ask(folder: str | Path, question: str) -> Answer:
    """Ask a census.

    Args:
        folder: What :func:`weighbridge.inventory.run.census` wrote.
        question: The name of a ready question, or a SELECT over the view ``census``.

    Raises:
        UsageError: No census there, no such question, or SQL that DuckDB refuses. Nothing is written, and no other file is read.
    """
    try:
        import duckdb
    except ImportError:
        raise UsageError("census query needs DuckDB: pip install 'weighbridge[bulk]'") from None
    parts = sorted(part for part in Path(folder).glob("part-*.parquet") if part.is_file())  # DuckDB would wait for a pipe
    if not parts:
        raise UsageError(Text("{folder}: no census here; weigh census SOURCES -o {folder} makes one", folder=folder))
    sql = QUESTIONS[question].sql if question in QUESTIONS else question
    if question not in QUESTIONS and not question.lstrip().lower().startswith(("select", "with", "from", "describe", "summarize")):
        raise UsageError(
            Text(
                "{question!r:.80} is not a question known here; known: {questions}; or a SELECT over census",
                question=question,
                questions=", ".join(QUESTIONS),
            )
        )
    connection = duckdb.connect(":memory:")
    try:
        place = str(Path(folder).absolute())
        names = ", ".join("'" + str(part.absolute()).replace("'", "''") + "'" for part in parts)
        connection.execute("SET allowed_directories = [" + "'" + place.replace("'", "''") + "']")
        connection.execute("SET enable_external_access = false")
        connection.execute(f"CREATE VIEW census AS SELECT * FROM read_parquet([{names}])")
        connection.execute("SET lock_configuration = true")
        _only_reads(connection, sql)
        answer = connection.execute(sql)
        columns = tuple(column[0] for column in answer.description or ())
        return Answer(columns, tuple(answer.fetchmany(MOST_ROWS)))
    except duckdb.Error as error:
        raise UsageError(Text("the question cannot be answered: {splitlines:.300}", splitlines=str(error).splitlines()[0])) from None
    finally:
        connection.close()


def _only_reads(connection: Any, sql: str) -> None:
    """Refuse more than one statement, and whatever writes."""
    import duckdb

    statements: Sequence[Any] = connection.extract_statements(sql)
    if len(statements) != 1 or statements[0].type not in (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN):
        raise UsageError("a question is a single SELECT; a census is read-only")
