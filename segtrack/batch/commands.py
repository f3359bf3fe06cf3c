"""Commands to the vehicles of a batch: numbers for all of them, or one for each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segtrack.batch.arguments import chosen_vehicles, dimensions, numbers
from segtrack.batch.bodies import check_bodies, weigh_bodies
from segtrack.batch.fleet import Fleet
from segtrack.batch.fleet_arrays import RUNNING, STATUSES
from segtrack.description import SteeringByLoads, TrackOffsets, VehicleDescription
from segtrack.errors import DisconnectedError, InvalidValueError, UnknownNameError
from segtrack.native import VehicleState, what_diverged_natively
from segtrack.robot import CommandClipper, check_commanded


class BatchCommands:
    """Commands and properties of N vehicles.

    Attributes:
        vehicle: Description of the vehicles, or of their first variant.
        track_names: Full names of the T tracks, in the order of arrays (N, T).
        flipper_names: Names of the flippers, in the order of arrays (N, F).
        joint_names: Names of the joints of the body's URDF that move, likewise.
    """

    __slots__ = (
        "_clipper",
        "_fleet",
        "_is_open",
        "_offsets",
        "_sides",
        "_steering",
        "flipper_names",
        "joint_names",
        "track_names",
        "vehicle",
    )

    def __init__(self, fleet: Fleet) -> None:
        """Command a fleet."""
        self._fleet, self._is_open = fleet, True
        self.vehicle: VehicleDescription = fleet.kinds[0].description
        self._clipper = CommandClipper(self.vehicle.name)
        tracks = tuple(self.vehicle.mounted_tracks())
        self.track_names = tuple(track.name for track in tracks)
        self.flipper_names = tuple(self.vehicle.flippers)
        self.joint_names = tuple(joint.name for joint in self.vehicle.joint_tree.joints)
        kinds = [kind.description for kind in fleet.kinds]
        offsets = [(v.side_offset("left"), v.side_offset("right")) for v in kinds]
        self._offsets = np.nan_to_num(np.array(offsets, dtype=float))  # Without tracks on a side.
        self._steering = [SteeringByLoads(kind) for kind in kinds]
        self._sides = np.array([("left", "center", "right").index(track.side) for track in tracks])

    def _must_be_open(self, what: str) -> None:
        """Refuse an action, in words, in a batch that is closed.

        Raises:
            DisconnectedError: It is.
        """
        if not self._is_open:
            raise DisconnectedError(what, "it is closed")

    def __len__(self) -> int:
        """Number of vehicles."""
        return len(self._fleet)

    @property
    def device_arrays(self) -> VehicleState:
        """State and commands where steps change them: NumPy's arrays on cores, on a GPU arrays of its own.

        These have `__cuda_array_interface__`, by which torch, CuPy and others share them without a copy. They
        stay the batch's own. What is written there holds from the next step on, whatever else is read, set or
        reset meanwhile; where vehicles are moved so, write 0 to their `slack`, too.
        """
        return self._fleet.device_arrays

    @property
    def terrain_index(self) -> NDArray[np.intp]:
        """Index of the ground that each vehicle is on (N,)."""
        return self._fleet.terrain_of.copy()

    @property
    def variant(self) -> NDArray[np.intp]:
        """Index of the variant that each vehicle is of (N,)."""
        return self._fleet.kind_of.copy()

    @property
    def running(self) -> NDArray[np.bool_]:
        """True for vehicles that take part in steps (N,)."""
        return np.asarray(self._fleet.status == RUNNING)

    @property
    def status(self) -> list[str]:
        """`running`, `crowded` or `diverged`, for each vehicle; those that stopped wait for a reset."""
        return [STATUSES[status] for status in self._fleet.status.tolist()]

    @property
    def reasons(self) -> list[str]:
        """Reasons why vehicles stopped: which part diverged, where, likely why; empty for those that run."""
        fleet, joints = self._fleet, (*self.flipper_names, *self.joint_names)

        def reason(i: int, status: str) -> str:
            if status == "diverged":
                state = VehicleState(*(array[i] for array in fleet.state))
                reach = float(fleet.own.reaches[i, 0])
                return what_diverged_natively(state, joints, self.track_names, reach)
            return "more is near one part of it than a batch lists" if status == "crowded" else ""

        return [reason(i, status) for i, status in enumerate(self.status)]

    def set_belt_speed(self, left: ArrayLike, right: ArrayLike) -> None:
        """Command the belts of each side, flippers' included; a belt in the middle gets the mean.

        Faster commands than a drive's top speed are clipped to it.

        Args:
            left: Speeds () or (N,) [m/s].
            right: Likewise.

        Raises:
            InvalidValueError: Another shape, or a command that is not finite.
        """
        self.set_track_speeds(self._by_side("belt speed [m/s]", left, right))

    def set_track_speeds(self, speeds: ArrayLike) -> None:
        """Command each belt (T,) or (N, T) [m/s]; clipped to the drives' top speeds.

        Raises:
            InvalidValueError: Another shape, or a command that is not finite.
        """
        self._must_be_open("command the batch")
        top = self._fleet.limits.belt_speeds
        given = numbers("belt speeds [m/s]", speeds, len(self), (len(self.track_names),))
        self._fleet.write(
            slice(None), commands=self._clipper.clip_all("belt speeds [m/s]", given, -top, top), pedals=0.0
        )

    def set_throttle(
        self, left: ArrayLike, right: ArrayLike, *, left_brake: ArrayLike = 0.0, right_brake: ArrayLike = 0.0
    ) -> None:
        """Let throttles and brakes of each side rule the belts, until speeds are commanded.

        Args:
            left: Throttles () or (N,), clipped to [-1, 1]; see `Robot.set_throttle`.
            right: Likewise.
            left_brake: Brakes () or (N,), in [0, 1], clipped to 1.
            right_brake: Likewise.

        Raises:
            InvalidValueError: Another shape, a number that is not finite, or a negative brake.
        """
        self._must_be_open("command the batch")
        throttles, brakes = (
            self._by_side("throttle", left, right),
            self._by_side("brake", left_brake, right_brake),
        )
        if (brakes < 0).any():
            i, t = (int(each[0]) for each in np.nonzero(brakes < 0))
            raise InvalidValueError(f"brake of vehicle {i}", "at least 0", float(brakes[i, t]))
        within = (
            self._clipper.clip_all("throttle", throttles, -1.0, 1.0),
            self._clipper.clip_all("brake", brakes, 0.0, 1.0),
        )
        pedals = np.stack([np.ones_like(throttles), *within], axis=2)
        self._fleet.write(slice(None), pedals=pedals)

    def drive(self, linear: ArrayLike, angular: ArrayLike) -> None:
        """Command twists by belt speeds, see `Robot.drive`.

        Args:
            linear: Forward () or (N,) [m/s].
            angular: About the bodies' z axes, left positive () or (N,) [rad/s].

        Raises:
            InvalidValueError: Another shape, or a command that is not finite.
        """
        turning = numbers("angular speed [rad/s]", angular, len(self))
        forward = numbers("linear speed [m/s]", linear, len(self))
        offsets: Any = TrackOffsets(*self._offsets[self._fleet.kind_of].T)
        self.set_belt_speed(*offsets.belt_speeds(forward, turning / self._efficiencies(turning != 0)))

    def _efficiencies(self, chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Steering efficiencies (N,) [-]; 1 of those that are not chosen."""
        found, names = np.ones(len(self)), self.flipper_names
        angles = self._fleet.state.joint_angles[:, : len(names)]
        for i in np.flatnonzero(chosen).tolist():
            flippers = dict(zip(names, angles[i].tolist(), strict=True))
            found[i] = self._steering[self._fleet.kind_of[i]].efficiency(flippers)
        return found

    def set_flippers(self, **angles: ArrayLike) -> None:
        """Move flippers to angles () or (N,) [rad], by name; tips raised positive, clipped to their limits.

        Raises:
            UnknownNameError: There is no such flipper.
            InvalidValueError: Another shape, or an angle that is not finite.
        """
        named = self._by_name("flipper", self.flipper_names, "angle of flipper {} [rad]", angles)
        self._command(0.0, named)

    def set_flipper_speeds(self, **speeds: ArrayLike) -> None:
        """Turn flippers at speeds () or (N,) [rad/s], by name; raising positive, clipped to their fastest.

        Raises:
            UnknownNameError: There is no such flipper.
            InvalidValueError: Another shape, or a speed that is not finite.
        """
        named = self._by_name("flipper", self.flipper_names, "speed of flipper {} [rad/s]", speeds)
        self._command(1.0, named)

    def set_joints(self, **positions: ArrayLike) -> None:
        """Let servos move joints of the body's URDF to positions () or (N,) [rad or m], by name.

        Positions are clipped to the joints' limits.

        Raises:
            UnknownNameError: There is no such joint.
            NotReadyError: It has no servo, or follows another joint.
            InvalidValueError: Another shape, or a position that is not finite.
        """
        named = self._by_name("joint", self.joint_names, "position of joint {}", positions)
        self._command(0.0, named)

    def set_joint_speeds(self, **speeds: ArrayLike) -> None:
        """Let servos move joints of the body's URDF at speeds () or (N,) [rad/s or m/s], by name.

        Raises:
            UnknownNameError: There is no such joint.
            InvalidValueError: Another shape, or a speed that is not finite.
        """
        named = self._by_name("joint", self.joint_names, "speed of joint {}", speeds)
        self._command(1.0, named)

    def apply_force(self, force: ArrayLike, point: ArrayLike) -> None:
        """Apply a force to each body in each step from now on, until it is set again or the vehicle reset.

        Args:
            force: Forces in the world (3,) or (N, 3) [N]; zero ends it.
            point: Points of action, fixed in the world, likewise [m].

        Raises:
            InvalidValueError: Another shape, or a number that is not finite.
        """
        self._must_be_open("push the batch")
        pushed = numbers("force [N]", force, len(self), (3,)), numbers("point [m]", point, len(self), (3,))
        self._fleet.write(slice(None), push=np.stack(pushed, axis=1))

    def set_friction(self, friction: ArrayLike, vehicles: ArrayLike | None = None) -> None:
        """Set the friction of tracks, instead of their description's.

        Args:
            friction: For all tracks of a vehicle: () or (n,); or for each: (n, T) [-].
            vehicles: Mask (N,) or indices (n,) of those that are changed; all if not given.

        Raises:
            InvalidValueError: Another shape, negative or not finite.
        """
        self._must_be_open("change the batch")
        chosen = self._chosen(vehicles)
        self._fleet.write(chosen, frictions=self._each_track("friction", friction, chosen, 0.0))

    def scale_drives(self, factor: ArrayLike, vehicles: ArrayLike | None = None) -> None:
        """Make drives so many times as strong as their description says.

        Args:
            factor: For all tracks of a vehicle: () or (n,); or for each: (n, T) [-].
            vehicles: Mask (N,) or indices (n,) of those that are changed; all if not given.

        Raises:
            InvalidValueError: Another shape, not positive or not finite.
        """
        self._must_be_open("change the batch")
        chosen, lowest = self._chosen(vehicles), float(np.nextafter(0.0, 1.0))
        factors = self._each_track("drive force factor", factor, chosen, lowest)
        self._fleet.write(chosen, drive_factors=factors)

    def set_body(
        self,
        vehicles: ArrayLike | None = None,
        *,
        mass: ArrayLike | None = None,
        center_of_mass: ArrayLike | None = None,
        inertia: ArrayLike | None = None,
    ) -> None:
        """Let bodies weigh and balance otherwise; what is not given is as in the vehicle file.

        Contacts keep the stiffness that follows from the file.

        Args:
            vehicles: Mask (N,) or indices (n,) of those that are changed; all if not given.
            mass: Masses of the bodies without belts and flippers () or (n,) [kg].
            center_of_mass: Centres of mass without belts and flippers, in the body frames (3,) or (n, 3) [m].
            inertia: About these centres, in the body frames' axes (3, 3) or (n, 3, 3) [kg m^2]; if not
                given, in proportion to the mass.

        Raises:
            InvalidValueError: Another shape, a number that is not finite, a mass that does not outweigh what
                the drives reflect, or an inertia that no body has.
        """
        self._must_be_open("change the batch")
        chosen = self._chosen(vehicles)
        count = len(chosen)
        masses = None if mass is None else numbers("mass [kg]", mass, count)
        centers = None
        if center_of_mass is not None:
            centers = numbers("center_of_mass [m]", center_of_mass, count, (3,))
        tensors = None if inertia is None else numbers("inertia [kg m^2]", inertia, count, (3, 3))
        check_bodies(self._fleet, chosen, masses, tensors)
        weigh_bodies(self._fleet, chosen, masses, centers, tensors)

    def _chosen(self, vehicles: ArrayLike | None) -> NDArray[np.intp]:
        return chosen_vehicles(vehicles, len(self))

    def _each_track(
        self, what: str, given: ArrayLike, chosen: NDArray[np.intp], lowest: float
    ) -> NDArray[np.float64]:
        tracks = len(self.track_names)
        if dimensions(given) < 2:
            values = numbers(what, given, len(chosen))[:, None].repeat(tracks, axis=1)
        else:
            values = numbers(what, given, len(chosen), (tracks,))
        if (values < lowest).any():
            i = int(np.argmin(values.min(axis=1)))
            expected = "at least 0" if lowest == 0.0 else "greater than 0"
            raise InvalidValueError(f"{what} of vehicle {chosen[i]}", expected, float(values[i].min()))
        return values

    def _by_side(self, what: str, left: ArrayLike, right: ArrayLike) -> NDArray[np.float64]:
        """Values of the tracks (N, T) from those of the sides."""
        sides = [numbers(f"{side} {what}", v, len(self)) for side, v in (("left", left), ("right", right))]
        return np.stack([sides[0], (sides[0] + sides[1]) / 2, sides[1]], axis=1)[:, self._sides]

    def _by_name(
        self, kind: str, names: tuple[str, ...], what: str, given: dict[str, ArrayLike]
    ) -> list[tuple[str, int, NDArray[np.float64]]]:
        """Quantity, index among joints and values (N,) of each that is named, all of them checked."""
        for name in given:
            if name not in names:
                raise UnknownNameError(f"{kind} of {self.vehicle.name}", name, names)
            if kind == "joint":
                check_commanded(self.vehicle.joint_tree.joints[names.index(name)])
        first = 0 if kind == "flipper" else len(self.flipper_names)
        words = {name: what.format(name) for name in given}
        return [(words[n], first + names.index(n), numbers(words[n], v, len(self))) for n, v in given.items()]

    def _command(self, as_speed: float, values: list[tuple[str, int, NDArray[np.float64]]]) -> None:
        """Command joints by their number: positions, or speeds, within their limits."""
        self._must_be_open("command the batch")
        limits = self._fleet.limits
        with self._fleet.changing():
            for what, joint, given in values:
                speed = limits.speeds[:, joint]
                low, high = (-speed, speed) if as_speed else limits.positions[:, joint].T
                within = self._clipper.clip_all(what, given, low, high)
                self._fleet.write((slice(None), joint), joint_commands=np.c_[0.0 * within + as_speed, within])
