"""Which engine runs which track model. An engine is imported once it is chosen, and here alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segtrack.description import VehicleDescription, load_vehicle
from segtrack.engine import Engine, EngineName, wheel_count
from segtrack.errors import InvalidValueError, Phrase, UnknownNameError
from segtrack.robot import Robot
from segtrack.robot.checks import check_flippers, check_pose
from segtrack.terrain import Terrain, from_pybullet

if TYPE_CHECKING:
    from segtrack.bullet.vehicle import BulletVehicle

TRACK_MODELS: dict[EngineName, tuple[str, ...]] = {
    "pybullet": ("segments", "smooth", "wheels:N", "plates", "chain", "compliant", "surface"),
    "native": ("compliant", "surface", "chain"),
}
"""By engine, its default first."""
DEFAULT_ENGINE: EngineName = "native" if find_spec("pybullet") is None else "pybullet"
"""What runs where neither engine nor track model is named: PyBullet where it is installed."""
_FASTER: dict[str, EngineName] = {"compliant": "native", "surface": "native"}
"""The engine to take for a track model that both run; a chain, whose `suspension` takes PyBullet, runs in
`DEFAULT_ENGINE`."""
_OWN_CONTACTS = ("chain", "compliant", "surface")
"""Track models whose tracks find their contacts with described terrain by themselves."""


def resolve(engine: EngineName | None, track_model: str | None) -> tuple[EngineName, str]:
    """The engine and track model to take where one or both are left open.

    Args:
        engine: None for the one that runs the track model.
        track_model: None for the engine's default; with neither, that of `DEFAULT_ENGINE`.

    Raises:
        UnknownNameError: No such engine, or no such track model.
        InvalidValueError: The engine does not run the track model, or it is one of too few wheels.
        MissingPyBulletError: It takes PyBullet, which is not installed.
    """
    chosen, model = _choose(engine, track_model)
    if chosen == "pybullet" != DEFAULT_ENGINE:
        import_module("segtrack.bullet")  # Says what to install.
    return chosen, model


def _choose(engine: EngineName | None, track_model: str | None) -> tuple[EngineName, str]:
    if engine is not None and engine not in TRACK_MODELS:
        raise UnknownNameError("engine", engine, TRACK_MODELS)
    if track_model is None:
        chosen = engine or DEFAULT_ENGINE
        return chosen, TRACK_MODELS[chosen][0]
    kind = "wheels:N" if track_model.partition(":")[0] == "wheels" else track_model
    if kind == "wheels:N":
        wheel_count(track_model)
    runs_it = [name for name, models in TRACK_MODELS.items() if kind in models]
    if not runs_it:
        known = TRACK_MODELS.values() if engine is None else (TRACK_MODELS[engine],)
        names = dict.fromkeys(name for models in known for name in models)
        raise UnknownNameError("track model", track_model, names)
    if engine is not None and engine not in runs_it:
        raise InvalidValueError(f"engine for track model {track_model!r}", " or ".join(runs_it), engine)
    default = DEFAULT_ENGINE if DEFAULT_ENGINE in runs_it else runs_it[0]
    return engine or _FASTER.get(track_model, default), track_model


def open_engine(
    name: EngineName | None,
    preset: str | None,
    time_step: float | None,
    gravity: float,
    gui: bool,
    client: Any,
) -> Engine:
    """Open a world of an engine: of `DEFAULT_ENGINE` if none is named, of PyBullet for a window or a client.

    Raises:
        UnknownNameError: No such engine, or no such preset.
        MissingPyBulletError: It takes PyBullet, which is not installed.
        InvalidValueError: A window or a client for an engine that is not PyBullet, or a time step that is
            not positive and finite.
        SegtrackError: There is no display for a window.
    """
    if name is None:
        name = "pybullet" if gui or client is not None else DEFAULT_ENGINE
    if name == "pybullet":
        from segtrack.bullet.engine import BulletEngine

        return BulletEngine(preset, time_step, gravity, gui=gui, client=client)
    if name not in TRACK_MODELS:
        raise UnknownNameError("engine", name, TRACK_MODELS)
    for what, given in (("window", gui), ("PyBullet client", client is not None)):
        if given:
            raise InvalidValueError(f"engine for a {what}", "pybullet", name)
    from segtrack.native import NativeEngine

    return NativeEngine(preset, time_step, gravity)


def configure(client: Any, preset_name: str = "exact", time_step: float | None = None) -> float:
    """Give a PyBullet client the solver settings that segtrack's numbers hold for.

    Args:
        client: A `BulletClient`, a client id, or the module `pybullet`.
        preset_name: `exact` (1 ms), `fast` (4 ms) or `coarse` (10 ms).
        time_step: Instead of the preset's [s].

    Returns:
        The time step [s].

    Raises:
        MissingPyBulletError: PyBullet is not installed.
        UnknownNameError: No such preset.
        InvalidValueError: A time step that is not positive and finite.
        DisconnectedError: The client is not connected.
    """
    from segtrack.bullet.client import configure as configure_client

    return configure_client(client, preset_name, time_step)


def attach(
    client: Any,
    vehicle: str | Path | VehicleDescription,
    *,
    track_model: str = "segments",
    position: Sequence[float] = (0.0, 0.0, 0.0),
    orientation: Sequence[float] = (0.0, 0.0, 0.0, 1.0),
    flippers: Mapping[str, float] | None = None,
    terrain: Sequence[Terrain] | None = None,
) -> Robot[BulletVehicle]:
    """Add a vehicle to a running PyBullet program, which keeps its own loop and settings.

    The program calls `robot.before_step()` exactly once before each `stepSimulation()`; one that never does
    gets `NotReadyError` from the robot's next command or state. Solver settings that the numbers in the
    README hold for are set by `segtrack.configure(client)`.

    Args:
        client: A `BulletClient`, a client id, or the module `pybullet`.
        vehicle: Bundled name, path of a vehicle file, or a description.
        track_model: How tracks are built: segments, smooth, wheels:N, plates, chain, compliant or surface.
        position: Body frame in the world (3,) [m].
        orientation: Body frame in the world, quaternion (x, y, z, w).
        flippers: Angles to start at, by name [rad]; 0 if not given.
        terrain: What tracks of the models chain, compliant and surface stand on, which find their contacts
            by themselves; what PyBullet's static bodies are now if not given (`terrain.from_pybullet`, so
            load these before). Bodies that move they do not touch. The others touch whatever PyBullet has.

    Returns:
        The robot.

    Raises:
        MissingPyBulletError: PyBullet is not installed.
        DisconnectedError: The client is not connected.
        UnknownNameError: No such vehicle, track model or flipper.
        VehicleFileError: The vehicle file has mistakes.
        InvalidValueError: Not a client, a number that is not finite, or no ground for tracks that find their
            contacts by themselves: no static body, or one that cannot be described.
    """
    from segtrack.bullet.client import bound_client, client_id
    from segtrack.bullet.vehicle import BulletVehicle

    resolve("pybullet", track_model)
    description = vehicle if isinstance(vehicle, VehicleDescription) else load_vehicle(vehicle)
    number = client_id(client, f"attach {description.name}")
    pose, angles = check_pose(position, orientation), check_flippers(description, flippers)
    if terrain is None and track_model in _OWN_CONTACTS:
        terrain = from_pybullet(bound_client(number))
        if not terrain:
            expected = "given, or in the PyBullet program as static bodies before `attach`"
            raise InvalidValueError(f"terrain for track model {track_model!r}", expected, Phrase("none"))
    model = BulletVehicle(number, description, track_model, *pose, angles)
    model.update_terrain(terrain or ())
    return Robot(model, track_model)
