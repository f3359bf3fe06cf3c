"""Processes and machines that commands run simulations on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from segtrack.experiments import Pool

OverRay = Annotated[bool, typer.Option("--ray", help="Simulate on Ray's machines instead.")]


@contextmanager
def workers(jobs: int | None, over_ray: bool) -> Iterator[Pool]:
    """Open processes of this machine, or Ray's, that run simulations within the block.

    Raises:
        MissingPackageError: Ray is not installed.
    """
    from segtrack.experiments import Workers

    if not over_ray:
        with Workers(jobs) as pool:
            yield pool
        return
    from segtrack.experiments import RayWorkers

    yield RayWorkers()
