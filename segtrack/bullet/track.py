"""One track in PyBullet: its belt, the belt's drive, and how often it was rolled back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from segtrack.bullet.client import connection_required
from segtrack.bullet.frames import link_motion
from segtrack.bullet.loop_guard import LoopGuard
from segtrack.bullet.model import Belt, BeltReading
from segtrack.drive import DriveController
from segtrack.engine import BeltState, FrameMotion, TrackModel

if TYPE_CHECKING:  # Numba takes half a second to import.
    from segtrack.chain.design import TrackDesign
    from segtrack.chain.readings import ChainPose, ChainReading
    from segtrack.compliant.reading import GrouserReading


class BulletTrack(TrackModel):
    """A track of a loaded vehicle.

    Attributes:
        belt: What moves.
        drive: The belt's drive, with its travel and work.
        friction: Of the track against terrain of friction 1 [-].
        home_travel: Belt travel at which the segments are home [m].
        roll_backs: How often the belt has been set back.
    """

    def __init__(self, client: int, belt: Belt, guard: LoopGuard) -> None:
        """Start with the belt at rest."""
        self._client, self.belt, self.mounted = client, belt, belt.track_joints.mounted
        self._body, self._guard = belt.track_joints.body, guard
        self.drive = DriveController(self.mounted.spec.drive)
        self.friction = self.mounted.spec.contact.friction
        self.home_travel = 0.0
        self.roll_backs = 0
        self._set_motor_command()

    @property
    def state(self) -> BeltState:
        """The belt as it was read last, which is before the latest step."""
        self._guard.check()
        drive = self.drive
        return BeltState(drive.travel, drive.speed, drive.force, drive.energy)

    @property
    def command(self) -> float:
        """Commanded belt speed [m/s]."""
        return self.drive.command

    def set_speed(self, speed: float) -> None:
        """Command a belt speed [m/s], which the drive can reach."""
        self._guard.check()
        self.drive.command = speed

    def set_friction(self, friction: float) -> None:
        """Set the track's friction against terrain of friction 1, >= 0."""
        self.belt.set_friction(friction)
        self.friction = friction

    def scale_drive(self, factor: float) -> None:
        """Make the drive `factor` times as strong as described, > 0."""
        self.drive.spec = self.mounted.spec.drive.scaled(factor)

    def parent_motion(self) -> FrameMotion:
        """Pose and velocity of the link that the track is mounted on."""
        joints = self.belt.track_joints
        return link_motion(self._client, joints.body, joints.parent_link)

    @property
    def segment_phases(self) -> list[float]:
        """Phase of each of the belt's segments since home [m]; equal but for what the gears let slip."""
        with connection_required(self._client, f"read track {self.mounted.name}", self._body):
            return self.belt.segment_phases

    @property
    def has_chain(self) -> bool:
        """Whether the belt is a link chain."""
        return self.belt.chain is not None

    @property
    def chain_design(self) -> TrackDesign:
        """What the link chain is made of.

        Raises:
            NotReadyError: Not a link chain.
        """
        return super().chain_design if self.belt.chain is None else self.belt.chain.design

    def read_chain(self) -> ChainReading:
        """Per-shoe tension, contact and slip, after the latest step.

        Raises:
            NotReadyError: Not a link chain.
            DisconnectedError: The client is gone.
        """
        with connection_required(self._client, f"read the chain of {self.mounted.name}", self._body):
            reading = self.belt.read_chain()
        return super().read_chain() if reading is None else reading

    def read_chain_pose(self) -> ChainPose:
        """Where shoes and wheels of the link chain are.

        Raises:
            NotReadyError: Not a link chain.
            DisconnectedError: The client is gone.
        """
        with connection_required(self._client, f"read the chain of {self.mounted.name}", self._body):
            pose = self.belt.read_chain_pose()
        return super().read_chain_pose() if pose is None else pose

    def read_grousers(self) -> GrouserReading:
        """Per-grouser load, slip and sinkage, after the latest step.

        Raises:
            NotReadyError: PyBullet finds the contacts.
            DisconnectedError: The client is gone.
        """
        with connection_required(self._client, f"read the grousers of {self.mounted.name}", self._body):
            reading = self.belt.read_grousers()
        return super().read_grousers() if reading is None else reading

    def reset_to_mount(self) -> None:
        """Reset the belt's own bodies, if it has any, to their mount pose, at rest."""
        self.drive.reference = 0.0
        self.belt.reset_to_mount()

    def record_step(self, reading: BeltReading, step: float) -> None:
        """Record a step, roll the belt back if due, and send changed motor commands.

        Args:
            reading: The belt after the latest step.
            step: Duration of the next step, which counts where the drive has a lag [s].
        """
        self.drive.record_step(self.home_travel + reading.phase, reading.speed, reading.force)
        period = self.belt.period
        if period is not None and abs(reading.phase) > period / 2:
            self.home_travel += reading.phase - self.belt.roll_back(reading.phase)
            self.roll_backs += 1
        if self.drive.update_command(step):
            self._set_motor_command()

    def snapshot(self) -> dict[str, Any]:
        """What PyBullet's saved state does not hold."""
        return {
            "home_travel": self.home_travel,
            "roll_backs": self.roll_backs,
            "drive": self.drive.snapshot(),
            "friction": self.friction,
            "belt": self.belt.snapshot(),
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go back to a snapshot."""
        self.home_travel, self.roll_backs = snapshot["home_travel"], snapshot["roll_backs"]
        self.drive.restore(snapshot["drive"])
        if self.friction != snapshot["friction"]:  # Of many links, each of which must be told.
            self.set_friction(snapshot["friction"])
        self.belt.restore(snapshot["belt"])
        self._set_motor_command()

    def _set_motor_command(self) -> None:
        self.belt.set_motor_command(self.drive.target, self.drive.limit)
