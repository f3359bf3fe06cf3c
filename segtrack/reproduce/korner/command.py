"""`segtrack reproduce korner`: an M113 at the paper's obstacles, and at steps with its sprocket moved."""

from __future__ import annotations

from typing import Annotated

import typer

from segtrack.experiments import run_parallel
from segtrack.report import Outcome
from segtrack.reproduce.korner.figure import draw_korner
from segtrack.reproduce.korner.free_body import draw_free_bodies, find_free_body, stuck_runs
from segtrack.reproduce.korner.plan import make_plan
from segtrack.reproduce.korner.result import run_plan
from segtrack.reproduce.korner.tables import korner_tables
from segtrack.reproduce.registry import Session


def run(
    session: Session,
    *,
    full: Annotated[
        bool,
        typer.Option(
            "--full",
            help="The paper's 69 places of the sprocket, its increments, and creeping: "
            "three to four hours on two cores.",
        ),
    ] = False,
) -> Outcome:
    """Run the study."""
    plan = make_plan(full)
    with session.counting("driving", len(plan.series)) as done:
        result = run_plan(plan, on_done=done)
    bodies = run_parallel(find_free_body, stuck_runs((*result.steps, *result.gaps)))
    summary = {"full": full, **result.summary(), "free_bodies": [body.summary() for body in bodies]}
    files = {"korner.json": summary, "korner.png": draw_korner(result)}
    if bodies:
        files["korner_forces.png"] = draw_free_bodies(bodies)
    return Outcome(korner_tables(result), summary, files)
