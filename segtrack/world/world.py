"""A world of terrain and robots: it owns the engine and the clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Sized
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segtrack.description import VehicleDescription, load_vehicle, warn_of_low_shapes
from segtrack.engine import EngineName, find_track_model, track_model_names
from segtrack.errors import (
    InvalidValueError,
    NotReadyError,
    Phrase,
    downwards,
    finite,
    finite_vector,
    truth,
    whole,
    whole_steps,
)
from segtrack.geometry import GRAVITY, quaternion_of
from segtrack.robot import Robot, check_pose
from segtrack.terrain import Terrain
from segtrack.world.engines import open_engine
from segtrack.world.placement import (
    SettleResult,
    attitude_rotation,
    check_flippers,
    check_ground,
    clearing_height,
    heading_quaternion,
    height_of,
    leaning_height,
    settle_robots,
)
from segtrack.world.stepping import Pacer, Snapshot, Snapshots, take_steps


class World:
    """A world of terrain and robots, advanced in steps of fixed length.

    Two worlds that are built and commanded alike are equal to the bit.

    Attributes:
        engine: Engine that simulates it.
        real_time_factor: Simulated over elapsed time of the last `run`.
    """

    __slots__ = ("_pacer", "_resettable", "_robots", "_snapshots", "_terrains", "engine", "real_time_factor")

    def __init__(
        self,
        preset: str | None = None,
        *,
        engine: EngineName | None = None,
        time_step: float | None = None,
        gravity: float = GRAVITY,
        gui: bool = False,
        client: Any = None,
        resettable: bool = True,
    ) -> None:
        """Open a world.

        Args:
            preset: The engine's solver settings, its default if not given; PyBullet's are `exact` (1 ms, the
                default but for segments), `fast` (5 ms, theirs) and `coarse` (10 ms).
            engine: `pybullet`, `mujoco`, or `native` for segtrack's own; if not given PyBullet where it is
                installed.
            time_step: Instead of the preset's [s].
            gravity: Downwards, at least 0 [m/s^2]; `set_gravity` takes any direction.
            gui: Show PyBullet's window.
            client: A `BulletClient` to join; it gets the solver settings and the gravity, and stays open
                on `close`.
            resettable: Save the state before the first step (some 10 ms), so that `reset` finds it.

        Raises:
            UnknownNameError: No such engine or preset.
            MissingPyBulletError: It takes PyBullet, which is not installed.
            MissingPackageError: It takes MuJoCo, which is not installed, or too old.
            InvalidValueError: A time step that is not positive, a negative gravity, a window or client
                without PyBullet, or a switch that is neither True nor False.
            SegtrackError: There is no display for a window.
        """
        gravity, self._resettable = downwards(gravity), truth("resettable", resettable)
        self.engine = open_engine(engine, preset, time_step, gravity, truth("gui", gui), client)
        self._terrains: list[Terrain] = []
        self._robots: list[Robot] = []
        self.real_time_factor = 0.0
        self._pacer = Pacer()
        self._snapshots = Snapshots(self.engine, resettable)

    def __enter__(self) -> World:
        """Use as a context manager; leaving it closes the world."""
        self.engine.lifetime.require_open("enter the world")
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def close(self) -> None:
        """Free what the engine holds, a joined client excepted; may be called again.

        Nothing can be commanded from then on; what robots did last can still be read.
        """
        self.engine.close()

    @property
    def engine_name(self) -> EngineName:
        """Name of the engine: `pybullet`, `native` or `mujoco`."""
        return self.engine.name

    @property
    def preset(self) -> str:
        """Name of the engine's solver settings."""
        return self.engine.preset

    @property
    def terrains(self) -> tuple[Terrain, ...]:
        """Terrains that have been added."""
        return tuple(self._terrains)

    @property
    def robots(self) -> tuple[Robot, ...]:
        """Robots that have been added."""
        return tuple(self._robots)

    @property
    def client(self) -> Any:
        """The PyBullet client, for everything that segtrack does not do.

        Raises:
            NotReadyError: Another engine runs this world.
        """
        if self.engine.name != "pybullet":
            raise NotReadyError("give the PyBullet client", f"the world's engine is {self.engine.name}")
        return self.engine.client  # type: ignore[attr-defined]

    @property
    def time_step(self) -> float:
        """Length of a step [s]; of PyBullet's default preset once vehicles are added."""
        return self.engine.time_step

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.engine.time

    @property
    def overruns(self) -> int:
        """Number of times that steps of paced runs came too late."""
        return self._pacer.overruns

    def set_gravity(self, gravity: Sequence[float]) -> None:
        """Set the gravity in the world (3,) [m/s^2]; a slope is flat ground under gravity that leans.

        Raises:
            InvalidValueError: Not three finite numbers.
        """
        self.engine.set_gravity(finite_vector("gravity [m/s^2]", gravity, 3))

    def add_terrain(self, terrain: Terrain) -> Any:
        """Build a terrain; returns what the engine calls it by: PyBullet, the ids of its bodies.

        Raises:
            InvalidValueError: Not a terrain, or one that the engine or a robot's tracks cannot hold.
        """
        if not isinstance(terrain, Terrain):
            raise InvalidValueError("terrain", "one of segtrack.terrain", terrain)
        built = self.engine.add_terrain(terrain)
        self._terrains.append(terrain)
        self._snapshots.drop_start()
        return built

    def clear_terrain(self) -> None:
        """Remove all terrain."""
        self.engine.clear_terrain()
        self._terrains.clear()
        self._snapshots.drop_start()

    def add_vehicle(
        self,
        vehicle: str | Path | VehicleDescription,
        *,
        track_model: str | None = None,
        position: Sequence[float] | None = None,
        yaw: float = 0.0,
        flippers: Mapping[str, float] | None = None,
    ) -> Robot:
        """Add a vehicle and return it as a robot.

        The logger `segtrack` warns of shapes of its body that would carry it beside its belts.

        Args:
            vehicle: Bundled name, path of a vehicle file, or a description.
            track_model: Name of a track model that the engine runs (`segtrack.engine.track_models`); its
                default if not given: segments in PyBullet, compliant in the native engine and MuJoCo.
            position: Origin of the body frame (2,) or (3,) [m]; that of the world if not given. Without a
                height the vehicle is placed just above the terrain under it.
            yaw: Heading about the world's z axis [rad].
            flippers: Angles to start at, by name [rad]; 0 if not given.

        Raises:
            UnknownNameError: No such vehicle, track model or flipper.
            VehicleFileError: The vehicle file has mistakes.
            InvalidValueError: A number that is not finite, or a track model of another engine.
        """
        at = position if position is not None else (0.0, 0.0)
        given = finite_vector("position [m]", at, 3 if isinstance(at, Sized) and len(at) == 3 else 2)
        if len(given) == 2:
            check_ground(self.terrains, given)
        if track_model is None:
            track_model = track_model_names(self.engine.name)[0]
        find_track_model(track_model, self.engine.name)
        description = vehicle if isinstance(vehicle, VehicleDescription) else load_vehicle(vehicle)
        warn_of_low_shapes(description)
        pose = check_pose((*given, 0.0)[:3], heading_quaternion(yaw))
        angles = check_flippers(description, flippers)
        robot = Robot(self.engine.add_vehicle(description, track_model, *pose, angles), track_model)
        if len(given) == 2:
            robot.reset_base_pose((*given, clearing_height(robot, self.terrains)), pose[1])
        self._robots.append(robot)
        self._snapshots.drop_start()
        return robot

    def place_on_terrain(
        self,
        robot: Robot,
        x: float,
        y: float,
        yaw: float = 0.0,
        *,
        roll: float = 0.0,
        pitch: float = 0.0,
    ) -> None:
        """Place a robot just above the terrain under it, at rest; joints stay as they are.

        Args:
            robot: Robot of this world.
            x: Coordinate of its body frame [m].
            y: Coordinate of its body frame [m].
            yaw: Heading about the world's z axis [rad].
            roll: Roll about its x axis [rad].
            pitch: Elevation of its x axis, nose up positive [rad].

        Raises:
            InvalidValueError: Not a robot of this world, a number that is not finite, or no terrain there
                that has heights to sample.
        """
        if not any(robot is own for own in self.robots):
            got = Phrase(f"{robot.name!r} of another one") if isinstance(robot, Robot) else robot
            raise InvalidValueError("robot", "one that this world has added", got)
        at = finite_vector("position [m]", (x, y), 2)
        check_ground(self.terrains, at)
        if finite("roll [rad]", roll) or finite("pitch [rad]", pitch):
            attitude = roll, pitch, finite("yaw [rad]", yaw)
            height = leaning_height(robot, self.terrains, at[0], at[1], attitude)
            robot.reset_base_pose((*at, height), quaternion_of(attitude_rotation(attitude)))
            return
        orientation = heading_quaternion(yaw)
        robot.reset_base_pose((*at, 0.0), orientation)
        robot.reset_base_pose((*at, clearing_height(robot, self.terrains)), orientation)

    def height(self, x: ArrayLike, y: ArrayLike) -> NDArray[np.float64]:
        """Height of the ground [m] at points (x, y); -inf where there is none.

        Args:
            x: World x [m], any shape.
            y: World y [m], any shape that broadcasts with `x`.

        Raises:
            InvalidValueError: Not numbers of such shapes.
        """
        return height_of(self.terrains, x, y)

    def step(self) -> None:
        """Advance by one time step, see `advance`."""
        self.advance(1)

    def advance(self, steps: int) -> None:
        """Advance by a number of time steps, as fast as possible.

        Raises:
            InvalidValueError: Not a whole number, or a negative one.
            DivergedError: A robot is no longer finite, or absurdly fast.
            DisconnectedError: The world is closed, or the PyBullet client gone.
        """
        self.engine.lifetime.require_open("step the world")
        count = whole("steps", steps, 0)
        if count:
            self._snapshots.hold_start()
        self.engine.advance(count)

    def run(
        self, seconds: float, *, real_time: bool = False, on_step: Callable[[], object] | None = None
    ) -> None:
        """Advance by many steps.

        Args:
            seconds: Simulated duration [s], 0 or more than half a time step; the nearest number of whole
                steps is taken.
            real_time: Keep pace with the wall clock; steps that come too late are counted in `overruns`.
            on_step: Called after each step.

        Raises:
            InvalidValueError: The duration is negative, not finite, or no step; `on_step` is no function, or
                `real_time` neither True nor False.
            DivergedError: A robot is no longer finite, or absurdly fast.
            DisconnectedError: The world is closed, or the PyBullet client gone.
        """
        self.engine.lifetime.require_open("step the world")
        count = whole_steps(seconds, self.engine.time_step)
        if on_step is not None and not callable(on_step):
            raise InvalidValueError("on_step", "a function", on_step)
        pacer = self._pacer if real_time is not False and truth("real_time", real_time) else None
        if count and self._resettable:
            self._snapshots.hold_start()
        self.real_time_factor = take_steps(self.engine, count, pacer, on_step)

    def settle(self, tolerance: float = 1e-3, max_time: float = 10.0) -> SettleResult:
        """Bring all robots to rest, belts held and chains at their pretension, while time stands still.

        Args:
            tolerance: Criterion of rest: no body has an unbalanced force above this fraction of its robot's
                weight, and kinetic energy is at most the fraction squared of the weight lifted by the length.
            max_time: Simulated time after which to give up [s].

        Raises:
            InvalidValueError: There is no robot or no gravity, or a number is not positive.
            DivergedError: A robot is no longer finite, or absurdly fast.
            DisconnectedError: The world is closed, or the PyBullet client gone.
        """
        self.engine.lifetime.require_open("settle the world")
        result = settle_robots(self.engine, self.robots, tolerance, max_time)
        self._snapshots.drop_start()
        return result

    def save(self) -> Snapshot:
        """Save the state, gravity included; `restore` goes back to it, to the bit.

        It is held until `remove_snapshot`.
        """
        return self._snapshots.save()

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a state of this world.

        Raises:
            InvalidValueError: It is removed, of another world, or bodies came or went since.
        """
        self._snapshots.restore(snapshot)

    def remove_snapshot(self, snapshot: Snapshot) -> None:
        """Free what a snapshot holds.

        Raises:
            InvalidValueError: It is removed already, or of another world.
        """
        self._snapshots.remove(snapshot)

    def reset(self) -> None:
        """Go back to the state before the first step since something was added with `add_...`.

        Raises:
            NotReadyError: The world was opened as not resettable.
            DisconnectedError: The world is closed.
        """
        self.engine.lifetime.require_open("reset the world")
        self._snapshots.reset()
