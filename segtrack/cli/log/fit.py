"""Command `segtrack log fit`: parameters of a vehicle fitted to logs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from segtrack.cli.log.options import Jobs
from segtrack.cli.output import (
    JsonFlag,
    OutFolder,
    command,
    finish,
    progress,
    results_folder,
    say_written,
    words,
)

if TYPE_CHECKING:
    from segtrack.logs.fit.evaluate import Pool

OverRay = Annotated[bool, typer.Option("--ray", help="Simulate on Ray's machines instead.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the fit in the folder.")]


@command
def fit(
    file: Annotated[str, typer.Argument(help="Fit file, or the name of a bundled one: maxxii.")],
    jobs: Jobs = None,
    over_ray: OverRay = False,
    resume: Resume = False,
    out: OutFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """Fit parameters of a vehicle to logs, and say what the logs do not determine.

    A fit file names logs with their mappings, what is compared, what is fitted, and what is held out. Ctrl-C
    keeps the best so far; --resume goes on from there to the same end.
    """
    from segtrack.logs.fit.study import find_fit, load_study
    from segtrack.report.logs.fit import fit_outcome

    path = find_fit(file)
    study = load_study(path)
    for note in study.notes:
        words().print(note, markup=False, highlight=False)
    folder = results_folder(out, f"fit-{path.stem}")
    with workers(jobs, over_ray) as pool, progress("fitting", 1.0) as advance:
        found = study.run(pool=pool, folder=folder, resume=resume, on_share=advance)
    say_written(study.write(found, folder))
    finish(fit_outcome(found), folder, as_json)


@contextmanager
def workers(jobs: int | None, over_ray: bool) -> Iterator[Pool]:
    """Open processes of this machine, or Ray's, that run simulations within the block.

    Raises:
        MissingPackageError: Ray is not installed.
    """
    from segtrack.experiments.parallel import Workers

    if not over_ray:
        with Workers(jobs) as pool:
            yield pool
        return
    from segtrack.experiments.parallel import RayWorkers

    yield RayWorkers()
