"""Command group `segtrack reproduce`: one command for each row of the registry."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from segtrack.cli.output import JsonFlag, OutFolder, command, counting, finish, progress, results_folder
from segtrack.reproduce import EXPERIMENTS, Experiment


class _Session:
    """Results folder and progress bars for an experiment; see `segtrack.reproduce.registry.Session`."""

    def __init__(self, out: Path | None, name: str) -> None:
        self._out = out
        self.rename(name)

    def rename(self, name: str) -> None:
        self.folder = results_folder(self._out, name)

    def counting(self, what: str, total: int) -> AbstractContextManager[Callable[[], None]]:
        return counting(what, total)

    def progress(self, what: str, total: float) -> AbstractContextManager[Callable[[float], None]]:
        return progress(what, total)


def _make_command(experiment: Experiment) -> Callable[..., None]:
    """Make an experiment's command from its own options, `--out` and `--json`."""

    def call(out: Path | None, as_json: bool, **options: Any) -> None:
        session = _Session(out, experiment.name)
        finish(experiment.run(session, **options), session.folder, as_json)

    _, *own = inspect.signature(experiment.run, eval_str=True).parameters.values()
    shared = [
        inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=OutFolder),
        inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=JsonFlag),
    ]
    parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in own] + shared
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {each.name: each.annotation for each in parameters}
    call.__doc__ = experiment.summary
    return command(call)


class _Reproductions(TyperGroup):
    """Command group that imports its commands, and with them matplotlib, only when one is needed."""

    _made: dict[str, Any] | None = None

    @property  # type: ignore[override]
    def commands(self) -> dict[str, Any]:
        """Commands by name, made when first asked for."""
        if self._made is None:
            command(self._make)()  # Ctrl-C while it imports ends it as one of a command does.
        return self._made or {}

    @commands.setter
    def commands(self, _: dict[str, Any]) -> None:
        """Ignore the commands that click sets: there are none."""

    def _make(self) -> None:
        made = typer.Typer(rich_markup_mode=self.rich_markup_mode)
        for experiment in EXPERIMENTS:
            made.command(experiment.name)(_make_command(experiment))
        self._made = dict(typer.main.get_group(made).commands)


reproduce = typer.Typer(cls=_Reproductions, help="Reproduce published results.", no_args_is_help=True)


@reproduce.callback()
def _group() -> None:
    """Reproduce published results."""
