"""Bodies that move, and that the belts of a vehicle touch: found in a model, and kept beside the vehicle."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from segtrack.compliant import BeltMemory, Room, allocate_belt_memory, allocate_candidates, forget_all
from segtrack.errors import InvalidValueError, Phrase
from segtrack.ground import MAX_SOLIDS_PER_POINT, ContactHistory, allocate_contacts, pack_ground
from segtrack.kernels import Packed
from segtrack.mujoco.host import HostedVehicle
from segtrack.mujoco.memory_block import in_one_block
from segtrack.mujoco.touching import SolverRows, TouchedBody, couple, cut, find_near, touch
from segtrack.native import allocate_tree_work
from segtrack.terrain import from_moving_body

_ISLANDS = int(mujoco.mjtDisableBit.mjDSBL_ISLAND)
_FREE = int(mujoco.mjtJoint.mjJNT_FREE)
_BORNE = 0.1
"""Time after which a body that nothing but belts touches counts as borne by them [s]."""
_JOIN = "~"
"""Between the names of a link and of a body, in the name of their equality."""


def add_touches(spec: Any, links: Sequence[str], bodies: Sequence[str]) -> None:
    """Add to an MjSpec what lets belts on links touch bodies: inactive welds, whose rows belts overwrite."""
    for link in links:
        for body in bodies:
            spec.add_equality(
                name=f"{link}{_JOIN}{body}",
                type=mujoco.mjtEq.mjEQ_WELD,
                objtype=mujoco.mjtObj.mjOBJ_BODY,
                name1=link,
                name2=body,
                active=False,
            )
    if bodies:
        # MuJoCo copies rows for islands before a callback can change them.
        spec.option.disableflags |= _ISLANDS


def find_touched(model: Any, links: NDArray[np.intp]) -> dict[int, NDArray[np.intp]]:
    """Bodies that `add_touches` lets belts touch, and the equality of each link with them, or -1 (L,)."""
    found: dict[int, NDArray[np.intp]] = {}
    names = [model.body(body).name for body in links.tolist()]
    for equality in range(model.neq):
        name, body = model.equality(equality).name, int(model.eq_obj2id[equality])
        link = int(model.eq_obj1id[equality])
        if link not in links or model.eq_type[equality] != mujoco.mjtEq.mjEQ_WELD:
            continue
        at = links.tolist().index(link)
        if name == f"{names[at]}{_JOIN}{model.body(body).name}":
            found.setdefault(body, np.full(len(links), -1, dtype=np.intp))[at] = equality
    return found


def check_islands(options: Any) -> None:
    """Refuse islands in a model in which belts touch bodies that move.

    Raises:
        InvalidValueError: Islands are enabled.
    """
    if not options.disableflags & _ISLANDS:
        got = Phrase("enabled: MuJoCo copies its rows before belts that touch moving bodies change them")
        raise InvalidValueError("flag island of the MuJoCo model", "disabled", got)


_ROWS = (
    "efc_type",
    "efc_id",
    "efc_J",
    "efc_J_rowadr",
    "efc_J_rownnz",
    "efc_J_colind",
    "efc_D",
    "efc_R",
    "efc_aref",
)
"""What MuJoCo calls the fields of `SolverRows`."""


class SavedTouches(NamedTuple):
    """Memory of the contacts with bodies that move: a block of each, and whether any is near."""

    blocks: tuple[NDArray[np.uint8], ...]
    near: bool


class MovingBodies:
    """Bodies that move, and that the belts of a vehicle touch.

    Attributes:
        bodies: Their ids in the model.
    """

    def __init__(self, model: Any, hosted: HostedVehicle, links: NDArray[np.intp], rows: int) -> None:
        """Find them in a model; nothing is near yet.

        Args:
            model: MuJoCo's model.
            hosted: The vehicle.
            links: Bodies of its links (L,).
            rows: Most points and edges of its belts and hull that may be in contact.

        Raises:
            InvalidValueError: A geom of such a body cannot be described.
        """
        found = find_touched(model, links)
        self.bodies = tuple(found)
        self._blocks: list[NDArray[np.uint8]] = []
        self._memories: list[BeltMemory] = []
        self._grounds: list[Packed] = []
        touched: list[Packed] = []
        for body, equalities in found.items():
            touched.append(self._lay_out(model, hosted, body, equalities, rows))
        self._touched, self._joined = touched, Packed.joined(touched) if touched else None
        self._near = False
        self._alone = dict.fromkeys(found, 0.0)

    def _lay_out(
        self, model: Any, hosted: HostedVehicle, body: int, equalities: NDArray[np.intp], rows: int
    ) -> Packed:
        ground = pack_ground(from_moving_body(model, body))
        arrays, links = hosted.arrays, len(equalities)
        sections, points = int(arrays.belts.section_starts[-1]), arrays.belts.points.shape[1]
        memory = allocate_belt_memory(sections, points, sections)
        changing: list[Any] = [*memory[:2], *memory.contacts, np.zeros_like(hosted.state.slack)]
        changing += [np.zeros((links, 12)), np.zeros((links, 6)), np.zeros(1, dtype=np.intp)]
        block, (places, taken, *contacts, slack, before, drift, known) = in_one_block(changing)
        memory = BeltMemory(places, taken, ContactHistory(*contacts))
        forget_all(memory)
        lanes = rows * MAX_SOLIDS_PER_POINT
        room = Room(sections, max(len(ground.bounds), 1), max(len(ground.edges), 1), lanes)
        tracks, segments = len(arrays.belts.perimeters), len(arrays.belts.segments)
        candidates = allocate_candidates(1, room, 0, tracks, segments)
        corners = ground.bounds.reshape(-1, 2, 3)
        self._blocks.append(block)
        self._memories.append(memory)
        self._grounds.append(Packed.of(ground))
        return Packed.of(
            TouchedBody(
                body=np.array([body], dtype=np.intp),
                equalities=equalities,
                box=np.array([corners[:, 0].min(axis=0), corners[:, 1].max(axis=0)]),
                work=allocate_tree_work(arrays.tree, lanes)._replace(contacts=allocate_contacts(lanes)),
                state=hosted.state._replace(slack=slack),
                memory=memory,
                candidates=type(candidates)(*(array[0] for array in candidates)),
                before=before,
                drift=drift,
                known=known,
                coupled=np.zeros(1, dtype=np.intp),
                matrices=np.zeros((3, 6, max(6, model.nv))),
            )
        )

    def look(self, hosted: Packed, data: Any, step: float) -> None:
        """See which of them are near: MuJoCo has rows for these from the next step on."""
        if self._joined is not None:
            self._near = find_near(hosted, self._joined, len(self.bodies), data.eq_active, step)

    @property
    def near(self) -> bool:
        """True if any is near."""
        return self._near

    def find_contacts(self, hosted: Packed, data: Any, step: float) -> None:
        """Find the contacts with those that have rows, advanced to now."""
        for touched, ground in zip(self._touched, self._grounds, strict=True):
            touch(hosted, touched, ground, data.efc_type, data.efc_id, step)

    def cut(self, hosted: Packed, passed: int, step: float) -> None:
        """Cut these contacts for the changes of a solution; see `touching.cut`."""
        for touched in self._touched:
            cut(hosted, touched, passed, step)

    def couple(self, hosted: Packed, model: Any, data: Any, step: float) -> None:
        """Let MuJoCo have these contacts."""
        rows = Packed.of(SolverRows(*(getattr(data, name).reshape(-1) for name in _ROWS)))
        sparse = bool(mujoco.mj_isSparse(model))
        for touched in self._touched:
            couple(hosted, touched, rows, sparse, step)
        self._look_what_bears(model, data, step)

    def _look_what_bears(self, model: Any, data: Any, step: float) -> None:
        """Warn, once of each, of loose bodies that belts alone bear: their contacts chatter."""
        borne_by_others = set(model.geom_bodyid[data.contact.geom].ravel().tolist())
        for body, touched in zip(self.bodies, self._touched, strict=True):
            felt: TouchedBody = touched.items[0]  # type: ignore[assignment]
            alone = felt.coupled[0] == 1 and felt.work.loads.masses.any() and body not in borne_by_others
            before, self._alone[body] = self._alone[body], self._alone[body] + step if alone else 0.0
            if before < _BORNE <= self._alone[body] and _is_loose(model, body):
                logging.getLogger("segtrack").warning(
                    "segtrack: belts alone bear body %r of the MuJoCo model, which chatters on them: its "
                    "friction, and the work of the drives, are not right",
                    model.body(body).name or body,
                )

    def forget(self) -> None:
        """Forget all contacts."""
        for memory, touched in zip(self._memories, self._touched, strict=True):
            forget_all(memory)
            touched.items[0].known[:] = 0  # type: ignore[attr-defined]
        self.look_again()

    def look_again(self) -> None:
        """Find candidates anew."""
        for touched in self._touched:
            touched.items[0].state.slack[:] = 0.0  # type: ignore[attr-defined]

    def save(self) -> SavedTouches:
        """Return what is remembered."""
        return SavedTouches(tuple(block.copy() for block in self._blocks), self._near)

    def restore(self, saved: SavedTouches) -> None:
        """Go back to what was saved with the same bodies."""
        for block, kept in zip(self._blocks, saved.blocks, strict=True):
            block[:] = kept
        self._near = saved.near
        self.look_again()


def _is_loose(model: Any, body: int) -> bool:
    """Return whether nothing but contacts bears a body."""
    joint = int(model.body_jntadr[body])
    return joint >= 0 and int(model.jnt_type[joint]) == _FREE
