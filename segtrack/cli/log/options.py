"""Options and steps that several commands of `segtrack log` share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from segtrack.errors import InvalidValueError, Phrase

if TYPE_CHECKING:
    from segtrack.logs.mapping import MappedLog
    from segtrack.logs.replay import Replay

MappingFile = Annotated[
    Path, typer.Option(help="Mapping file: which channel is which quantity.", show_default=False)
]
VehicleOption = Annotated[
    str | None, typer.Option(help="Bundled vehicle or vehicle file; the mapping's.", show_default=False)
]
TerrainOption = Annotated[
    str | None, typer.Option(help="Bundled course or terrain file; the mapping's.", show_default=False)
]
SettingOption = Annotated[
    float | None,
    typer.Option(help="Value of what the course raises; the mapping's or its own.", show_default=False),
]
UncertainOption = Annotated[
    str | None,
    typer.Option(
        help="Standard deviations: friction=0.05,setting=0.002, or a YAML file of inputs and data.",
        show_default=False,
    ),
]
NumericsOption = Annotated[
    bool, typer.Option(help="Simulate half and a quarter of the time step, for u_num.")
]
Jobs = Annotated[int | None, typer.Option(help="Processes; as many as there are cores if not given.", min=1)]
_NORMAL_95 = 1.96
"""Half an interval of 95 % over the standard deviation."""


def replayed(
    path: Path,
    mapping: Path,
    vehicle: str | None,
    terrain: str | None,
    setting: float | None,
    engine: str | None,
    track_model: str | None,
) -> tuple[MappedLog, Replay]:
    """A log and its simulations; vehicle, terrain and setting are the mapping's where they are not given.

    Raises:
        SegtrackError: A file has mistakes, or they do not go together.
    """
    from segtrack.logs.mapping import map_file
    from segtrack.logs.replay import ReplaySettings, load_terrain, replay

    mapped = map_file(path, mapping, vehicle)
    said = mapped.mapping.file
    ground = terrain if terrain is not None else said.terrain
    for what, given in (("vehicle", said.vehicle), ("terrain", ground)):
        if given is None:
            raise InvalidValueError(what, f"given by --{what} or the mapping", Phrase("none"))
    assert said.vehicle is not None and ground is not None
    raised = said.setting if setting is None and terrain is None else setting
    settings = ReplaySettings(
        said.vehicle,
        load_terrain(ground, raised),
        engine=engine,  # type: ignore[arg-type]
        track_model=track_model,
        event=said.event if isinstance(said.event, float) else None,
    )
    return mapped, replay(mapped.motion, settings)


def clock_deviations(mapped: MappedLog) -> dict[str, float | None]:
    """Standard deviation of each clock's offset that was estimated, by source [s]."""
    return {fit.source: fit.offset.margin / _NORMAL_95 for fit in mapped.clocks}
