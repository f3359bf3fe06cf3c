"""A report on a log as tables for the terminal: its level with the reasons, and how many errors are what."""

from __future__ import annotations

from rich.markup import escape
from rich.table import Table

from segtrack.report.logs.page.content import ReportContent
from segtrack.report.logs.page.maturity import LEVELS


def report_tables(content: ReportContent) -> list[Table]:
    """Level and reasons; then a line for each run and phase."""
    maturity = content.maturity
    level = "none" if maturity.level is None else f"{maturity.level}: {LEVELS[maturity.level]}"
    head = Table(
        "maturity level", escape(level), title=f"{content.logged.name} beside {content.vehicle.name}"
    )
    for reason in maturity.reasons:
        head.add_row("", escape(reason))
    head.add_row("", escape(f"Uncertainties given: {', '.join(content.stated) or 'none'}."))
    errors = Table("driven by", "phase", "within", "beyond", "unknown", title="errors against u_val")
    for run, phase in dict.fromkeys((row.run, row.phase) for row in content.rows):
        verdicts = [row.verdict for row in content.rows if (row.run, row.phase) == (run, phase)]
        errors.add_row(run, phase, *(str(verdicts.count(name)) for name in ("within", "beyond", "unknown")))
    return [head, errors]
