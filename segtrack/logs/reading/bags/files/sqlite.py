"""The messages of a ROS 2 bag's SQLite file, by SQL as far as that goes, and then by what rows look like."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

from segtrack.logs.reading.bags.content import BATCH, FileContent
from segtrack.logs.reading.bags.files.sqlite_rows import Rows
from segtrack.logs.reading.bags.messages.types import Connection, normal_name

MAGIC = b"SQLite format 3\0"
_MESSAGES = """
SELECT id, topic_id, timestamp, data FROM messages
WHERE typeof(topic_id) = 'integer' AND typeof(timestamp) = 'integer' AND typeof(data) = 'blob' ORDER BY id
"""
_MOST_TOPICS = 10_000
"""Numbers of topics that are believed where the database is damaged."""


def read_sqlite(path: Path, data: memoryview, content: FileContent) -> None:
    """Read the messages of a file.

    Args:
        path: Of the file.
        data: The same.
        content: That takes them, and what is damaged.
    """
    read: list[int] = []
    problem = None
    try:
        with _open(path) as database:
            _read_topics(database, content)
            _read_messages(database, content, read)
            problem = _check(database)
    except (sqlite3.Error, OverflowError, MemoryError, UnicodeDecodeError) as error:
        problem = str(error) or "it asks for more memory than there is"
    if problem is not None:
        _salvage(data, content, set(read), problem)
    content.close()


@contextmanager
def _open(path: Path) -> Iterator[sqlite3.Connection]:
    """The database; of one that was not closed a copy, with what had not been written into it yet."""
    beside = [path.with_name(path.name + end) for end in ("-wal", "-journal")]
    with ExitStack() as stack:
        uri = f"{path.absolute().as_uri()}?immutable=1&mode=ro"
        if any(file.exists() and file.stat().st_size for file in beside):
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="segtrack-"))
            for file in (path, *beside):
                with suppress(FileNotFoundError):
                    shutil.copy(file, folder)
            uri = Path(folder, path.name).as_uri()
        database = stack.enter_context(closing(sqlite3.connect(uri, uri=True)))
        database.text_factory = lambda text: text.decode("utf-8", "replace")
        yield database


def _read_topics(database: sqlite3.Connection, content: FileContent) -> None:
    definitions: dict[str, tuple[str, str]] = {}
    with suppress(sqlite3.OperationalError):  # Earlier versions have no definitions.
        rows = database.execute(
            "SELECT topic_type, encoding, encoded_message_definition FROM message_definitions"
        )
        definitions = {row[0]: row[1:] for row in rows if all(isinstance(text, str) for text in row)}
    rows = database.execute("SELECT id, name, type, serialization_format FROM topics")
    for number, name, kind, encoding in rows:
        if isinstance(name, str) and isinstance(kind, str) and isinstance(encoding, str):
            _connect(content, number, name, kind, encoding, definitions)


def _connect(
    content: FileContent,
    number: int,
    name: str,
    kind: str,
    form: str,
    definitions: dict[str, tuple[str, str]],
) -> None:
    """Take a row of the table of topics."""
    encoding, text = definitions.get(kind, ("", ""))
    known = encoding in ("ros2msg", "ros2idl")
    connection = Connection(name, normal_name(kind), form, text if known else "", encoding == "ros2idl")
    content.connect(number, connection)


def _read_messages(database: sqlite3.Connection, content: FileContent, read: list[int]) -> None:
    """Take the rows that are of the types that they must be; `read` gets their numbers."""
    rows = database.execute(_MESSAGES)
    while batch := rows.fetchmany(BATCH):
        places, numbers, times, messages = zip(*batch, strict=True)
        content.take(numbers, times, messages, places)
        read += places


def _check(database: sqlite3.Connection) -> str | None:
    """What is wrong with the table of messages: rows may be missing without SQL's taking notice."""
    (found,) = database.execute("PRAGMA quick_check(messages)").fetchone()
    return None if found == "ok" else str(found).splitlines()[-1]


def _salvage(data: memoryview, content: FileContent, read: set[int], error: str) -> None:
    """Take the rows that SQL does not reach."""
    rows = Rows(data)
    definitions = {kind: (encoding, text) for _, kind, encoding, text in rows.definitions}
    for number, topic in rows.topics:
        _connect(content, number, *topic, definitions)
    there = {place: row for place, row in rows.messages if place not in read and 0 < row[0] < _MOST_TOPICS}
    places = sorted(there)
    messages = [there[place] for place in places]
    numbers, times = [row[0] for row in messages], [row[1] for row in messages]
    content.take(numbers, times, [row[2] for row in messages], places)
    count = len(read) + len(places)
    lost = f"; {rows.lost} are cut" if rows.lost else ""
    content.damage.append(f"the database is damaged ({error}): {count} messages could be read{lost}")
