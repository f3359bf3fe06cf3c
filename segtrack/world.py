"""A simulated world: it owns the physics client and the clock."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pybullet
from numpy.typing import ArrayLike, NDArray
from pybullet_utils.bullet_client import BulletClient

from segtrack.bullet.engine import PresetName, client_id, configure, open_client
from segtrack.bullet.terrain_builder import build_terrain
from segtrack.description import VehicleDescription
from segtrack.errors import (
    DisconnectedError,
    DivergedError,
    InvalidValueError,
    NotReadyError,
    Phrase,
    SegtrackError,
    finite,
    finite_vector,
)
from segtrack.robot import Rest, Robot, attach, settle
from segtrack.terrain import Terrain

_GUARD_INTERVAL = 0.01
"""How often the simulation is checked for divergence [s]."""
_ABSURD_SPEED = 100.0
"""A body faster than this [m/s] has diverged."""
_LATE = 0.02
"""A paced step that ends this much late [s] is an overrun, and is not caught up."""


@dataclass(frozen=True)
class Snapshot:
    """The state of a world at one time, held by its client."""

    state: int
    steps: int
    robots: tuple[dict[str, Any], ...]
    client: int
    bodies: int


class World:
    """A world of terrain and robots, advanced in steps of fixed length.

    Two worlds that are built and commanded alike are equal to the bit.

    Attributes:
        client: The PyBullet client, for everything that segtrack does not do.
        time_step: [s]
        terrains: What has been added.
        robots: What has been added.
        overruns: Steps of paced runs that came too late.
        real_time_factor: Simulated over elapsed time of the last `run`.
    """

    def __init__(
        self,
        preset: PresetName = "exact",
        *,
        time_step: float | None = None,
        gravity: float = 9.81,
        gui: bool = False,
        client: Any = None,
        resettable: bool = True,
    ) -> None:
        """Open a world.

        Args:
            preset: Solver settings: `exact` (1 ms), `fast` (4 ms) or `coarse` (10 ms).
            time_step: Instead of the preset's [s].
            gravity: Downwards [m/s^2].
            gui: Show PyBullet's window.
            client: A `BulletClient` to join; it gets the solver settings and the gravity, and stays open
                on `close`.
            resettable: Save the state before the first step (some 10 ms), so that `reset` finds it.

        Raises:
            UnknownNameError: No such preset.
            InvalidValueError: A time step that is not positive and finite.
            SegtrackError: There is no display for a window.
        """
        gravity = finite("gravity [m/s^2]", gravity)
        if client is not None and not isinstance(client, BulletClient):
            raise InvalidValueError("client", "a BulletClient", client)
        self._owned = client is None
        self.client: Any = open_client(gui) if client is None else client
        self._number = client_id(self.client, "join a client")
        try:
            self.time_step = configure(self.client, preset, time_step)
        except SegtrackError:
            self.close()
            raise
        self.client.setGravity(0, 0, -gravity)
        self._gravity = gravity
        self._step_engine = self.client.stepSimulation
        self.terrains: list[Terrain] = []
        self.robots: list[Robot] = []
        self.overruns = 0
        self.real_time_factor = 0.0
        self._steps = 0
        self._resettable = resettable
        self._start: Snapshot | None = None
        self._terrain_bodies: list[int] = []
        self._held: set[int] = set()
        self._guard_every = max(1, round(_GUARD_INTERVAL / self.time_step))

    def __enter__(self) -> World:
        """Use as a context manager; leaving it closes the world."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def close(self) -> None:
        """Disconnect the client if it is the world's own; may be called again."""
        if self._owned and pybullet.isConnected(physicsClientId=self._number):
            self.client.disconnect()

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self._steps * self.time_step

    def add_terrain(self, terrain: Terrain) -> list[int]:
        """Build a terrain; returns PyBullet's numbers of its bodies."""
        self._must_be_connected("add terrain")
        if not isinstance(terrain, Terrain):
            raise InvalidValueError("terrain", "one of segtrack.terrain", terrain)
        for robot in self.robots:  # Refused by a link chain, it is not built.
            robot.set_ground([*self.terrains, terrain])
        bodies = build_terrain(self.client, terrain)
        self.terrains.append(terrain)
        self._terrain_bodies += bodies
        self._forget_start()
        return bodies

    def clear_terrain(self) -> None:
        """Take all terrain away again."""
        self._must_be_connected("clear terrain")
        for body in self._terrain_bodies:
            self.client.removeBody(body)
        self.terrains.clear()
        self._terrain_bodies.clear()
        self._tell_ground()

    def add_vehicle(
        self,
        vehicle: str | Path | VehicleDescription,
        *,
        track_model: str = "segments",
        position: Sequence[float] | None = None,
        yaw: float = 0.0,
        flippers: Mapping[str, float] | None = None,
    ) -> Robot:
        """Add a vehicle.

        Args:
            vehicle: Bundled name, path of a vehicle file, or a description.
            track_model: How tracks are built: segments, smooth, wheels:N, plates or chain.
            position: Of the body frame (2,) or (3,) [m]; at the origin if not given. Without a
                height the vehicle is put just above the terrain under it.
            yaw: Heading about the world's z axis [rad].
            flippers: Angles to start at, by name [rad]; 0 if not given.

        Returns:
            The robot.

        Raises:
            UnknownNameError: No such vehicle, track model or flipper.
            VehicleFileError: The vehicle file has mistakes.
            InvalidValueError: A number that is not finite.
        """
        self._must_be_connected("add a vehicle")
        at = position if position is not None else (0.0, 0.0)
        given = finite_vector("position [m]", at, 3 if isinstance(at, Sized) and len(at) == 3 else 2)
        if len(given) == 2:
            self._check_ground(given)
        robot = attach(
            self.client,
            vehicle,
            track_model=track_model,
            terrain=self.terrains,
            position=(*given, 0.0)[:3],
            orientation=pybullet.getQuaternionFromEuler([0, 0, finite("yaw [rad]", yaw)]),
            flippers=flippers,
        )
        if len(given) == 2:
            self.put(robot, given[0], given[1], yaw)
        self.robots.append(robot)
        self._forget_start()
        return robot

    def put(self, robot: Robot, x: float, y: float, yaw: float = 0.0) -> None:
        """Put a robot upright just above the terrain under it, at rest; joints stay as they are.

        Args:
            robot: One of this world's.
            x: Of its body frame [m].
            y: Of its body frame [m].
            yaw: Heading about the world's z axis [rad].

        Raises:
            InvalidValueError: A number that is not finite, or no terrain there that has heights to sample.
        """
        at = finite_vector("position [m]", (x, y), 2)
        self._check_ground(at)
        orientation = pybullet.getQuaternionFromEuler([0, 0, finite("yaw [rad]", yaw)])
        robot.place((*at, 0.0), orientation)
        robot.place((*at, self._resting_height(robot)), orientation)

    def height(self, x: ArrayLike, y: ArrayLike) -> NDArray[np.float64]:
        """Height of the ground [m] at points (x, y) of any shape; -inf where there is none."""
        x, y = np.broadcast_arrays(x, y)
        heights = np.full(x.shape, -np.inf)
        for terrain in self.terrains:
            heights = np.maximum(heights, terrain.height_at(x, y))
        return heights

    def step(self) -> None:
        """Advance by one time step.

        Raises:
            DivergedError: A robot is no longer finite, or absurdly fast.
            DisconnectedError: The client is gone.
        """
        if self._start is None and self._resettable:
            self._must_be_connected("step the world")
            self._start = self.save()
        for robot in self.robots:
            robot.before_step()
        try:
            self._step_engine()
        except pybullet.error:
            raise DisconnectedError("step the world") from None
        self._steps += 1
        if self._steps % self._guard_every == 0:
            self._guard()

    def run(
        self, seconds: float, *, real_time: bool = False, on_step: Callable[[], object] | None = None
    ) -> None:
        """Advance by many steps.

        Args:
            seconds: Simulated duration [s], >= 0.
            real_time: Keep pace with the wall clock; steps that come too late are counted in `overruns`.
            on_step: Called after each step.
        """
        if finite("seconds", seconds) < 0:
            raise InvalidValueError("seconds", "at least 0", seconds)
        count = round(seconds / self.time_step)
        began = deadline = time.perf_counter()
        for _ in range(count):
            self.step()
            if on_step is not None:
                on_step()
            if real_time:
                deadline = self._pace(deadline + self.time_step)
        elapsed = time.perf_counter() - began
        self.real_time_factor = count * self.time_step / elapsed if elapsed > 0 else math.inf

    def settle(self, tolerance: float = 1e-3, longest: float = 10.0) -> Rest:
        """Bring all robots to rest where they stand, by energy drainage; time stands still.

        Args:
            tolerance: At rest no body has an unbalanced force above this share of its robot's weight,
                and kinetic energy is at most the share's square of the weight lifted by the length.
            longest: Time after which to give up [s].

        Returns:
            How it went, and how far from equilibrium it stopped.

        Raises:
            InvalidValueError: There is no robot or no gravity, or a number is not positive.
            DivergedError: A robot is no longer finite, or absurdly fast.
        """
        self._must_be_connected("settle")
        for name, value in (("tolerance", tolerance), ("longest [s]", longest)):
            if finite(name, value) <= 0:
                raise InvalidValueError(name, "greater than 0", value)
        if not self.robots or self._gravity <= 0:
            got = Phrase("no robot" if not self.robots else f"a gravity of {self._gravity:g} m/s^2")
            raise InvalidValueError("world that settles", "one with robots, and gravity downwards", got)

        def step(drainage: float) -> None:
            for robot in self.robots:
                robot.before_step(drainage)
            self._step_engine()
            self._guard()

        rest = settle(self.robots, step, self.time_step, self._gravity, tolerance, longest)
        self._forget_start()
        return rest

    def save(self) -> Snapshot:
        """Remember the state; `restore` goes back to it, to the bit. Held until `forget`.

        PyBullet's saved state lacks the order of contacts between the parts of two links. So that
        what follows now is equal to what follows a `restore`, the world is restored at once.
        """
        self._must_be_connected("save the state")
        robots = tuple(robot.snapshot() for robot in self.robots)
        state = self.client.saveState()
        snapshot = Snapshot(state, self._steps, robots, self._number, self.client.getNumBodies())
        self._held.add(state)
        self.restore(snapshot)
        return snapshot

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a state of this world.

        Raises:
            InvalidValueError: It is forgotten, of another world, or bodies came or went since.
        """
        self._must_be_connected("restore a state")
        self._check_held(snapshot)
        if snapshot.bodies != self.client.getNumBodies() or len(snapshot.robots) != len(self.robots):
            got = Phrase(f"{self.client.getNumBodies()}")
            raise InvalidValueError("world", f"of the {snapshot.bodies} bodies that the snapshot has", got)
        for robot in self.robots:
            robot.forget_contacts()
        self.client.restoreState(snapshot.state)
        self._steps = snapshot.steps
        for robot, state in zip(self.robots, snapshot.robots, strict=True):
            robot.restore(state)

    def forget(self, snapshot: Snapshot) -> None:
        """Free what a snapshot holds."""
        self._must_be_connected("forget a state")
        self._check_held(snapshot)
        self._held.discard(snapshot.state)
        self.client.removeState(snapshot.state)

    def _check_held(self, snapshot: Snapshot) -> None:
        mine = isinstance(snapshot, Snapshot) and snapshot.client == self._number
        if not mine or snapshot.state not in self._held:
            raise InvalidValueError("snapshot", "one that this world saved and has not forgotten", snapshot)

    def reset(self) -> None:
        """Go back to the state before the first step since something was added with `add_...`.

        Raises:
            NotReadyError: The world was opened as not resettable.
        """
        if not self._resettable:
            raise NotReadyError("reset the world", "it was opened with resettable=False")
        if self._start is not None:
            self.restore(self._start)

    def _tell_ground(self) -> None:
        for robot in self.robots:
            robot.set_ground(self.terrains)
        self._forget_start()

    def _forget_start(self) -> None:
        if self._start is not None:
            self.forget(self._start)
            self._start = None

    def _pace(self, deadline: float) -> float:
        late = time.perf_counter() - deadline
        if late < 0:
            time.sleep(-late)
        elif late > _LATE:
            self.overruns += 1
            return deadline + late
        return deadline

    def _guard(self) -> None:
        for robot in self.robots:
            speeds = (*robot.base_velocity, *(track.speed for track in robot.tracks.values()))
            if not all(map(math.isfinite, speeds)):
                raise DivergedError(robot.name, self.time, "its state is not finite")
            fastest = max(map(abs, speeds))
            if fastest >= _ABSURD_SPEED:
                raise DivergedError(robot.name, self.time, f"its speed is {fastest:.3g} m/s")

    def _check_ground(self, point: Sequence[float]) -> None:
        """Refuse to find a height where there is no ground to find."""
        try:
            ground = not self.terrains or bool(np.isfinite(self.height(*point)))
        except InvalidValueError:
            ground = False
        if not ground:
            expected = "given with a height where terrain has none to sample"
            raise InvalidValueError("position [m]", expected, point)

    def _resting_height(self, robot: Robot) -> float:
        """Body height at which a robot just clears the terrain under its bounding box [m]."""
        low, high = robot.bounds()
        x = np.linspace(low[0], high[0], 41)
        y = np.linspace(low[1], high[1], 41)
        ground = float(np.max(self.height(*np.meshgrid(x, y)))) if self.terrains else 0.0
        return ground - low[2]

    def _must_be_connected(self, what: str) -> None:
        client_id(self.client, what)
