"""Station as a program: web server and simulation, each in a process."""

from __future__ import annotations

import ipaddress
import secrets
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from filelock import FileLock, Timeout

from segtrack.courses import FIRST_SYLLABUS, check_operator
from segtrack.errors import AddressError, FileAccessError, InvalidValueError
from segtrack.station.simulation import SimulationProcess
from segtrack.station.web import (
    MAX_CONNECTIONS,
    Catalogue,
    CountedWebSocket,
    Hub,
    Library,
    TimedHttp,
    create_app,
)

MAX_FRAME = 1 << 16
"""Largest WebSocket message that is read at all, the page's own included [B]."""
_LOOPBACK = "127.0.0.1", "localhost", "[::1]"
_SEND_BUFFER = 1 << 16
"""Send buffer of each socket in the system [B]: largest backlog of a slow client."""


@dataclass(frozen=True)
class StationOptions:
    """Address, first vehicle and course, and folder of a station.

    Attributes:
        host: Address to listen on, or localhost; an address open to others needs a token, which is made.
        port: Port to listen on; 0 for any free one.
        origins: Allowed origins of the page besides the address itself, such as `https://robots.example`.
        vehicle: Name or file of the first vehicle.
        course: Name or file of the first course.
        folder: Folder for recordings and records.
        exercises: Name or file of the syllabus.
        instructors: Names that may instruct; empty for any.
        keep_days: Age from which recordings are deleted [d]; None keeps all.
    """

    host: str
    port: int
    origins: tuple[str, ...]
    vehicle: str | None
    course: str | None
    folder: Path
    exercises: str = FIRST_SYLLABUS
    instructors: tuple[str, ...] = ()
    keep_days: float | None = None


class Station:
    """Running station: hub, simulation process, server and link.

    Attributes:
        hub: Decides on clients' messages.
        simulation: Simulation in a process of its own.
        link: URL for a browser.
        server: HTTP and WebSocket server.
    """

    def __init__(self, options: StationOptions, listening: socket.socket) -> None:
        """Start the simulation process; `serve` starts the server.

        Raises:
            SegtrackError: A folder that cannot be written to, or no such vehicle or course.
        """
        port = listening.getsockname()[1]
        token = None if _is_loopback(options.host) else secrets.token_urlsafe(16)
        origins = _origins(options, port)
        catalogue = Catalogue(options.vehicle, options.course, options.exercises)
        instructors = [check_operator(name, "--instructor") for name in options.instructors]
        library = Library(options.folder)
        self.link = origins[0] + ("" if token is None else f"/?token={token}")
        self._listening = listening
        self._lock = FileLock(library.folder.path / ".lock", timeout=0)
        try:
            self._lock.acquire()
        except Timeout:
            raise FileAccessError("use", library.folder.path, "another station does: give --folder") from None
        self.simulation = SimulationProcess(library.folder)
        self.hub = Hub(self.simulation, catalogue, library, instructors)
        app = create_app(self.hub, origins=frozenset(origins), token=token, keep_days=options.keep_days)
        self.server = uvicorn.Server(
            uvicorn.Config(
                app,
                log_config=None,
                log_level="warning",
                http=TimedHttp,
                ws=CountedWebSocket,
                ws_max_size=MAX_FRAME,
                ws_per_message_deflate=False,
                ws_ping_interval=5.0,
                ws_ping_timeout=15.0,
                limit_concurrency=MAX_CONNECTIONS,
                timeout_graceful_shutdown=1,
                server_header=False,
                proxy_headers=False,  # Anybody may write them, and they would choose whose limits count.
            )
        )

    def serve(self) -> None:
        """Run the server until it is told to exit, or Ctrl-C."""
        try:
            self.server.run(sockets=[self._listening])
        finally:
            self.close()

    def close(self) -> None:
        """End the simulation, after saving its trial's outcome, and the report process."""
        self.hub.close()
        self.hub.reports.close()
        self.hub.library.close()
        self._lock.release()


def serve_station(options: StationOptions, *, browser: bool, started: Callable[[str], None]) -> None:
    """Run a station until Ctrl-C.

    Args:
        options: Address, first vehicle and course, and folder.
        browser: Open the page in a browser.
        started: Function called with the link when the station listens.

    Raises:
        AddressError: The address cannot be listened on.
        SegtrackError: A folder that cannot be written to, or no such vehicle or course.
    """
    with listen(options.host, options.port) as listening:
        station = Station(options, listening)
        with _interrupts_noted(station.server):
            started(station.link)
            if browser:
                threading.Timer(1.0, webbrowser.open, [station.link]).start()
            station.serve()


@contextmanager
def _interrupts_noted(server: uvicorn.Server) -> Iterator[None]:
    """Record Ctrl-C until the server handles it: an exception may be lost during imports."""

    def note(*_: object) -> None:
        server.should_exit = True

    before = signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def listen(host: str, port: int) -> Iterator[socket.socket]:
    """Open a listening socket on an address.

    Raises:
        InvalidValueError: No port has such a number.
        AddressError: The address cannot be listened on.
    """
    if not 0 <= port < 2**16:
        raise InvalidValueError("--port", "from 0, below 65536", port)
    numeric = 0 if host == "localhost" else socket.AI_NUMERICHOST  # Asking a name server may take minutes.
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=numeric)
        family, kind, _, _, address = found[0]
        listening = socket.socket(family, kind)
    except (OSError, UnicodeError) as error:
        raise AddressError(host, port, getattr(error, "strerror", None) or str(error)) from None
    with listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
        try:
            listening.bind(address)
            listening.listen()
        except OSError as error:
            raise AddressError(host, port, getattr(error, "strerror", None) or str(error)) from None
        yield listening


def _origins(options: StationOptions, port: int) -> list[str]:
    """Return the allowed origins, the one of the link first."""
    for origin in options.origins:
        scheme, separator, rest = origin.partition("://")
        if scheme not in ("http", "https") or not separator or not rest or "/" in rest:
            raise InvalidValueError("--origin", "like http://robots.example:8080", origin)
    given = [origin.lower() for origin in options.origins]
    if _is_any(options.host):
        if not given:
            raise InvalidValueError("--origin", "given where the station listens on all addresses", None)
        return given
    own = f"[{ipaddress.ip_address(options.host)}]" if ":" in options.host else options.host.lower()
    names = dict.fromkeys([own, *(_LOOPBACK if _is_loopback(options.host) else ())])
    return [*(f"http://{name}:{port}" for name in names), *given]


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_any(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return host == ""
