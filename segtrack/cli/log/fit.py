"""`segtrack log fit`: parameters of a vehicle fitted to logs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from segtrack.cli.log.options import Jobs
from segtrack.cli.output import (
    INTERRUPTED,
    JsonFlag,
    OutFolder,
    command,
    progress,
    results_folder,
    say_written,
    show,
    words,
)
from segtrack.files import write_figure, write_json

if TYPE_CHECKING:
    from segtrack.logs.fit.fit import Fit
    from segtrack.logs.fit.simulated.evaluate import Pool

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

    path = find_fit(file)
    study = load_study(path)
    for note in study.notes:
        words().print(note, markup=False, highlight=False)
    folder = results_folder(out, f"fit-{path.stem}")
    with workers(jobs, over_ray) as pool, progress("fitting", 1.0) as advance:
        found = study.run(pool=pool, folder=folder, resume=resume, on_share=advance)
    tell(found, folder, as_json, lambda: study.write(found, folder))


@contextmanager
def workers(jobs: int | None, over_ray: bool) -> Iterator[Pool]:
    """What runs simulations, as long as it is used: processes of this machine, or Ray's.

    Raises:
        MissingPackageError: Ray is not installed.
    """
    from segtrack.experiments.parallel import Workers

    if not over_ray:
        with Workers(jobs) as pool:
            yield pool
        return
    from segtrack.experiments.ray_workers import RayWorkers

    yield RayWorkers()


def tell(
    found: Fit,
    folder: Path,
    as_json: bool,
    write_vehicle: Callable[[], Path] | None = None,
    truth: Mapping[str, float] | None = None,
) -> None:
    """Print tables, and write everything to a folder, beside the truth where it is known."""
    from segtrack.report.logs.fit_figure import draw_fit, draw_profiles
    from segtrack.report.logs.fit_table import fit_tables

    written = [] if write_vehicle is None else [write_vehicle()]
    written += [
        write_json(folder / "fit.json", found.summary()),
        write_figure(folder / "fit.png", draw_fit(found)),
    ]
    if found.finished:
        written.append(write_figure(folder / "profiles.png", draw_profiles(found, truth)))
    show(fit_tables(found, truth), found.summary(), as_json)
    say_written(*written)
    if not found.finished:
        words().print("interrupted: the best so far is kept; --resume goes on", style="red")
        raise typer.Exit(INTERRUPTED)
