"""What lies in the station's folder: recordings and operators' records, known to a page by name alone."""

from __future__ import annotations

import logging
from datetime import datetime
from pathlib import Path
from typing import Literal

from segtrack.errors import SegtrackError, UnknownNameError
from segtrack.files import check_writable
from segtrack.scoring import Records, Result, ScoringSettings, report_csv, report_html

RECORDINGS, RECORDS = "recordings", "records"
REPORTS = "/station/report"
_MAX_LISTED = 100
_LOG = logging.getLogger(__name__)


def default_folder() -> Path:
    """Where the station keeps its files if nothing else is said."""
    return Path.home() / ".local" / "share" / "segtrack"


class Library:
    """The station's folder.

    Attributes:
        folder: Where it is.
        records: Of operators.
    """

    def __init__(self, folder: Path) -> None:
        """Make the folder, if there is none.

        Raises:
            FileAccessError: It cannot be made or written to.
        """
        folder = folder.absolute()
        self.folder, self.records = folder, Records(folder / RECORDS)
        for part in (RECORDINGS, RECORDS):
            check_writable(folder / part)
            (folder / part).mkdir(parents=True, exist_ok=True)
        self.refresh()

    @property
    def recordings_folder(self) -> Path:
        """Where recordings are."""
        return self.folder / RECORDINGS

    def refresh(self) -> None:
        """Look anew what recordings there are."""
        found = sorted(self.recordings_folder.glob("*.mcap"), reverse=True)
        self._recordings = {path.stem: path for path in found[:_MAX_LISTED]}

    def recordings(self) -> tuple[str, ...]:
        """Names of the recordings, newest first."""
        return tuple(self._recordings)

    def recording(self, name: str) -> Path:
        """The file of a recording.

        Raises:
            UnknownNameError: It is not among them.
        """
        if name not in self._recordings:
            raise UnknownNameError("recording", name, self._recordings)
        return self._recordings[name]

    def keep(self, result: Result) -> str:
        """Add a result to its operator's record; returns what came of it, in words."""
        try:
            self.records.add(result)
        except SegtrackError as error:
            _LOG.error("%s", error)
            return str(error)
        return f"{result.operator}: {result.outcome}"

    def without_path(self, text: str) -> str:
        """A text that may name files, fit for a client: those of the folder are named from there."""
        return text.replace(f"{self.folder}/", "")

    def report_link(self, operator: str | None) -> str:
        """Where an operator's report can be read, or a list of all."""
        known = self.records.operators()
        return f"{REPORTS}/{known.index(operator)}" if operator in known else REPORTS

    def report(self, number: int, kind: Literal["html", "csv"]) -> str:
        """The report of the operator with this number in the list.

        Raises:
            SegtrackError: There is no such number, or the record cannot be read.
        """
        known = self.records.operators()
        if not 0 <= number < len(known):
            raise UnknownNameError("report", number, map(str, range(len(known))))
        written = datetime.now().isoformat(sep=" ", timespec="minutes")
        if kind == "csv":
            return report_csv(self.records, known[number], ScoringSettings())
        return report_html(self.records, known[number], ScoringSettings(), written)
