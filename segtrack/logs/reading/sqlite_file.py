"""SQLite files of ROS 2 bags."""

from __future__ import annotations

import shlex
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

from segtrack.errors import LogFileError
from segtrack.logs.reading.bag_content import BATCH, BagFileContent
from segtrack.logs.reading.message_types import Connection, normal_name

_MESSAGES = """
SELECT topic_id, timestamp, data FROM messages
WHERE typeof(topic_id) = 'integer' AND typeof(timestamp) = 'integer' AND typeof(data) = 'blob' ORDER BY id
"""


def read_sqlite(path: Path, content: BagFileContent) -> None:
    """Read the messages of a file into `content`.

    Raises:
        LogFileError: The database is damaged, or is no bag.
    """
    try:
        with _open(path) as database:
            _check(database)
            _read_topics(database, content)
            _read_messages(database, content)
    except (sqlite3.Error, OverflowError, MemoryError, UnicodeDecodeError) as error:
        name, problem = shlex.quote(path.name), str(error) or "it asks for more memory than there is"
        recovery = f"sqlite3 {name} .recover | sqlite3 recovered.db3"
        raise LogFileError(path.name, f"its database is damaged ({problem}); try: {recovery}") from None
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


def _read_topics(database: sqlite3.Connection, content: BagFileContent) -> None:
    definitions: dict[str, tuple[str, str]] = {}
    with suppress(sqlite3.OperationalError):  # Earlier versions have no definitions.
        rows = database.execute(
            "SELECT topic_type, encoding, encoded_message_definition FROM message_definitions"
        )
        definitions = {row[0]: row[1:] for row in rows if all(isinstance(text, str) for text in row)}
    rows = database.execute("SELECT id, name, type, serialization_format FROM topics")
    for number, name, kind, encoding in rows:
        if isinstance(name, str) and isinstance(kind, str) and isinstance(encoding, str):
            language, text = definitions.get(kind, ("", ""))
            known = language in ("ros2msg", "ros2idl")
            connection = Connection(
                name, normal_name(kind), encoding, text if known else "", language == "ros2idl"
            )
            content.connect(number, connection)


def _read_messages(database: sqlite3.Connection, content: BagFileContent) -> None:
    """Read the rows that are of the types that they must be."""
    rows = database.execute(_MESSAGES)
    while batch := rows.fetchmany(BATCH):
        content.take(*zip(*batch, strict=True))


def _check(database: sqlite3.Connection) -> None:
    """Raise where the table of messages is damaged: SQL does not notice that rows are missing."""
    (found,) = database.execute("PRAGMA quick_check(messages)").fetchone()
    if found != "ok":
        raise sqlite3.DatabaseError(str(found).splitlines()[-1])
