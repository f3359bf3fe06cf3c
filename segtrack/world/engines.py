"""Entry points to the engines: an engine is imported once it is chosen, and here alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segtrack.description import VehicleDescription, load_vehicle, warn_of_low_shapes
from segtrack.engine import DEFAULT_ENGINE, Engine, EngineName, check_engine, find_track_model
from segtrack.errors import InvalidValueError, Phrase
from segtrack.robot import Robot, check_pose
from segtrack.terrain import Terrain, from_pybullet, terrains_of
from segtrack.world.placement import check_flippers

if TYPE_CHECKING:
    from segtrack.bullet import BulletVehicle


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
        MissingPackageError: It takes MuJoCo, which is not installed, or too old.
        InvalidValueError: A window or a client for an engine that is not PyBullet, or a time step that is
            not positive and finite.
        SegtrackError: There is no display for a window.
    """
    if name is None:
        name = "pybullet" if gui or client is not None else DEFAULT_ENGINE
    check_engine(name)
    if name == "pybullet":
        from segtrack.bullet import BulletEngine

        return BulletEngine(preset, time_step, gravity, gui=gui, client=client)
    for what, given in (("window", gui), ("PyBullet client", client is not None)):
        if given:
            raise InvalidValueError(f"engine for a {what}", "pybullet", name)
    if name == "mujoco":
        from segtrack.mujoco import MujocoEngine

        return MujocoEngine(preset, time_step, gravity)
    from segtrack.native import NativeEngine

    return NativeEngine(preset, time_step, gravity)


def configure(client: Any, preset_name: str = "exact", time_step: float | None = None) -> float:
    """Give a PyBullet client the solver settings that segtrack's numbers hold for.

    Args:
        client: A `BulletClient`, a client id, or the module `pybullet`.
        preset_name: `exact` (1 ms), `fast` (5 ms) or `coarse` (10 ms).
        time_step: Instead of the preset's [s].

    Returns:
        The time step [s].

    Raises:
        MissingPyBulletError: PyBullet is not installed.
        UnknownNameError: No such preset.
        InvalidValueError: A time step that is not positive and finite.
        DisconnectedError: The client is not connected.
    """
    from segtrack.bullet import configure as configure_client

    return configure_client(client, preset_name, time_step)


def attach(
    client: Any,
    vehicle: str | Path | VehicleDescription,
    *,
    track_model: str = "segments",
    position: Sequence[float] = (0.0, 0.0, 0.0),
    orientation: Sequence[float] = (0.0, 0.0, 0.0, 1.0),
    flippers: Mapping[str, float] | None = None,
    terrain: Terrain | Sequence[Terrain] | None = None,
) -> Robot[BulletVehicle]:
    """Add a vehicle to a running PyBullet program, which keeps its own loop and settings.

    The program calls `robot.before_step()` before each `stepSimulation()`; one that never does gets
    `NotReadyError` from the robot's next command or state, and one whose robot moves and that leaves out more
    than about every tenth step, after some ten times. `robot.save()` and `robot.restore(...)` are called
    beside PyBullet's `saveState` and `restoreState`, which leave belts at the later moment. Solver settings
    that the numbers in docs/topics/pybullet.md hold for are set by `segtrack.configure(client)`.

    The logger `segtrack` warns of shapes of the vehicle's body that would carry it beside its belts.

    Args:
        client: A `BulletClient`, a client id, or the module `pybullet`.
        vehicle: Bundled name, path of a vehicle file, or a description.
        track_model: Name of a track model that PyBullet runs (`segtrack.engine.track_models`).
        position: Body frame in the world (3,) [m].
        orientation: Body frame in the world, quaternion (x, y, z, w).
        flippers: Angles to start at, by name [rad]; 0 if not given.
        terrain: Ground for track models that find their contacts with it themselves (compliant, for
            example); if not given, read from the static bodies in PyBullet now (`terrain.from_pybullet`, so
            load these before). Moving bodies are not touched. Other track models touch whatever PyBullet has.

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
    from segtrack.bullet import BulletVehicle, bound_client, client_id

    entry = find_track_model(track_model, "pybullet")
    description = vehicle if isinstance(vehicle, VehicleDescription) else load_vehicle(vehicle)
    number = client_id(client, f"attach {description.name}")
    warn_of_low_shapes(description)
    pose, angles = check_pose(position, orientation), check_flippers(description, flippers)
    grounds = terrains_of(terrain)
    if terrain is None and entry.contacts != "links":
        grounds = tuple(from_pybullet(bound_client(number)))
        if not grounds:
            expected = "given, or in the PyBullet program as static bodies before `attach`"
            raise InvalidValueError(f"terrain for track model {track_model!r}", expected, Phrase("none"))
    model = BulletVehicle(number, description, track_model, *pose, angles)
    model.update_terrain(grounds)
    return Robot(model, track_model)
