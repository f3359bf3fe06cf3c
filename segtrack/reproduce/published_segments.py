"""Track model `segments` as published, without its later sliders across the track."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from segtrack.engine import TRACK_MODELS


@contextmanager
def as_published() -> Iterator[None]:
    """Context in which the track model `segments` is built as in Okada et al. 2020, on rigid contacts."""
    row = TRACK_MODELS["segments"]
    builder = "segtrack.bullet.belts.segments:published_builder"
    TRACK_MODELS["segments"] = replace(row, builders={"pybullet": builder})
    try:
        yield
    finally:
        TRACK_MODELS["segments"] = row
