"""Tracks, flippers and joints of a native vehicle; each reads and writes its entry of the arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from segtrack.compliant import GrouserReading
from segtrack.description import FlipperSpec, MountedTrack
from segtrack.description.joints import JointDesign
from segtrack.engine import (
    BeltState,
    FlipperModel,
    FlipperState,
    FrameMotion,
    JointModel,
    JointState,
    Pedals,
    TrackModel,
)

if TYPE_CHECKING:
    from segtrack.chain import ChainPose, ChainReading, TrackDesign
    from segtrack.native.belt_vehicle import BeltVehicle
    from segtrack.native.chain_vehicle import ChainVehicle
    from segtrack.native.vehicle import NativeVehicle


class NativeTrack(TrackModel):
    """One track of a native vehicle."""

    def __init__(self, vehicle: NativeVehicle, index: int, mounted: MountedTrack) -> None:
        """Be the track with an index in a vehicle."""
        self._vehicle, self._index, self.mounted = vehicle, index, mounted

    @property
    def state(self) -> BeltState:
        """The belt after the latest step."""
        state, t = self._vehicle.state, self._index
        return BeltState(
            float(state.travels[0, t]),
            float(state.speeds[0, t]),
            float(state.forces[0, t]),
            float(state.energies[0, t]),
        )

    @property
    def command(self) -> float:
        """Commanded belt speed [m/s]."""
        return float(self._vehicle.state.commands[0, self._index])

    @property
    def pedals(self) -> Pedals | None:
        """Throttle and brake that rule the drive; None where a commanded speed does."""
        rule, throttle, brake = self._vehicle.state.pedals[0, self._index].tolist()
        return Pedals(throttle, brake) if rule == 1.0 else None

    def set_speed(self, speed: float) -> None:
        """Command a belt speed [m/s]."""
        state = self._vehicle.commanded()
        state.commands[self._index], state.pedals[self._index] = speed, 0.0

    def set_pedals(self, pedals: Pedals) -> None:
        """Let throttle and brake rule the drive, until a speed is commanded."""
        self._vehicle.commanded().pedals[self._index] = 1.0, *pedals

    def set_friction(self, friction: float) -> None:
        """Set the track's friction along it; that across keeps its ratio."""
        self._vehicle.commanded().frictions[self._index] = friction

    def scale_drive(self, factor: float) -> None:
        """Make the drive `factor` times as strong as described."""
        self._vehicle.commanded().drive_factors[self._index] = factor

    def parent_motion(self) -> FrameMotion:
        """Pose and velocity of the link that the track is mounted on."""
        return self._vehicle.link_motion(int(self._vehicle.tree.belt_links[self._index]))


class BeltTrack(NativeTrack):
    """A track whose belt is one travel."""

    _vehicle: BeltVehicle

    def read_grousers(self) -> GrouserReading:
        """Contacts with the ground now."""
        return self._vehicle.read_grousers(self._index)


class ChainTrack(NativeTrack):
    """A track whose belt is a link chain."""

    _vehicle: ChainVehicle

    @property
    def has_chain(self) -> bool:
        """True for a link chain."""
        return True

    @property
    def chain_design(self) -> TrackDesign:
        """Design of the link chain."""
        return self._vehicle.chains[self._index].design

    def read_chain(self) -> ChainReading:
        """Per-shoe tension, contact and slip, after the latest step."""
        return self._vehicle.read_chain(self._index)

    def read_chain_pose(self) -> ChainPose:
        """Poses of shoes and wheels of the link chain."""
        return self._vehicle.read_chain_pose(self._index)


class NativeFlipper(FlipperModel):
    """One flipper of a native vehicle."""

    def __init__(self, vehicle: NativeVehicle, index: int, name: str, spec: FlipperSpec) -> None:
        """Be the flipper with an index in a vehicle."""
        self._vehicle, self._index, self.name, self.spec = vehicle, index, name, spec

    @property
    def state(self) -> FlipperState:
        """The flipper after the latest step."""
        state, j = self._vehicle.state, self._index
        return FlipperState(
            float(state.joint_angles[0, j]), float(state.joint_speeds[0, j]), float(state.joint_torques[0, j])
        )

    def set_angle(self, angle: float) -> None:
        """Move to an angle [rad]."""
        self._vehicle.commanded().joint_commands[self._index] = 0.0, angle

    def set_speed(self, speed: float) -> None:
        """Turn at a speed [rad/s]."""
        self._vehicle.commanded().joint_commands[self._index] = 1.0, speed

    def place(self, angle: float) -> None:
        """Set the flipper to an angle [rad] at once, at rest."""
        self._vehicle.place_joint(self._index, angle)


class NativeJoint(JointModel):
    """One joint of the body's URDF of a native vehicle, whose arrays have the flippers first."""

    def __init__(self, vehicle: NativeVehicle, index: int, design: JointDesign) -> None:
        """Be the joint with an index in a vehicle."""
        self._vehicle, self._index, self.design = vehicle, index, design

    @property
    def state(self) -> JointState:
        """The joint after the latest step."""
        state, j = self._vehicle.state, self._index
        return JointState(
            float(state.joint_angles[0, j]), float(state.joint_speeds[0, j]), float(state.joint_torques[0, j])
        )

    def set_position(self, position: float) -> None:
        """Let its servo move it to a position [rad] or [m]."""
        self._vehicle.commanded().joint_commands[self._index] = 0.0, position

    def set_speed(self, speed: float) -> None:
        """Let its servo move it at a speed [rad/s] or [m/s]."""
        self._vehicle.commanded().joint_commands[self._index] = 1.0, speed

    def place(self, position: float) -> None:
        """Set the joint to a position [rad] or [m] at once, at rest, with those that follow it."""
        self._vehicle.place_joint(self._index, position)
