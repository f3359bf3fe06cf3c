"""Simulated motions beside logged ones: errors, and how uncertain they are."""

from segtrack.logs.compare.beside import InputPair, Variants, compare_motions
from segtrack.logs.compare.comparison import (
    AreaRow,
    Comparison,
    CurrentFit,
    ErrorRow,
    RunComparison,
    SplitRow,
    area_rows,
)
from segtrack.logs.compare.errors import ALIGNMENTS, Alignment, check_alignment
from segtrack.logs.compare.phases import CLIMB_PHASES, Phase, Phases, find_phases
from segtrack.logs.compare.simulations import CompareInterrupted, compare, simulation_count
from segtrack.logs.compare.stated import Stated, load_stated
from segtrack.logs.compare.uncertainty import COVERAGE, DataUncertainty, Numerics, Uncertainty

__all__ = [
    "ALIGNMENTS",
    "CLIMB_PHASES",
    "COVERAGE",
    "Alignment",
    "AreaRow",
    "CompareInterrupted",
    "Comparison",
    "CurrentFit",
    "DataUncertainty",
    "ErrorRow",
    "InputPair",
    "Numerics",
    "Phase",
    "Phases",
    "RunComparison",
    "SplitRow",
    "Stated",
    "Uncertainty",
    "Variants",
    "area_rows",
    "check_alignment",
    "compare",
    "compare_motions",
    "find_phases",
    "load_stated",
    "simulation_count",
]
