"""Roles of clients: who drives, who instructs, who looks on."""

from __future__ import annotations

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
    """Clients and their roles.

    Attributes:
        driver: Id of the client that drives; None if the seat is free.
    """

    def __init__(self) -> None:
        """Begin without clients."""
        self.driver: int | None = None
        self._members: dict[int, _Member] = {}
        self._before: int | None = None

    def join(self, client: int, name: str, wanted: Role) -> None:
        """Take in a client; the first that wants to drive gets the seat.

        Raises:
            NotReadyError: It would look on, and so many do that there is room for others alone.
        """
        looks_on = wanted == "onlooker" or (wanted == "driver" and self.driver is not None)
        if looks_on and sum(self.role(other) == "onlooker" for other in self._members) >= MAX_ONLOOKERS:
            raise NotReadyError("join", f"{MAX_ONLOOKERS} look on already")
        self._members[client] = _Member(name, wanted)
        if wanted == "driver" and self.driver is None:
            self.driver = client

    def leave(self, client: int) -> None:
        """Let a client go; the seat of a driver becomes free."""
        self._members.pop(client, None)
        self.driver = None if self.driver == client else self.driver
        self._before = None if self._before == client else self._before

    def role(self, client: int) -> Role:
        """Return the role of a client: one that wants to drive looks on until it has the seat."""
        wanted = self._members[client].wanted
        if wanted == "instructor":
            return "instructor"
        return "driver" if client == self.driver else "onlooker"

    def commands(self, client: int) -> bool:
        """Return True if a client may configure, start and release: the driver and instructors."""
        return client == self.driver or self.role(client) == "instructor"

    def may_stop(self, client: int) -> bool:
        """Return True if a client may set the emergency stop: anyone that did not come to look on."""
        return self._members[client].wanted != "onlooker"

    def take(self, client: int) -> None:
        """Give a client the seat.

        Raises:
            NotReadyError: It looks on, or somebody drives and it is no instructor.
        """
        wanted = self._members[client].wanted
        if wanted == "onlooker":
            raise NotReadyError("take the driver's seat", "an onlooker looks on")
        if self.driver not in (None, client) and wanted != "instructor":
            assert self.driver is not None
            raise NotReadyError("take the driver's seat", f"{self._members[self.driver].name} drives")
        if self.driver != client:
            self._before, self.driver = self.driver, client

    def give(self, client: int, to: int | None) -> None:
        """Let an instructor or the driver give the seat to a client, or back to who had it before.

        Raises:
            NotReadyError: The client has neither role, or there is nobody to give it to.
        """
        if not self.commands(client):
            raise NotReadyError("give the driver's seat", "neither the driver nor an instructor asks")
        heir = self._before if to is None else to
        if heir not in self._members or self._members[heir].wanted == "onlooker":
            raise NotReadyError("give the driver's seat", "there is nobody to give it to")
        self._before, self.driver = self.driver, heir

    def release(self, client: int) -> None:
        """Free the seat, if the client has it."""
        if self.driver == client:
            self._before, self.driver = client, None

    def listed(self) -> tuple[ClientInfo, ...]:
        """Return all clients, in the order in which they came."""
        return tuple(
            ClientInfo(id=client, name=member.name, role=self.role(client))
            for client, member in self._members.items()
        )
