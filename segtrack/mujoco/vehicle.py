"""A vehicle in a MuJoCo model: MuJoCo has its body and joints, and segtrack its belts and servos."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from segtrack.compliant import REPORT, BeltMemory, ContactReport
from segtrack.description import VehicleDescription, vehicle_links
from segtrack.engine import ABSURD_SPEED, ActuatorState, BeltState, Bodies, FrameMotion, JointState
from segtrack.errors import DivergedError, InvalidValueError, NotReadyError, Phrase
from segtrack.geometry import quaternion_of
from segtrack.ground import ROOT, ContactHistory, allocate_equations
from segtrack.kernels import Packed, overwrite
from segtrack.mujoco.binding import bind, body_names
from segtrack.mujoco.host import (
    BEGIN,
    END,
    JUMPED,
    SOLVE,
    Exchange,
    HostedVehicle,
    ModelArrays,
    TouchLoads,
    finish,
    prepare,
)
from segtrack.mujoco.memory_block import in_one_block
from segtrack.mujoco.moving_bodies import MovingBodies, SavedTouches
from segtrack.native import (
    CROWDED,
    DONE,
    NOT_FINITE,
    BeltVehicle,
    SavedBeltVehicle,
    VehicleState,
    changes_at_rest,
)

_PLACE, _TURN = 1e-3, 1e-3
"""Largest difference of a link's place [m] and rotation [rad] in model and vehicle file."""
_TRIED = 0.0, 0.2
"""Positions of all joints at which both are compared [rad or m]."""
_WARNINGS = "mjWARN_BADQPOS", "mjWARN_BADQVEL", "mjWARN_BADQACC"
"""Warnings after which MuJoCo resets its data by itself."""
_SOLUTIONS = 3
"""Times that a step is solved where a body that moves is near."""


@dataclass(frozen=True)
class SavedMujocoVehicle:
    """Everything of a vehicle that changes, but for what MuJoCo has of it.

    Attributes:
        belts: Belts, servos and contacts.
        prepared: Time of the last step [s]; None before the first.
        step: Duration of the last step [s].
        position: Place and orientation of the root when it was taken over last (7,).
        constraint: Forces of MuJoCo's constraints in the last step.
        touches: Memory of its contacts with bodies that move.
    """

    belts: SavedBeltVehicle
    prepared: float | None
    step: float
    position: NDArray[np.float64]
    constraint: NDArray[np.float64]
    touches: SavedTouches


class MujocoVehicle(BeltVehicle):
    """A vehicle whose body and joints MuJoCo moves.

    What it has of the native engine's vehicle are belts, servos and contacts; root and joints in its state
    are taken over from MuJoCo's data before anything is read or commanded.

    Attributes:
        model: MuJoCo's model.
        data: MuJoCo's data.
        binding: Its bodies in the model.
        repeats: True if a step may be prepared several times, as `mj_forward` calls what `mj_step` calls.
    """

    def __init__(
        self,
        description: VehicleDescription,
        track_model: str,
        model: Any,
        data: Any,
        prefix: str = "",
        *,
        repeats: bool = False,
    ) -> None:
        """Find a vehicle in a model, its joints held where they are, its belts at rest.

        Args:
            description: Vehicle of which the model has body and joints.
            track_model: `compliant` or `surface`.
            model: MuJoCo's model.
            data: MuJoCo's data.
            prefix: Text before the names of its bodies.
            repeats: True if a step may be prepared several times.

        Raises:
            UnknownNameError: There is no body of a link's name.
            InvalidValueError: The model contradicts the vehicle file, or has options with which belts would
                be wrong; or a number of its data is not finite.
        """
        self._hosted: Packed | None = None
        self._moving: MovingBodies | None = None
        super().__init__(description, track_model, float(model.opt.timestep), {})
        self.repeats, self._prefix, self._backup = repeats, prefix, np.zeros(0, dtype=np.uint8)
        self._bind(model, data)
        if self.binding.places.free < 0:
            self._take_fixed_place()
        self.catch_up()
        for j, angle in enumerate(self.state.joint_angles[0].tolist()):
            self.state.joint_references[0, j], self.state.joint_commands[0, j] = angle, (0.0, angle)

    def move_to(self, model: Any, data: Any) -> None:
        """Go on in another model, which has the vehicle's bodies by the same names."""
        self.catch_up()
        constraint = self._exchange.constraint.copy()
        self._hosted = None
        self._bind(model, data)
        self._give_back()
        if len(constraint) == len(self._exchange.constraint):
            self._exchange.constraint[:] = constraint

    @property
    def touches(self) -> tuple[int, ...]:
        """Bodies of the model that move and that its belts touch."""
        return self._moving.bodies if self._moving is not None else ()

    def _bind(self, model: Any, data: Any) -> None:
        """Take the places of the vehicle in a model; commands, belts and contacts stay."""
        for what in ("qpos", "qvel"):
            lost = np.flatnonzero(~np.isfinite(getattr(data, what)))
            if len(lost):
                value = float(getattr(data, what)[lost[0]])
                raise InvalidValueError(f"{what}[{lost[0]}] of the MuJoCo data", "a finite number", value)
        links = vehicle_links(self.description)
        self.model, self.data, self._options = model, data, model.opt
        self.binding = bind(self.description, links, model, self._prefix)
        self._take_masses(self.binding.bodies)
        self._prepared: float | None = None
        self._last_step = self._time_step
        self._exchange = self._allocate_exchange()
        bodies, tracks = self.binding.bodies, len(self.belts)
        self._touch = TouchLoads(
            np.zeros(1, dtype=np.intp),
            np.zeros((len(bodies), 6, 6)),
            np.zeros((len(bodies), 6)),
            np.zeros(tracks),
            np.zeros(tracks),
            bodies,
        )
        self._moving = None
        self._host()
        self._check_frames()

    def _take_masses(self, bodies: NDArray[np.intp]) -> None:
        """Take the mass properties of its links from the model."""
        model, tree = self.model, self.tree
        before = tree.centers[0].copy()
        for link, body in enumerate(bodies.tolist()):
            axes = np.zeros(9)
            mujoco.mju_quat2Mat(axes, model.body_iquat[body])
            turn = axes.reshape(3, 3)
            tree.masses[link], tree.centers[link] = model.body_mass[body], model.body_ipos[body]
            tree.inertias[link] = (turn * model.body_inertia[body]) @ turn.T
        self.arrays.reaches[0] += np.linalg.norm(tree.centers[0] - before)

    def _allocate_exchange(self) -> Exchange:
        tracks, count = len(self.belts), len(self.binding.places.unknowns)
        own = ROOT + len(self.tree.joint_parents) + tracks
        unknowns = max([own, *(self.binding.places.unknowns + 1).tolist()])
        self._work = self._work._replace(equations=allocate_equations(unknowns))
        return Exchange(
            pending=np.zeros(1, dtype=np.intp),
            position=np.zeros(7),
            speeds=np.zeros(count),
            columns=np.zeros((tracks, count)),
            masses=np.zeros(tracks),
            free=np.zeros(tracks),
            gains=np.zeros(tracks),
            pulls=np.zeros(tracks),
            constraint=np.zeros(count),
            host_masses=np.zeros((unknowns, unknowns)),
            host_impulses=np.zeros(unknowns),
        )

    def _host(self) -> Packed:
        """Arrays for kernels, those that change in one block of memory, which is copied at once."""
        if self._hosted is not None:
            return self._hosted
        memory, exchange = self._memory, self._exchange
        changing: list[Any] = [*self.state, *memory[:2], *memory.contacts, *exchange[:9]]
        self._block, views = in_one_block(changing)
        states = len(self.state)
        self.state = VehicleState(*views[:states])
        self._view = VehicleState(*(array[0] for array in self.state))
        places, sections, *contacts = views[states:-9]
        self._memory = BeltMemory(places, sections, ContactHistory(*contacts))
        self._exchange = exchange._replace(**dict(zip(Exchange._fields, views[-9:], strict=False)))
        arrays = self.arrays
        massless = arrays.tree._replace(
            masses=np.zeros_like(arrays.tree.masses), inertias=np.zeros_like(arrays.tree.inertias)
        )
        names = ModelArrays._fields
        owners = [self.data if hasattr(self.data, name) else self.model for name in names]
        numbers: dict[str, Any] = {
            name: getattr(owner, name) for name, owner in zip(names, owners, strict=True)
        }
        one_memory = BeltMemory(
            self._memory.places[0],
            self._memory.sections[0],
            ContactHistory(*(array[0] for array in self._memory.contacts)),
        )
        hosted = HostedVehicle(
            arrays._replace(tree=massless),
            self._view,
            one_memory,
            type(self._candidates)(*(array[0] for array in self._candidates)),
            self._work,
            ModelArrays(**numbers),
            self.binding.places,
            self._exchange,
            self._touch,
            np.zeros((0, REPORT)),
            self._outcome[0],
        )
        self._hosted = Packed.of(hosted)
        before = self._moving
        self._moving = MovingBodies(self.model, hosted, self.binding.bodies, self._rows)
        if before is not None and before.bodies == self._moving.bodies:
            self._moving.restore(before.save())
        return self._hosted

    def _make_room(self) -> None:
        super()._make_room()
        self._hosted = None

    def _check_frames(self) -> None:
        """Refuse a model whose bodies are not where the vehicle file has its links."""
        places, bodies = self.binding.places, self.binding.bodies
        scratch, kept = mujoco.MjData(self.model), self._view.copy()
        for position in _TRIED:
            scratch.qpos[places.joint_positions] = self._view.joint_angles[:] = position
            mujoco.mj_kinematics(self.model, scratch)
            self._view.position[:], self._view.orientation[:] = 0.0, (0.0, 0.0, 0.0, 1.0)
            self.place_links()
            turn, origin = scratch.xmat[bodies[0]].reshape(3, 3), scratch.xpos[bodies[0]]
            home = self._work.centers[0] - self.tree.centers[0]
            for link, body in enumerate(bodies.tolist()):
                own = self._work.rotations[link]
                place = self._work.centers[link] - own @ self.tree.centers[link] - home
                found = turn.T @ (scratch.xpos[body] - origin)
                turned = _angle(turn.T @ scratch.xmat[body].reshape(3, 3) @ own.T)
                if np.abs(found - place).max() > _PLACE or turned > _TURN:
                    name = self._prefix + body_names(self.description)[link]
                    where = f"frame of body {name!r} of the MuJoCo model, joints at {position:g}"
                    expected = f"at {_numbers(place)} m in that of the vehicle's body, as in the vehicle file"
                    got = f"{_numbers(found)} m, turned by {np.degrees(turned):.3g} deg"
                    raise InvalidValueError(where, expected, Phrase(got))
        overwrite(self._view, kept)

    def _take_fixed_place(self) -> None:
        """Take the place of a body that is bolted to the world."""
        scratch, root = mujoco.MjData(self.model), int(self.binding.bodies[0])
        mujoco.mj_kinematics(self.model, scratch)
        rotation = scratch.xmat[root].reshape(3, 3)
        self._view.orientation[:] = quaternion_of(rotation)
        self._view.position[:] = scratch.xpos[root] + rotation @ self.tree.centers[0]

    def prepare(self) -> None:
        """Put the belts into MuJoCo's equations of the step that begins; `mj_factorM` is to be called then.

        Raises:
            DivergedError: It is no longer finite, or absurdly fast.
            NotReadyError: MuJoCo has taken steps without its belts.
        """
        time, step, last = self.data.time, self._options.timestep, 0.0
        if self.repeats and time == self._prepared:
            self._go_back()
        else:
            last = self._passed()
            if self.repeats:
                self.catch_up()
                self._keep()
        while True:
            hosted = self._host()
            near = self._moving is not None and self._moving.near
            prepare(hosted, self._grounds, last, step, BEGIN if near else BEGIN | SOLVE | END)
            outcome = self._outcome[0, 0]
            if outcome == DONE:
                if self._moving is not None:
                    if near:
                        self._touch_bodies(self._moving, step)
                    self._moving.look(hosted, self.data, step)
                self._prepared, self._last_step = time, step
                return
            if outcome == CROWDED:
                self._make_room()
                self._keep()
            elif outcome == JUMPED:
                self.forget_contacts()
            else:
                break
        self._prepared, self._last_step = time, step
        fast = f"a part of it is faster than {ABSURD_SPEED:g} m/s"
        reason = "its state is not finite" if outcome == NOT_FINITE else fast
        raise DivergedError(self.description.name, time, f"{reason}: {self._what_diverged()}")

    def _touch_bodies(self, moving: MovingBodies, step: float) -> None:
        """Let the belts touch bodies that move, and put all into MuJoCo's equations."""
        hosted = self._host()
        moving.find_contacts(hosted, self.data, step)
        for n in range(_SOLUTIONS):
            self._feel_nothing()
            moving.cut(hosted, n, step)
            prepare(hosted, self._grounds, 0.0, step, SOLVE)
        prepare(hosted, self._grounds, 0.0, step, END)
        moving.couple(hosted, self.model, self.data, step)
        self._touch.any[:] = 0

    def _feel_nothing(self) -> None:
        """Let no body that moves act on the vehicle."""
        for array in self._touch[:-1]:
            array[...] = 0

    def _keep(self) -> None:
        """Keep what `_go_back` goes back to."""
        if self.repeats:
            self._host()
            if len(self._backup) != len(self._block):
                self._backup = np.empty_like(self._block)
            self._backup[:] = self._block
            if self._moving is not None and self.touches:
                self._touches = self._moving.save()

    def _go_back(self) -> None:
        """Go back to before the step was prepared, commands excepted."""
        kept = [getattr(self.state, name).copy() for name in _COMMANDS]
        self._block[:] = self._backup
        if self._moving is not None and self.touches:
            self._moving.restore(self._touches)
        for name, array in zip(_COMMANDS, kept, strict=True):
            getattr(self.state, name)[:] = array

    def catch_up(self) -> None:
        """Let belts have what MuJoCo's last step gave them, and take over where the vehicle is.

        Raises:
            NotReadyError: MuJoCo has taken steps without its belts.
        """
        finish(self._host(), self._passed())
        if self._outcome[0, 0] == JUMPED:
            self.forget_contacts()

    def _passed(self) -> float:
        """Duration of the step that was prepared last, 0 where it is not over yet [s].

        Raises:
            NotReadyError: MuJoCo has taken steps without its belts.
            DivergedError: MuJoCo has reset its data by itself.
        """
        if self._prepared is None:
            return 0.0
        passed = self.data.time - self._prepared
        if passed > 1.5 * self._last_step:
            reason = (
                f"MuJoCo has gone on by {passed:.4g} s, its belts by one step of {self._last_step:g} s: "
                "something else took the place of the control callback, or before_step() was left out"
            )
            raise NotReadyError(f"go on with {self.description.name}", reason)
        if passed > 0.5 * self._last_step:
            return self._last_step
        if passed != 0.0:
            self._begin_anew()
        return 0.0

    def _begin_anew(self) -> None:
        """Begin anew, commands excepted, as of a vehicle whose data were reset.

        Raises:
            DivergedError: MuJoCo has reset its data by itself.
        """
        if any(self.data.warning[getattr(mujoco.mjtWarning, name)].number for name in _WARNINGS):
            time, self._prepared = self._prepared, None
            raise DivergedError(
                self.description.name, time, "MuJoCo has found its state not finite, and reset it"
            )
        self._prepared, self._exchange.pending[0] = None, 0
        self._exchange.constraint[:] = 0.0
        for name in _AT_REST:
            getattr(self.state, name)[:] = 0.0
        places = self.binding.places
        self.state.joint_references[0] = self.data.qpos[places.joint_positions]
        self.state.last_changes[0] = changes_at_rest(len(places.joint_dofs), len(self.belts))
        self.forget_contacts()

    def forget_contacts(self) -> None:
        """Forget all contacts, as of a vehicle that was put where it is."""
        super().forget_contacts()
        if self._moving is not None:
            self._moving.forget()

    def _give_back(self) -> None:
        """Write root and joints, as they were placed, into MuJoCo's data."""
        state, places, data = self._view, self.binding.places, self.data
        data.qpos[places.joint_positions] = state.joint_angles
        data.qvel[places.joint_dofs] = state.joint_speeds
        motion = super().link_motion(0)
        x, y, z, w = motion.orientation
        if places.free >= 0:
            data.qpos[places.free : places.free + 7] = *motion.position, w, x, y, z
            data.qvel[places.first : places.first + 3] = motion.velocity_at((0.0, 0.0, 0.0))
            data.qvel[places.first + 3 : places.first + 6] = motion.rotation.T @ motion.angular_velocity
        else:
            self._put_fixed()
        self._prepared, self._exchange.pending[0] = None, 0
        finish(self._host(), 0.0)

    def _put_fixed(self) -> None:
        """Put a body that is bolted to the world where the state has it."""
        motion, root = super().link_motion(0), int(self.binding.bodies[0])
        x, y, z, w = motion.orientation
        self.model.body_pos[root], self.model.body_quat[root] = motion.position, (w, x, y, z)

    def _commanded(self, what: str = "command") -> VehicleState:
        """Return its state, what MuJoCo has of it taken over; see `NativeVehicle`."""
        state = super()._commanded(what)
        if self._hosted is None:  # It is being laid out, or has got more room.
            return state
        self.catch_up()
        return state

    def place(self, position: Sequence[float], orientation: Sequence[float]) -> None:
        """Set the body frame's pose in the world, at rest; joints stay as they are."""
        super().place(position, orientation)
        self._give_back()

    def place_joint(self, joint: int, position: float) -> None:
        """Set a joint to a position [rad] or [m] at once, at rest, and hold it there."""
        super().place_joint(joint, position)
        if self._hosted is not None:
            self._give_back()

    def set_velocity(self, forward: float) -> None:
        """Let all its parts move forward along the body's x axis [m/s]."""
        super().set_velocity(forward)
        self._give_back()

    def set_body(self, *_: object, **__: object) -> None:
        """Refuse to change masses, which are MuJoCo's.

        Raises:
            NotReadyError: Always.
        """
        reason = "they are those of the MuJoCo model: change body_mass there, and call mj_setConst"
        raise NotReadyError(f"change masses of {self.description.name}", reason)

    def belt_state(self, track: int) -> BeltState:
        """A belt after the latest step."""
        self.catch_up()
        return super().belt_state(track)

    def joint_state(self, joint: int) -> JointState:
        """A joint after the latest step."""
        self.catch_up()
        return super().joint_state(joint)

    def read_actuators(self) -> ActuatorState:
        """Return the state of all belts, flippers and joints in one reading."""
        self.catch_up()
        return super().read_actuators()

    def link_motion(self, link: int = 0) -> FrameMotion:
        """Return pose and velocity of a link's frame; 0 is the body."""
        self.catch_up()
        return super().link_motion(link)

    body_motion = link_motion

    def link_poses(self) -> NDArray[np.float64]:
        """Frames of the links of `link_names` in the world, see `VehicleModel.link_poses`."""
        self.catch_up()
        return super().link_poses()

    def bodies(self) -> Bodies:
        """All links, belts at rest on them."""
        self.catch_up()
        return super().bodies()

    def bounds(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Smallest and largest corner (3,) of the box around body, belts and grousers, in the world [m]."""
        self.catch_up()
        return super().bounds()

    def read_contacts(self) -> ContactReport:
        """Contacts of its belts with the ground, see `BeltVehicle.read_contacts`."""
        self.catch_up()
        return super().read_contacts()

    def save(self) -> SavedMujocoVehicle:  # type: ignore[override]
        """Return everything that changes, but for what MuJoCo has of it."""
        self.catch_up()
        kept = self._exchange.position.copy(), self._exchange.constraint.copy()
        self._host()
        touches = self._moving.save() if self._moving is not None else SavedTouches((), False)
        return SavedMujocoVehicle(super().save(), self._prepared, self._last_step, *kept, touches)

    def restore(self, saved: SavedMujocoVehicle) -> None:  # type: ignore[override]
        """Go back to a saved state on the same ground; MuJoCo's data are restored before."""
        before = self._memory
        super().restore(saved.belts)
        if self._memory is not before:
            self._hosted = None
        self._prepared, self._last_step = saved.prepared, saved.step
        self._host()
        self._exchange.pending[0] = 0
        self._exchange.position[:], self._exchange.constraint[:] = saved.position, saved.constraint
        if self._moving is not None:
            self._moving.restore(saved.touches)
        if self.binding.places.free < 0:
            self._put_fixed()


_AT_REST = "travels", "speeds", "forces", "energies", "references", "targets", "limits", "holding"
"""What of a vehicle's state is 0 at the start."""
_COMMANDS = "commands", "pedals", "joint_commands", "frictions", "drive_factors", "push"
"""What of a vehicle's state the user sets."""


def _numbers(values: NDArray[np.float64]) -> str:
    return "(" + ", ".join(f"{value:.4g}" for value in values.tolist()) + ")"


def _angle(rotation: NDArray[np.float64]) -> float:
    """Angle of a rotation (3, 3) [rad]."""
    return float(np.arccos(np.clip((np.trace(rotation) - 1) / 2, -1.0, 1.0)))
