"""Tables of steady turns, a row each and no time: simulated, compared with what was measured, and fitted."""

from segtrack.logs.steady.compare import compare_turns
from segtrack.logs.steady.table import SteadyCase, SteadyTable, simulate_table, simulate_turns

__all__ = ["SteadyCase", "SteadyTable", "compare_turns", "simulate_table", "simulate_turns"]
