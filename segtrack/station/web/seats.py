"""Roles of clients: who drives, waits for the seat, instructs or looks on."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from segtrack.errors import NotReadyError
from segtrack.station.protocol import ClientInfo, Role
from segtrack.station.web.client import MAX_CLIENTS

MAX_ONLOOKERS = MAX_CLIENTS - 2
"""Onlookers at a time, so that there is room left for a driver and an instructor."""


@dataclass
class _Member:
    name: str
    wanted: Role


class Seats:
    """Clients and their roles, with the driver's seat and its queue.

    Attributes:
        driver: Id of the driving client; None if the seat is free.
        queue: Ids of the clients waiting for the seat, next one first.
    """

    def __init__(self, instructors: Collection[str] = ()) -> None:
        """Start without clients.

        Args:
            instructors: Names that may instruct; empty for any.
        """
        self.driver: int | None = None
        self.queue: list[int] = []
        self._instructors = frozenset(instructors)
        self._members: dict[int, _Member] = {}
        self._before: int | None = None
        self._lost: str | None = None

    def join(self, client: int, name: str, wanted: Role) -> None:
        """Add a client; one that wants to drive gets the seat, or joins the queue.

        Who drove when its connection broke waits in front of all others.

        Raises:
            NotReadyError: It may not instruct; or it would look on, and so many do that there is room for
                others alone.
        """
        if wanted == "instructor" and self._instructors and name not in self._instructors:
            raise NotReadyError("come in as instructor", f"{name!r} is not among the instructors")
        free = self.driver is None and (not self.queue or name == self._lost)
        looks_on = wanted == "onlooker" or (wanted == "driver" and not free)
        if looks_on and sum(self.role(other) == "onlooker" for other in self._members) >= MAX_ONLOOKERS:
            raise NotReadyError("join", f"{MAX_ONLOOKERS} look on already")
        self._members[client] = _Member(name, wanted)
        if wanted == "driver" and free:
            self._seat(client)
        elif wanted == "driver":
            self.queue.insert(0 if name == self._lost else len(self.queue), client)
            self._lost = None if name == self._lost else self._lost

    def leave(self, client: int) -> None:
        """Remove a client; if it drove, the seat becomes free."""
        member = self._members.pop(client)
        if self.driver == client:
            self.driver, self._lost = None, member.name
        if client in self.queue:
            self.queue.remove(client)
        self._before = None if self._before == client else self._before

    def name(self, client: int) -> str:
        """Return the name of a client."""
        return self._members[client].name

    def role(self, client: int) -> Role:
        """Return a client's role: `onlooker` while it waits to drive."""
        wanted = self._members[client].wanted
        if wanted == "instructor":
            return "instructor"
        return "driver" if client == self.driver else "onlooker"

    def commands(self, client: int) -> bool:
        """Return whether a client may configure, start and release: the driver and instructors."""
        return client == self.driver or self.role(client) == "instructor"

    def may_stop(self, client: int) -> bool:
        """Return whether a client may set the emergency stop: any but those who joined as onlookers."""
        return self._members[client].wanted != "onlooker"

    def take(self, client: int) -> None:
        """Give a client the seat, or put it in the queue.

        Raises:
            NotReadyError: It looks on, or somebody drives or waits before it and it is no instructor.
        """
        wanted = self._members[client].wanted
        if client == self.driver:
            return
        if wanted == "onlooker":
            raise NotReadyError("take the driver's seat", "an onlooker looks on")
        if wanted != "instructor" and self.driver is not None:
            if client not in self.queue:
                self.queue.append(client)
            raise NotReadyError("take the driver's seat", f"{self.name(self.driver)} drives")
        if wanted != "instructor" and self.queue and self.queue[0] != client:
            raise NotReadyError("take the driver's seat", f"{self.name(self.queue[0])} is next")
        self._seat(client)

    def give(self, client: int, to: int | None) -> None:
        """Give the seat to a client, or back to the driver before; for the driver and instructors.

        Raises:
            NotReadyError: The client has neither role, or there is nobody to give it to.
        """
        if not self.commands(client):
            raise NotReadyError("give the driver's seat", "neither the driver nor an instructor asks")
        heir = self._before if to is None else to
        if heir not in self._members or self._members[heir].wanted == "onlooker":
            raise NotReadyError("give the driver's seat", "there is nobody to give it to")
        self._seat(heir, done=client == self.driver)

    def release(self, client: int) -> None:
        """Free the seat if the client has it; if others wait, it joins the queue's end."""
        if self.driver == client:
            self._seat(None, done=True)

    def _seat(self, client: int | None, done: bool = False) -> None:
        """Change the driver; the old one joins the queue's front, or its end if `done`."""
        before, self.driver = self.driver, client
        if before is not None or (client is not None and self.name(client) == self._lost):
            self._lost = None
        if client in self.queue:
            self.queue.remove(client)
        if before is not None and before != client:
            self._before = before
            if self._members[before].wanted == "driver" and (client is not None or self.queue):
                self.queue.insert(len(self.queue) if done else 0, before)

    def listed(self) -> tuple[ClientInfo, ...]:
        """Return all clients, in the order in which they joined."""
        return tuple(
            ClientInfo(id=client, name=member.name, role=self.role(client))
            for client, member in self._members.items()
        )
