"""Vehicle in a running simulation: commands in, state out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segtrack.description import Frame
from segtrack.engine import ActuatorState, BeltContacts, BeltState, Bodies, FrameMotion, VehicleModel
from segtrack.errors import InvalidValueError, finite, known_name
from segtrack.robot.commands import Model, RobotCommands
from segtrack.robot.parts import NamedParts
from segtrack.robot.state import RobotState, attitude_of
from segtrack.robot.track import check_pose
from segtrack.terrain import Terrain, terrains_of


@dataclass(frozen=True, eq=False)
class BeltSnapshot:
    """Belts, commands and work of a robot, which PyBullet's own saved state lacks; see `Robot.save`.

    Attributes:
        model: The vehicle in its engine.
        state: Its part of the state.
    """

    model: VehicleModel
    state: Any


class Robot(RobotCommands[Model]):
    """A vehicle that has been added to a simulation.

    Attributes:
        model: The vehicle in its engine.
        track_model: Name of its track model.
    """

    __slots__ = ()

    @property
    def mass(self) -> float:
        """Mass of all its bodies [kg]."""
        return self.model.mass

    @property
    def state(self) -> RobotState:
        """Pose and velocity of its body, now."""
        body = self.model.body_motion()
        x, y, z = body.position.tolist()
        vx, vy, vz = body.velocity.tolist()
        wx, wy, wz = body.angular_velocity.tolist()
        attitude = attitude_of(body.rotation)
        return RobotState((x, y, z), body.orientation, (vx, vy, vz), (wx, wy, wz), *attitude)

    @property
    def energy(self) -> float:
        """Work that all belt drives have done [J]."""
        return sum(state.energy for state in self.read_tracks().values())

    @property
    def body_id(self) -> int:
        """PyBullet's unique id of its own body.

        Raises:
            NotReadyError: Its engine is not PyBullet.
        """
        return self.model.pybullet_body[0]

    @property
    def links(self) -> NamedParts[int]:
        """PyBullet's link index by link name; the root is -1.

        Raises:
            NotReadyError: Its engine is not PyBullet.
        """
        return NamedParts(f"link of {self.name}", self.model.pybullet_body[1])

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names of its links: the body's, then the flippers."""
        return self.model.link_names

    def read_tracks(self) -> dict[str, BeltState]:
        """Return the state of every belt by the track's full name: one reading of all of them."""
        return {name: track.state for name, track in self.tracks.items()}

    def read_belt_contacts(self) -> list[BeltContacts]:
        """Read contacts of belts that PyBullet collides, as the latest step left them.

        Returns:
            Contacts of each part of a belt that touches something.

        Raises:
            NotReadyError: Its engine is not PyBullet.
            InvalidValueError: Something else than a track touches.
            DisconnectedError: The client is gone.
        """
        return self.model.read_belt_contacts()

    def body_motion(self) -> FrameMotion:
        """Return pose and velocity of the body frame."""
        return self.model.body_motion()

    def bodies(self) -> Bodies:
        """Return masses, positions and velocities of all its rigid bodies."""
        return self.model.bodies()

    def link_frame(self, name: str) -> Frame:
        """Return the frame of one of `link_names` in the world.

        Raises:
            UnknownNameError: There is no such link.
        """
        return self.model.link_frame(known_name(f"link of {self.name}", name, self.link_names))

    def link_poses(self) -> NDArray[np.float64]:
        """Return frames of `link_names` in the world: origin [m], quaternion (x, y, z, w), (n, 7)."""
        return self.model.link_poses()

    def update_terrain(self, terrains: Terrain | Sequence[Terrain]) -> None:
        """Let belts that find their contacts themselves stand on other terrains; for somebody else's loop.

        Raises:
            InvalidValueError: Not terrains.
            NotReadyError: Its engine is not PyBullet.
        """
        self.model.update_terrain(terrains_of(terrains))

    def read_actuators(self) -> ActuatorState:
        """Return the state of all belts, flippers and joints in one reading, in the description's order."""
        return self.model.read_actuators()

    def bounds(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Smallest and largest corner (3,) of the box around all its bodies, in the world [m]."""
        return self.model.bounds()

    def reset_base_pose(
        self, position: Sequence[float], orientation: Sequence[float] = (0.0, 0.0, 0.0, 1.0)
    ) -> None:
        """Set the body frame's pose in the world, at rest; joints stay as they are.

        Args:
            position: (3,) [m].
            orientation: Quaternion (x, y, z, w).

        Raises:
            InvalidValueError: Not so many finite numbers, or a quaternion of zeros.
        """
        self.model.place(*check_pose(position, orientation))

    def set_velocity(self, forward: float) -> None:
        """Let it move forward along its body's x axis [m/s], as if it had driven so for a while.

        Poses stay as they are; belts, wheels and shoes run so that nothing slips on flat ground, and flippers
        and other joints stand still. Its belts are commanded to keep the speed, within what drives reach.

        Raises:
            InvalidValueError: Not a finite number, or its body is fixed to the world.
        """
        speed = finite("forward velocity [m/s]", forward)
        if self.description.body.fixed:
            raise InvalidValueError(f"forward velocity of {self.name} [m/s]", "0, as it is fixed", forward)
        self.model.set_velocity(speed)
        self.set_belt_speed(speed, speed)

    def before_step(self) -> None:
        """Prepare for the next step of somebody else's loop; to be called before each, see `segtrack.attach`.

        Raises:
            DivergedError: The robot is no longer finite, or absurdly fast.
            DisconnectedError: The client is gone.
            RemovedError: Its bodies are gone, by `resetSimulation` or `removeBody`.
            NotReadyError: The engine has no loop but its own; or the robot moves, and no step has been taken
                since the last call.
        """
        self.model.before_step()

    def save(self) -> BeltSnapshot:
        """Save what PyBullet's `saveState` lacks, to be called beside it in somebody else's loop.

        A world saves everything by itself, see `World.save`.

        Raises:
            NotReadyError: Its engine is not PyBullet.
            RemovedError: Its bodies are gone.
            DisconnectedError: The client is gone.
        """
        return BeltSnapshot(self.model, self.model.snapshot())

    def restore(self, snapshot: BeltSnapshot) -> None:
        """Go back to what `save` gave, to be called after PyBullet's `restoreState`.

        Raises:
            InvalidValueError: Not one that this robot saved.
            RemovedError: Its bodies are gone.
            DisconnectedError: The client is gone.
        """
        if not isinstance(snapshot, BeltSnapshot) or snapshot.model is not self.model:
            raise InvalidValueError("snapshot", "one that this robot saved", snapshot)
        self.model.restore(snapshot.state)
