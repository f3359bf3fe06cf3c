"""A vehicle as PyBullet holds it: the fixed spec, made once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.description.track import TrackSpec
from segtrack.description.vehicle import FlipperSpec, MountedTrack, VehicleDescription
from segtrack.errors import NotReadyError
from segtrack.geometry.links import SegmentLink
from segtrack.terrain import Terrain

if TYPE_CHECKING:  # Numba takes half a second to import.
    from segtrack.chain.design import TrackDesign
    from segtrack.chain.readings import ChainReading
    from segtrack.chain.track import TrackChain


@dataclass(frozen=True)
class JointedTrack:
    """A track's joints in a loaded vehicle.

    Attributes:
        mounted: The track as the vehicle file has it.
        body: PyBullet's number of the vehicle.
        carrier: PyBullet's number of the link that the track is mounted on; -1 is the root.
        links: PyBullet's number of every link of the vehicle by name.
        joints: PyBullet's joint (and link) numbers, in the order of the track's links.
        ratios: Joint coordinate per belt travel of each.
    """

    mounted: MountedTrack
    body: int
    carrier: int
    links: Mapping[str, int]
    joints: tuple[int, ...]
    ratios: tuple[float, ...]

    @property
    def spec(self) -> TrackSpec:
        """The track's description."""
        return self.mounted.spec


class BeltReading(NamedTuple):
    """A belt as it was left by the last step; the mean of its motors, where it has several.

    Attributes:
        phase: Travel since home, within half a period unless the belt is never set back [m].
        speed: [m/s]
        force: What the drive exerts along the belt's travel [N].
    """

    phase: float
    speed: float
    force: float


class Shoes(NamedTuple):
    """Bodies of a belt that are no links of PyBullet's.

    Attributes:
        masses: (n,) [kg].
        positions: Of the centres of mass in the world (n, 3) [m].
        velocities: The same (n, 3) [m/s].
        kinetic_energy: Of all of them [J].
    """

    masses: NDArray[np.float64]
    positions: NDArray[np.float64]
    velocities: NDArray[np.float64]
    kinetic_energy: float


class Belt(ABC):
    """One track's belt in a running simulation, whatever it is made of.

    Attributes:
        jointed: Where it sits in the vehicle.
        period: Travel by which the belt is set back [m]; None: never.
        bodies: Further PyBullet bodies that belong to the track.
        chain: Its link chain, if it is one.
    """

    jointed: JointedTrack
    period: float | None = None
    bodies: tuple[int, ...] = ()
    chain: TrackChain | None = None

    @property
    def name(self) -> str:
        """Full name in the vehicle."""
        return self.jointed.mounted.name

    @property
    def spec(self) -> TrackSpec:
        """The track's description."""
        return self.jointed.spec

    @property
    @abstractmethod
    def shoes(self) -> Shoes:
        """Its bodies that are no links of PyBullet's."""

    @property
    @abstractmethod
    def points(self) -> NDArray[np.float64]:
        """Corners in the world of what is no link of PyBullet's (n, 3) [m]."""

    @property
    @abstractmethod
    def segment_phases(self) -> list[float]:
        """Phase of each segment since home [m]; equal but for what the drive's gears let slip."""

    def read_chain(self) -> ChainReading:
        """The link chain, as an engineer looks at it.

        Raises:
            NotReadyError: It is none.
        """
        raise self._no_chain()

    @property
    def chain_design(self) -> TrackDesign:
        """What the link chain is made of.

        Raises:
            NotReadyError: It is none.
        """
        if self.chain is None:
            raise self._no_chain()
        return self.chain.design

    def _no_chain(self) -> NotReadyError:
        return NotReadyError(f"read the chain of {self.name}", "only the track model 'chain' has one")

    @abstractmethod
    def tell(self, speed: float, limit: float) -> None:
        """Give the drive a target speed of the belt [m/s] and a force limit [N]."""

    @abstractmethod
    def roll_back(self, phase: float) -> float:
        """Set the belt back into its period, given its phase [m]; returns its phase after [m]."""

    @abstractmethod
    def seat(self) -> None:
        """Put what is no link of the vehicle where the vehicle is, at rest."""

    @abstractmethod
    def set_friction(self, friction: float) -> None:
        """Let the track have another friction against terrain of friction 1."""

    @abstractmethod
    def snapshot(self) -> Any:
        """What PyBullet's saved state does not hold."""

    @abstractmethod
    def restore(self, snapshot: Any) -> None:
        """Go back to a snapshot."""


class Belts(ABC):
    """All the belts of a vehicle, read and advanced together."""

    @abstractmethod
    def read(self) -> list[BeltReading]:
        """The belts, in the order of the tracks."""

    @abstractmethod
    def advance(self, drainage: float) -> None:
        """Move belts that PyBullet does not move, right before it steps.

        Args:
            drainage: Rate at which their velocities decay besides [1/s].
        """

    @abstractmethod
    def set_ground(self, terrains: Sequence[Terrain]) -> None:
        """Tell belts that PyBullet does not move what ground there is."""


@dataclass(frozen=True)
class TrackModel:
    """One way to build a track.

    Attributes:
        track_links: The links of a track that the vehicle's own multibody carries.
        assemble: Makes the belt of a loaded track, given PyBullet's client number.
        join: Puts the belts of a vehicle together, given PyBullet's numbers of client and body.
        belt_apart: Whether the belt's mass is in bodies of its own and not in the vehicle's.
    """

    track_links: Callable[[TrackSpec], tuple[SegmentLink, ...]]
    assemble: Callable[[int, JointedTrack], Belt]
    join: Callable[[int, int, tuple[Any, ...]], Belts]
    belt_apart: bool = False


@dataclass(frozen=True)
class BuiltFlipper:
    """A flipper's joint in a loaded vehicle."""

    name: str
    spec: FlipperSpec
    joint: int


@dataclass(frozen=True)
class BuiltVehicle:
    """A loaded vehicle.

    Attributes:
        description: What it was made from.
        body: PyBullet's number.
        tracks: The belts of its tracks, in the order of the description.
        belts: The same together.
        flippers: Its flippers, in the order of the description.
        links: Link number by name; the root is -1.
    """

    description: VehicleDescription
    body: int
    tracks: tuple[Belt, ...]
    belts: Belts
    flippers: tuple[BuiltFlipper, ...]
    links: dict[str, int]
