"""Folder of a station for recordings and operators' records."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from segtrack.courses import Records


@dataclass(frozen=True)
class StationFolder:
    """Folder of a station.

    Attributes:
        path: Path of the folder.
    """

    path: Path

    @property
    def recordings(self) -> Path:
        """Folder of the recordings."""
        return self.path / "recordings"

    @property
    def records(self) -> Records:
        """Records of operators."""
        return Records(self.path / "records")
