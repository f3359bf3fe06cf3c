"""Simulated motions beside logged ones: errors, and how uncertain they are."""

from segtrack.logs.compare.comparison import Comparison, CurrentFit, ErrorRow, RunComparison, SplitRow
from segtrack.logs.compare.motions.alignment import ALIGNMENTS, Alignment
from segtrack.logs.compare.motions.beside import InputPair, Variants, compare_motions
from segtrack.logs.compare.motions.phases import CLIMB_PHASES, Phase, Phases, find_phases
from segtrack.logs.compare.repeats import AreaRow, area_rows
from segtrack.logs.compare.uncertainty.data import DataUncertainty
from segtrack.logs.compare.uncertainty.validation import COVERAGE, Numerics, Uncertainty

__all__ = [
    "ALIGNMENTS",
    "CLIMB_PHASES",
    "COVERAGE",
    "Alignment",
    "AreaRow",
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
    "Uncertainty",
    "Variants",
    "area_rows",
    "compare_motions",
    "find_phases",
]
