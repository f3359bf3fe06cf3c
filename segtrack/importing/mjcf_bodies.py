"""Bodies of a compiled MJCF model: frames, masses and shapes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from segtrack.description import Frame, convex_corners
from segtrack.errors import InvalidValueError
from segtrack.geometry import rotations_of
from segtrack.importing.assembly import BodyShape, RobotBody, plain_names, text_of
from segtrack.importing.findings import Findings

Array = NDArray[np.float64]
_DEFAULT_FRICTION = 1.0
"""Sliding friction of a geom that says none, in MuJoCo [-]."""
_MESHES = (".obj", ".stl")
"""Suffixes of MuJoCo's mesh files that a URDF can name."""


def frame_of(position: Array, quaternion: Array) -> Frame:
    """Frame of a position (3,) [m] and MuJoCo's quaternion (w, x, y, z)."""
    return Frame(rotations_of(np.roll(quaternion, -1)[None])[0], np.array(position))


class MjcfBodies:
    """Reader of bodies."""

    def __init__(self, file: Path, scratch: Path, model: Any, spec: Any, findings: Findings) -> None:
        """Take the compiled model, its spec, and a folder for meshes without a file of their own."""
        self._file, self._scratch, self._findings = file, scratch, findings
        self._model, self._spec = model, spec
        names = [model.body(i).name or f"body_{i}" for i in range(model.nbody)]
        self._names = list(plain_names(names))
        self._frames = [Frame(np.eye(3), np.zeros(3))]
        for i in range(1, model.nbody):
            own = frame_of(model.body_pos[i], model.body_quat[i])
            self._frames.append(self._frames[model.body_parentid[i]] @ own)
        self._left_out = Counter[str]()
        self._meshes = dict[int, tuple[str, Array, Frame]]()

    def name(self, body: int) -> str:
        """Name of a body's link."""
        return self._names[body]

    def frame(self, body: int) -> Frame:
        """Frame of a body in the world, all joints as in the file."""
        return self._frames[body]

    def bodies(self, inside: Sequence[int]) -> tuple[RobotBody, ...]:
        """Bodies by their numbers."""
        model = self._model
        found = tuple(
            RobotBody(
                name=self._names[i],
                frame=self._frames[i],
                mass=float(model.body_mass[i]),
                inertial=frame_of(model.body_ipos[i], model.body_iquat[i]),
                tensor=np.diag(model.body_inertia[i]),
                shapes=tuple(shape for geom in self._geoms(i) if (shape := self._shape(geom)) is not None),
            )
            for i in inside
        )
        for kind, count in self._left_out.items():
            what = "no shape of a URDF; its mass counts"
            self._findings.add("remark", f"{count} geoms of type {kind}", "left out", what)
        return found

    def frictions(self, inside: Sequence[int]) -> dict[str, list[float]]:
        """Sliding friction coefficients of geoms that collide, but for MuJoCo's default, by link."""
        found: dict[str, list[float]] = {}
        for i in inside:
            for geom in self._geoms(i):
                friction = float(self._model.geom_friction[geom, 0])
                if self._collides(geom) and friction != _DEFAULT_FRICTION:
                    found.setdefault(self._names[i], []).append(friction)
        return found

    def moved_surfaces(self, inside: Sequence[int]) -> dict[str, float]:
        """Places aside of links whose surfaces move, as belts do, across the way that they move [m]."""
        model = self._model
        if not hasattr(model, "geom_surfacevel"):  # Before MuJoCo 3.11.
            return {}
        places, ways = dict[str, list[Array]](), list[Array]()
        for i in inside:
            for geom in self._geoms(i):
                if model.geom_surfacevel[geom].any():
                    frame = self._frames[i] @ frame_of(model.geom_pos[geom], model.geom_quat[geom])
                    ways.append(frame.rotation @ model.geom_surfacevel[geom, :3])
                    places.setdefault(self._names[i], []).append(frame.origin)
        along = sum((np.abs(way[:2]) for way in ways), np.zeros(2))
        aside = 0 if along[1] > along[0] else 1  # Belts along y lie beside each other along x.
        sign = -1.0 if aside == 0 else 1.0
        return {link: sign * float(np.mean(found, axis=0)[aside]) for link, found in places.items()}

    def _geoms(self, body: int) -> range:
        first = int(self._model.body_geomadr[body])
        return range(first, first + int(self._model.body_geomnum[body]))

    def _collides(self, geom: int) -> bool:
        return bool(self._model.geom_contype[geom] or self._model.geom_conaffinity[geom])

    def _shape(self, geom: int) -> BodyShape | None:
        import mujoco

        kinds = mujoco.mjtGeom
        model, size = self._model, self._model.geom_size[geom]
        frame = frame_of(model.geom_pos[geom], model.geom_quat[geom])
        kind = int(model.geom_type[geom])
        if kind == kinds.mjGEOM_BOX:
            tag = Element("box", size=text_of(2 * size))
        elif kind == kinds.mjGEOM_SPHERE:
            tag = Element("sphere", radius=repr(float(size[0])))
        elif kind in (kinds.mjGEOM_CYLINDER, kinds.mjGEOM_CAPSULE):
            word = "cylinder" if kind == kinds.mjGEOM_CYLINDER else "capsule"
            tag = Element(word, radius=repr(float(size[0])), length=repr(2 * float(size[1])))
        elif kind == kinds.mjGEOM_MESH:
            mesh = int(model.geom_dataid[geom])
            if mesh not in self._meshes:
                self._meshes[mesh] = self._mesh(mesh)
            name, scale, moved = self._meshes[mesh]
            tag, frame = Element("mesh", filename=name, scale=text_of(scale)), frame @ moved
        else:
            self._left_out[kinds(kind).name.removeprefix("mjGEOM_").lower()] += 1
            return None
        shown: Literal["collision", "visual"] = "collision" if self._collides(geom) else "visual"
        return BodyShape(shown, frame, tag)

    def _mesh(self, mesh: int) -> tuple[str, Array, Frame]:
        """File of a mesh, its scale, and the file's frame in that which MuJoCo gives the mesh."""
        model = self._model
        first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
        vertices = np.array(model.mesh_vert[first : first + count], dtype=float)
        own, scale = self._own_file(mesh), np.array(model.mesh_scale[mesh], dtype=float)
        # MuJoCo puts the mesh into the frame of its inertia; back to that of its file:
        moved = Frame(np.eye(3), np.zeros(3)).seen_from(frame_of(model.mesh_pos[mesh], model.mesh_quat[mesh]))
        if own is not None and _is_same(own, scale, vertices, moved):
            return str(own), scale, moved
        faces = model.mesh_face[model.mesh_faceadr[mesh] :][: model.mesh_facenum[mesh]]
        plain = re.sub(r"[^A-Za-z0-9_]+", "_", model.mesh(mesh).name) or "mesh"
        file = self._scratch / f"{plain}_{mesh}.stl"
        import trimesh

        trimesh.Trimesh(vertices, faces, process=False).export(file)
        return str(file), np.ones(3), Frame(np.eye(3), np.zeros(3))

    def _own_file(self, mesh: int) -> Path | None:
        """File that a mesh is from, if a URDF can name it."""
        name = str(self._spec.meshes[mesh].file)
        folders = [self._file.parent / self._spec.compiler.meshdir, self._file.parent]
        places = [(folder / name).absolute() for folder in folders if name]
        return next((p for p in places if p.suffix.lower() in _MESHES and p.is_file()), None)


def _is_same(file: Path, scale: Array, vertices: Array, moved: Frame) -> bool:
    """True if a mesh file, scaled and moved, has the hull of vertices (n, 3) [m]."""
    try:
        corners = moved.points(convex_corners(str(file)) * scale)
    except InvalidValueError:
        return False
    size = float(np.ptp(vertices, axis=0).max())
    ways = np.concatenate([np.eye(3), -np.eye(3), [[1, 1, 1], [-1, 1, 1], [1, -1, 1], [1, 1, -1]]])
    return bool(np.abs((corners @ ways.T).max(axis=0) - (vertices @ ways.T).max(axis=0)).max() < 1e-5 * size)
