"""Frames of an SDF model: those of links, joints, nested models and `frame`s, each in the model's frame."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from xml.etree.ElementTree import Element

import numpy as np

from segtrack.description import Frame
from segtrack.importing.sdf_files import MERGED
from segtrack.importing.sdf_numbers import SdfNumbers

_NAMED = ("link", "joint", "frame", "model")


@dataclass(frozen=True, eq=False)
class Scope:
    """Model in whose names its elements speak.

    Attributes:
        element: Element `model`.
        prefix: Beginning of the full names of what it holds, `a::b::` of nested models.
        model: Full name of its `__model__`; empty for the whole robot.
    """

    element: Element
    prefix: str
    model: str

    def full(self, name: str) -> str:
        """Full name of what the model calls by a name."""
        return self.model if name == "__model__" else self.prefix + name

    @property
    def words(self) -> str:
        """Model in words, for a message."""
        return f"model {self.model or self.element.get('name', '')!r}"


@dataclass(frozen=True, eq=False)
class _Named:
    """Frame by name: its pose, and the frame that this is relative to."""

    scope: Scope
    element: Element
    base: str
    where: str


class SdfFrames:
    """Frames of a model by full names."""

    def __init__(self, model: Element, numbers: SdfNumbers) -> None:
        """Read the frames of a model, and list what they name and is not there."""
        self._numbers, self._named = numbers, dict[str, _Named]()
        self._resolved: dict[str, Frame] = {"": Frame(np.eye(3), np.zeros(3))}
        self.scopes = tuple(self._scopes(Scope(model, "", "")))
        for scope in self.scopes:
            self._read(scope)

    def elements(self, tag: str) -> Iterator[tuple[Scope, str, Element]]:
        """Yield elements of a tag in all models, each with its scope and full name."""
        for scope in self.scopes:
            for element in scope.element.iterfind(tag):
                yield scope, scope.full(element.get("name", "")), element

    def knows(self, name: str) -> bool:
        """True if there is a frame of a full name."""
        return name in self._resolved or name in self._named

    def frame(self, name: str) -> Frame:
        """Frame by its full name, in the robot's; one in a cycle is a mistake, and the robot's own."""
        return self._frame(name, ())

    def placed(self, scope: Scope, element: Element, default: str, where: str) -> Frame:
        """Frame of an element's pose in the robot's.

        Args:
            scope: Model that it is in.
            element: Element with a `pose`, or without.
            default: Full name of the frame that it is relative to if it does not say.
            where: Element in words.
        """
        return self.frame(self._base(scope, element, default, where)) @ self._numbers.frame(
            element.find("pose"), where
        )

    def link_of(self, name: str) -> str | None:
        """Full name of the link that a frame is attached to; None, and a mistake, if it is to none."""
        seen, why = list[str](), ""
        while name not in seen:
            seen.append(name)
            named = self._named.get(name)
            if named is None and name != "":
                self._numbers.refuse(f"has no link {name!r}, which is {why}")
                return None
            if named is not None and named.element.tag == "link":
                return name
            if named is not None and named.element.tag == "joint":
                why = f"the child of {named.where}"
                name = named.scope.full((named.element.findtext("child") or "").strip())
            elif named is not None and named.element.tag == "frame":
                why = f"what {named.where} is attached to"
                name = named.scope.full(named.element.get("attached_to") or "__model__")
            else:
                scope = next(scope for scope in self.scopes if scope.model == name)
                why = f"the canonical link of {scope.words}"
                name = self._canonical(scope)
        self._numbers.refuse(f"must not attach frames in a cycle, got {', '.join([*seen, name])}")
        return None

    @cached_property
    def links(self) -> tuple[str, ...]:
        """Full names of all links, in the order of the file."""
        return tuple(name for name, named in self._named.items() if named.element.tag == "link")

    def _scopes(self, scope: Scope) -> Iterator[Scope]:
        yield scope
        for model in scope.element.iterfind("model"):
            name = model.get("name", "")
            if model.get(MERGED):
                yield from self._scopes(Scope(model, scope.prefix, f"{scope.prefix}{name}"))
            else:
                yield from self._scopes(Scope(model, f"{scope.prefix}{name}::", f"{scope.prefix}{name}"))

    def _read(self, scope: Scope) -> None:
        for element in scope.element:
            if element.tag not in _NAMED:
                continue
            name = element.get("name", "")
            where = f"{element.tag} {scope.prefix + name!r}"
            if not name:
                self._numbers.refuse(f"must name each {element.tag}, got one without a name in {scope.words}")
                continue
            full = scope.full(name)
            if full in self._named:
                self._numbers.refuse(f"must name each frame differently, got two named {full!r}")
                continue
            default = scope.model
            if element.tag == "joint":
                default = scope.full((element.findtext("child") or "").strip())
            elif element.tag == "frame" and element.get("attached_to"):
                default = scope.full(element.get("attached_to", ""))
            self._named[full] = _Named(scope, element, self._base_name(scope, element, default), where)

    def _base_name(self, scope: Scope, element: Element, default: str) -> str:
        pose = element.find("pose")
        said = "" if pose is None else pose.get("relative_to") or pose.get("frame") or ""
        return scope.full(said) if said else default

    def _base(self, scope: Scope, element: Element, default: str, where: str) -> str:
        name = self._base_name(scope, element, default)
        if name != "" and not self.knows(name):
            self._numbers.refuse(f"has no frame {name!r}, which the pose of {where} is relative to")
            return ""
        return name

    def _frame(self, name: str, within: tuple[str, ...]) -> Frame:
        if name in self._resolved:
            return self._resolved[name]
        named = self._named[name]
        if name in within:
            loop = ", ".join([*within[within.index(name) :], name])
            self._numbers.refuse(f"must not have poses relative to each other in a cycle, got {loop}")
            return self._resolved[""]
        base = named.base
        if not self.knows(base):
            if named.element.tag != "joint":  # A joint's child is told of with the joint.
                self._numbers.refuse(f"has no frame {base!r}, which the pose of {named.where} is relative to")
            base = ""
        frame = self._frame(base, (*within, name)) @ self._local(name, named, within)
        self._resolved[name] = frame
        return frame

    def _local(self, name: str, named: _Named, within: tuple[str, ...]) -> Frame:
        """Pose of a frame in that which it is relative to; a model's may be that of a frame in it."""
        pose = self._numbers.frame(named.element.find("pose"), named.where)
        placed = named.element.get("placement_frame")
        if named.element.tag != "model" or not placed:
            return pose
        inner = next(scope for scope in self.scopes if scope.element is named.element).full(placed)
        chain, own = Frame(np.eye(3), np.zeros(3)), inner
        seen = set[str]()
        while own != name:
            if own not in self._named or own in seen:
                self._numbers.refuse(
                    f"has no frame {placed!r}, which is the placement_frame of {named.where}"
                )
                return pose
            seen.add(own)
            chain = self._local(own, self._named[own], within) @ chain
            own = self._named[own].base
        return pose @ Frame(np.eye(3), np.zeros(3)).seen_from(chain)

    def _canonical(self, model: Scope) -> str:
        """Full name of the canonical link of a model: the one that it names, or its first."""
        said = model.element.get("canonical_link")
        if said:
            return model.full(said)
        within = (scope for scope in self.scopes if scope is model or scope.prefix.startswith(model.prefix))
        links = (
            scope.full(link.get("name", "")) for scope in within for link in scope.element.iterfind("link")
        )
        return next(links, model.full("link"))
