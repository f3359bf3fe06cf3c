"""Trials that a mapping splits a log into, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from segtrack.logs.mapping import MappedLog


def split_table(trials: Sequence[MappedLog]) -> Table:
    """Number, origin, begin on the log's clock, span, values and remarks of each trial of one log."""
    first = trials[0]
    title = f"{escape(first.log.path.name)}, split by {escape(first.mapping.name)}"
    table = Table("trial", "of", "begins [s]", "lasts [s]", "values", "notes", title=title)
    for mapped in trials:
        assert mapped.trial is not None
        logged = [mapped.motion.signals[key].times for key, o in mapped.origins.items() if o.value is None]
        begin, end = min(times[0] for times in logged), max(times[-1] for times in logged)
        table.add_row(
            str(mapped.trial.number),
            escape(mapped.trial.label),
            f"{mapped.begin + begin:.10g}",
            f"{end - begin:.4g}",
            str(max(map(len, logged))),
            "\n".join(map(escape, mapped.notes)),
        )
    return table
