"""Physics client: connection, solver settings, and a client that times its steps."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from inspect import isbuiltin
from numbers import Integral
from typing import Any

import pybullet
from pybullet_utils.bullet_client import BulletClient

from segtrack.errors import (
    DisconnectedError,
    InvalidValueError,
    RemovedError,
    SegtrackError,
    finite,
    known_name,
)
from segtrack.quiet import without_greetings


@dataclass(frozen=True)
class SolverPreset:
    """Settings of Bullet's solver that are part of the physics.

    Attributes:
        time_step: [s]
        iterations: Largest number of iterations over all constraints in a step.
        inner_iterations: Passes over motors and gears in each of them; a geared belt
            transmits no more force than these passes bring across.
        residual: A step ends early once the largest change of a constraint's velocity
            in one iteration, squared, is below this.
    """

    time_step: float
    iterations: int
    inner_iterations: int
    residual: float


PRESETS: dict[str, SolverPreset] = {
    "exact": SolverPreset(0.001, 50, 2, 1e-7),
    "fast": SolverPreset(0.005, 70, 2, 1e-8),
    "coarse": SolverPreset(0.01, 70, 2, 1e-8),
}
"""Presets by name.

All have the outcomes of Table IV (Okada et al. 2020). With one pass of `coarse` the arc in front, geared to
the link on the ground, gets too little of the drive's force to climb 120 mm with flat sub-tracks.
"""


def open_client(gui: bool) -> BulletClient:
    """A client of one's own, with a window or without.

    Raises:
        SegtrackError: There is no display; PyBullet itself would end the process.
    """
    if gui and sys.platform.startswith("linux") and not os.environ.get("DISPLAY"):
        raise SegtrackError("a window needs a display, and the environment variable DISPLAY is not set")
    if gui:  # Says much, also why there is no window before it ends the process.
        return BulletClient(pybullet.GUI)
    with without_greetings():
        return BulletClient(pybullet.DIRECT)


def client_id(client: Any, what: str) -> int:
    """PyBullet's id of a connected client.

    Args:
        client: A `BulletClient`, a client id, or the module `pybullet` (client 0).
        what: Action that is attempted, for the message.

    Raises:
        InvalidValueError: Something else.
        DisconnectedError: It is not connected.
    """
    if isinstance(client, BulletClient):
        number = client._client
    elif client is pybullet:
        number = 0
    elif isinstance(client, Integral) and not isinstance(client, bool):
        number = int(client)
    else:
        raise InvalidValueError("client", "a BulletClient, a client id or the module pybullet", client)
    if not pybullet.isConnected(physicsClientId=number):
        raise DisconnectedError(what)
    return int(number)


class _BoundClient:
    """The module `pybullet`, its functions for one client."""

    def __init__(self, number: int) -> None:
        self._client = number

    def __getattr__(self, name: str) -> Any:
        found = getattr(pybullet, name)
        return partial(found, physicsClientId=self._client) if isbuiltin(found) else found


def bound_client(number: int) -> Any:
    """A client by its id, as a `BulletClient` offers it, but it stays connected."""
    return _BoundClient(number)


@contextmanager
def connection_required(client: int, what: str, body: int) -> Iterator[None]:
    """Turn a PyBullet error into `DisconnectedError` or `RemovedError` if the client or a body is gone.

    Raises:
        DisconnectedError: The client is not connected.
        RemovedError: It has no such body.
    """
    try:
        yield
    except pybullet.error:
        require_body(client, what, body)
        raise


def require_body(client: int, what: str, body: int) -> None:
    """Refuse to go on if the client or a body is gone.

    Raises:
        DisconnectedError: The client is not connected.
        RemovedError: It has no such body.
    """
    client_id(client, what)
    count = pybullet.getNumBodies(physicsClientId=client)
    if body not in (pybullet.getBodyUniqueId(i, physicsClientId=client) for i in range(count)):
        raise RemovedError(what)


def configure(client: Any, preset_name: str = "exact", time_step: float | None = None) -> float:
    """Give a client its solver settings and make its contacts reproducible; see `segtrack.configure`."""
    solver = PRESETS[known_name("solver preset", preset_name, PRESETS)]
    # Friction is solved as a cone: Bullet's pyramid keeps the friction of a contact whose normal
    # force has fallen to zero, which gave a belt on flat ground up to 12 % too much of it.
    step = solver.time_step if time_step is None else finite("time_step [s]", time_step)
    if step <= 0:
        raise InvalidValueError("time_step [s]", "positive", time_step)
    pybullet.setPhysicsEngineParameter(
        fixedTimeStep=step,
        numSolverIterations=solver.iterations,
        numNonContactInnerIterations=solver.inner_iterations,
        solverResidualThreshold=solver.residual,
        enableConeFriction=1,
        deterministicOverlappingPairs=1,
        physicsClientId=client_id(client, "configure the solver"),
    )
    return step


class TimedClient(BulletClient):
    """A client without a window that adds up the time spent in Bullet's `stepSimulation`.

    Attributes:
        engine_time: So far [s].
    """

    engine_time = 0.0

    def __init__(self) -> None:
        """Connect."""
        with without_greetings():
            super().__init__(pybullet.DIRECT)

    def stepSimulation(self) -> None:  # noqa: N802
        """Step, and count the time. The client's own Python stays outside, as in the class it extends."""
        step = self.__getattr__("stepSimulation")
        began = time.perf_counter()
        step()
        self.engine_time += time.perf_counter() - began
