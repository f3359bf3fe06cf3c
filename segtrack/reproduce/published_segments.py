"""Segments as published: without the sliders across the track that let them turn as friction says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from segtrack.engine import TRACK_MODELS


@contextmanager
def as_published() -> Iterator[None]:
    """Build the track model `segments` within the block as Okada et al. (2020) do, on rigid contacts."""
    row = TRACK_MODELS["segments"]
    builder = "segtrack.bullet.belts.segments:published_builder"
    TRACK_MODELS["segments"] = replace(row, builders={"pybullet": builder})
    try:
        yield
    finally:
        TRACK_MODELS["segments"] = row
