"""Parquet file of a study's runs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from segtrack.errors import FileAccessError, InvalidValueError, MissingPackageError, Phrase
from segtrack.files import replacing
from segtrack.study.runs import COLUMNS, Row

_KEY = "segtrack."
"""Beginning of the keys of the file's metadata."""


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingPackageError("the table of a study", "pyarrow", "study") from None
    return pyarrow, pyarrow.parquet


def check_parquet() -> None:
    """Raise an error, before any work, if Parquet files cannot be written.

    Raises:
        MissingPackageError: Pyarrow is not installed.
    """
    _pyarrow()


def write_runs(path: Path, parameters: Iterable[str], rows: Sequence[Row], head: Mapping[str, Any]) -> Path:
    """Write all runs, one row each, with the provenance as metadata; returns the path.

    Raises:
        MissingPackageError: Pyarrow is not installed.
        FileAccessError: The file cannot be written.
    """
    arrow, parquet = _pyarrow()
    kinds = {int: arrow.int64(), float: arrow.float64(), str: arrow.string(), bool: arrow.bool_()}
    fields = [arrow.field(name, arrow.float64()) for name in parameters]
    fields += [arrow.field(name, kinds[kind]) for name, kind in COLUMNS.items()]
    metadata = {_KEY + name: json.dumps(value) for name, value in head.items()}
    schema = arrow.schema(fields, metadata=metadata)
    with replacing(path) as temporary:
        parquet.write_table(arrow.Table.from_pylist(list(rows), schema=schema), temporary)
    return path


def read_runs(path: Path, parameters: Iterable[str], head: Mapping[str, Any]) -> list[Row]:
    """Read all runs of a study from its file.

    Args:
        path: File of the table.
        parameters: Names of the study's parameters.
        head: Provenance of the study; versions may differ from the file's.

    Raises:
        MissingPackageError: Pyarrow is not installed.
        FileAccessError: The file cannot be read.
        InvalidValueError: It is of another study or vehicle file, or has other columns.
    """
    arrow, parquet = _pyarrow()
    try:
        table = parquet.read_table(path)
    except FileNotFoundError:
        raise FileAccessError("read", path, "no such file") from None
    except (OSError, arrow.ArrowInvalid) as error:
        raise FileAccessError("read", path, str(error).splitlines()[0]) from None
    kept = {key.decode(): json.loads(value) for key, value in (table.schema.metadata or {}).items()}
    of_others = [name for name in head if name.endswith("_sha256") and kept.get(_KEY + name) != head[name]]
    if table.column_names != [*parameters, *COLUMNS]:
        of_others.append("columns")
    if of_others:
        expected = "of the same study file and vehicle file"
        raise InvalidValueError(f"table {path}", expected, Phrase(f"other {', '.join(of_others)}"))
    rows: list[Row] = table.to_pylist()
    return rows
