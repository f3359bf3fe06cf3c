"""Journal of a study: one line for each finished run, on disk before the next one starts."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from segtrack.description import file_hash, named_files
from segtrack.errors import FileAccessError, InvalidValueError, Phrase
from segtrack.files import content_hash
from segtrack.study.file import StudyFile
from segtrack.study.paths import VehicleSource
from segtrack.study.runs import Row

_PACKAGES = ("segtrack", "numpy", "scipy", "numba", "pybullet", "optuna", "SALib")


def provenance(study: StudyFile) -> dict[str, Any]:
    """Hashes and versions that the results depend on."""
    source = VehicleSource(study.vehicle)
    file, folder = source.file, source.file.parent
    versions = {"python": platform.python_version(), "machine": platform.machine()}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    content = json.loads(study.model_dump_json())
    return {
        "study_sha256": content_hash({**content, "vehicle": file.name}),
        "vehicle_file": file.name,
        "vehicle_sha256": file_hash(file),
        "named_files_sha256": {
            os.path.relpath(named, folder): file_hash(named) for named in named_files(source.vehicle)
        },
        "versions": versions,
        "seed": study.design.seed,
    }


class Journal:
    """File of a study's finished runs, by design and trial."""

    def __init__(self, path: Path, head: Mapping[str, Any], resume: bool) -> None:
        """Open a journal, or start one.

        Args:
            path: File of the journal.
            head: Provenance of the study.
            resume: True to continue from the journal's runs.

        Raises:
            InvalidValueError: There are runs and they are not to be gone on from, or of another study.
            FileAccessError: The file cannot be read or written, or there is none to go on from.
        """
        self.path, self.rows = path, dict[tuple[int, int], Row]()
        if resume and not path.exists():
            raise FileAccessError("resume from", path, "no such file")
        try:
            lines = path.read_bytes().split(b"\n") if path.exists() else []
            whole = lines[:-1]  # A line without its end was being written when the study was killed.
            if whole:
                self._read(whole, head, resume)
            if not self.rows:  # A head alone may be of the study as it was before it was changed.
                whole = [json.dumps(dict(head)).encode()]
            text = b"\n".join(whole) + b"\n"
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("r+b" if path.exists() else "wb") as file:
                file.write(text)
                file.truncate()
        except OSError as error:
            raise FileAccessError("write to", path, error.strerror or str(error)) from None

    def _read(self, lines: list[bytes], head: Mapping[str, Any], resume: bool) -> None:
        try:
            known, *rows = [json.loads(line) for line in lines]
        except ValueError:
            raise FileAccessError("read", self.path, "is no journal of a study") from None
        if rows and not resume:
            got = Phrase(f"one with {len(rows)} runs: --resume goes on from them")
            raise InvalidValueError(f"journal {self.path}", "a new one", got)
        changed = [name for name in head if known.get(name) != head[name]]
        if rows and changed:
            expected = "of the same study file, vehicle file and versions"
            raise InvalidValueError(f"journal {self.path}", expected, Phrase(f"other {', '.join(changed)}"))
        self.rows = {(row["design"], row["trial"]): row for row in rows}

    def add(self, row: Row) -> None:
        """Write a finished run to disk."""
        self.rows[row["design"], row["trial"]] = row
        with self.path.open("ab") as file:
            file.write(json.dumps(row).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
