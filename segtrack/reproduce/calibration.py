"""`segtrack reproduce calibration`: parameters fitted to logs of which the truth is known."""

from __future__ import annotations

from typing import Annotated

import typer

from segtrack.experiments.parallel import Workers
from segtrack.report.outcome import Outcome
from segtrack.reproduce.registry import Session


def run(
    session: Session,
    logged: Annotated[
        str, typer.Option(help="Track model that makes the logs: compliant, surface or chain.")
    ] = "chain",
    fitted: Annotated[
        str, typer.Option(help="Track model that is fitted: compliant, surface or chain.")
    ] = "compliant",
    seed: Annotated[int, typer.Option(help="Seed of the logs' noise and of the fit.", min=0)] = 1,
    jobs: Annotated[
        int | None, typer.Option(help="Processes; as many as there are cores if not given.", min=1)
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the fit in the folder.")] = False,
) -> Outcome:
    """Simulate the logs and fit them."""
    from segtrack.report.logs.fit import fit_outcome
    from segtrack.reproduce.known_fit import run_proof  # Takes the extra `logs`.

    session.rename(f"calibration-{logged}-{fitted}")
    with Workers(jobs) as pool, session.progress("fitting", 1.0) as advance:
        proof = run_proof(
            logged,
            fitted,
            seed=seed,
            pool=pool,
            folder=session.folder,
            resume=resume,
            on_share=advance,
        )
    return fit_outcome(proof.fit, proof.truth)
