"""Clients of a station: who drives, waits for the seat, instructs or looks on, and their links."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from segtrack.courses import check_operator
from segtrack.errors import NotReadyError, UnknownNameError
from segtrack.station import protocol
from segtrack.station.protocol import ClientInfo, LinkRequest, Role
from segtrack.station.web.client import MAX_CLIENTS, Client

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


class Crew:
    """Clients of a station, their roles and their links.

    Attributes:
        seats: Roles of the clients.
    """

    def __init__(self, instructors: Collection[str]) -> None:
        """Begin without clients; see `Seats`."""
        self.seats = Seats(instructors)
        self._clients: dict[int, Client] = {}
        self._numbers = 0
        self._links: dict[str, LinkRequest] = {}

    @property
    def clients(self) -> Collection[Client]:
        """All connected clients."""
        return self._clients.values()

    @property
    def driver(self) -> Client | None:
        """Client that drives; None without one."""
        return self._clients.get(self.seats.driver or 0)

    @property
    def who_drives(self) -> str:
        """Sentence with the driver's name."""
        return f"{self.driver_name or 'nobody'} drives"

    @property
    def driver_name(self) -> str | None:
        """Name of the driver; None if nobody drives."""
        return None if self.driver is None else self.driver.name

    @property
    def operator(self) -> str:
        """Name of the driver, or an error if nobody drives.

        Raises:
            NotReadyError: Nobody does.
        """
        if self.driver is None:
            raise NotReadyError("begin a trial", "nobody drives")
        return self.driver.name

    @property
    def driver_but_instructors(self) -> str | None:
        """Name of the driver; None if nobody drives, or an instructor."""
        if self.driver is None or self.seats.role(self.driver.id) == "instructor":
            return None
        return self.driver.name

    @property
    def drivers_link(self) -> LinkRequest | None:
        """Degradation of the driver's link; None without any."""
        return None if self.driver is None else self.driver.link

    def join(self, hello: protocol.Hello) -> Client:
        """Add a client; if the link of its name is degraded, so is its own, unless it instructs.

        Raises:
            InvalidValueError: The name cannot be an operator's.
            NotReadyError: Too many look on, or the name may not instruct.
        """
        name = check_operator(hello.name)
        self._numbers += 1
        client = Client(self._numbers, name)
        self.seats.join(client.id, name, hello.role)
        self._clients[client.id] = client
        if self.seats.role(client.id) != "instructor":
            client.degrade(self._links.get(name))
        return client

    def leave(self, client: Client) -> bool:
        """Remove a client; returns True if it drove."""
        drove = client.id == self.seats.driver
        del self._clients[client.id]
        self.seats.leave(client.id)
        return drove

    def change_seat(self, client: Client, action: str, to: int | None) -> bool:
        """Take, give or release the driver's seat; returns True if the driver changed.

        Args:
            client: Client that asks.
            action: `take`, `give` or `release`.
            to: Id of the client that is given the seat; None for the one that drove before.

        Raises:
            NotReadyError: The client may not, somebody waits before it, there is nobody to give the seat to,
                or another one drives: then the client joins the queue.
        """
        before = self.seats.driver
        match action:
            case "take":
                self.seats.take(client.id)
            case "give":
                self.seats.give(client.id, to)
            case "release":
                self.seats.release(client.id)
        return self.seats.driver != before

    def degrade(self, client: Client, message: LinkRequest, tried: str | None) -> None:
        """Degrade or restore the link of a client and of all of its name, for an instructor.

        Args:
            client: Client that asks (an instructor).
            message: Client whose link is meant, and the degradation.
            tried: Name of the operator on trial; None without a trial.

        Raises:
            NotReadyError: No instructor asks, the link is an instructor's, or it is a condition of the trial.
            UnknownNameError: There is no such client.
        """
        self.require_instructor(client, "degrade a link")
        if message.client not in self._clients:
            raise UnknownNameError("client", message.client, map(str, self._clients))
        if self.seats.role(message.client) == "instructor":
            raise NotReadyError("degrade a link", "an instructor's is never degraded")
        name = self._clients[message.client].name
        if name == tried:
            raise NotReadyError(f"change the link of {name}", "it is a condition of the trial that is on")
        self._links[name] = message
        if {message.video, message.telemetry, message.command} == {protocol.LinkQuality()}:
            del self._links[name]
        for other in self.clients:
            if other.name == name and self.seats.role(other.id) != "instructor":
                other.degrade(self._links.get(name))

    def require_stop(self, client: Client, on: bool) -> None:
        """Raise an error unless a client may set or release the emergency stop.

        Raises:
            NotReadyError: It may not.
        """
        if not on:
            self.require_command(client, "release the emergency stop")
        elif not self.seats.may_stop(client.id):
            raise NotReadyError("stop", "an onlooker looks on")

    def require_command(self, client: Client, what: str) -> None:
        """Raise an error unless a client drives or instructs.

        Raises:
            NotReadyError: It does not.
        """
        if not self.seats.commands(client.id):
            raise NotReadyError(what, "only the driver and an instructor can")

    def require_instructor(self, client: Client, what: str) -> None:
        """Raise an error unless a client instructs.

        Raises:
            NotReadyError: It does not.
        """
        if self.seats.role(client.id) != "instructor":
            raise NotReadyError(what, "only an instructor can")
