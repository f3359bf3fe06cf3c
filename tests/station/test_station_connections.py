"""Connections of the web server under clients that take its time and room, over real sockets."""

import asyncio
import base64
import socket
import threading
import time
from contextlib import ExitStack, suppress

import pytest

uvicorn = pytest.importorskip("uvicorn", reason="of an extra")

from browser import until  # noqa: E402
from starlette.applications import Starlette  # noqa: E402
from starlette.responses import PlainTextResponse, StreamingResponse  # noqa: E402
from starlette.routing import Route, WebSocketRoute  # noqa: E402
from starlette.websockets import WebSocketDisconnect  # noqa: E402

from segtrack.station.serve import listen  # noqa: E402
from segtrack.station.web import (  # noqa: E402
    MAX_CONNECTIONS,
    CountedWebSocket,
    TimedHttp,
    guard,
)

TEXT, PONG, NO_MASK = 0x81, 0x8A, bytes(4)
LARGE = 10_000_000
"""More than all buffers on the way hold [B]."""
UPGRADE = (
    "GET /socket HTTP/1.1\r\nHost: here\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    f"Sec-WebSocket-Key: {base64.b64encode(bytes(16)).decode()}\r\nSec-WebSocket-Version: 13\r\n\r\n"
).encode()


async def page(request):
    return PlainTextResponse("the page")


async def endless(request):
    async def body():
        while True:
            yield bytes(1 << 16)
            await asyncio.sleep(0)

    return StreamingResponse(body())


async def large(request):
    return PlainTextResponse(LARGE * "x")


async def long(request):
    await asyncio.sleep(0.6)
    return PlainTextResponse("a long story")


async def echo(websocket):
    await websocket.accept()
    try:
        while True:
            await websocket.send_text(await websocket.receive_text())
    except WebSocketDisconnect:
        pass


async def silent(websocket):
    await websocket.receive()
    await websocket.receive()  # Until it is gone.


@pytest.fixture(scope="module")
def port():
    app = Starlette(
        routes=[
            Route("/", page),
            Route("/endless", endless),
            Route("/large", large),
            Route("/long", long),
            WebSocketRoute("/socket", echo),
            WebSocketRoute("/silent", silent),
        ],
    )
    settings = {"log_config": None, "lifespan": "off", "timeout_graceful_shutdown": 0}
    limits = {"limit_concurrency": MAX_CONNECTIONS, "http": TimedHttp, "ws": CountedWebSocket}
    server = uvicorn.Server(uvicorn.Config(app, **settings, **limits))
    with listen("127.0.0.1", 0) as listening:
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        until(lambda: server.started)
        yield listening.getsockname()[1]
        server.should_exit = True
        thread.join()


@pytest.fixture
def connect(port):
    """Opens connections that say something, and closes them after the test."""
    with ExitStack() as opened:

        def connect(words=b"", address="127.0.0.1"):
            made = socket.create_connection(("127.0.0.1", port), timeout=20.0, source_address=(address, 0))
            made.sendall(words)
            return opened.enter_context(made)

        yield connect


def served_within(connect, address="127.0.0.1"):
    """Time in which a newcomer has the page [s]."""
    begun = time.monotonic()
    answer = connect(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n", address).recv(4096)
    assert answer.startswith(b"HTTP/1.1 200")
    return time.monotonic() - begun


def frame(kind, payload=b""):
    return bytes([kind, 0x80 | len(payload)]) + NO_MASK + payload


def ends(connection):
    """True once the other end has closed a connection."""
    try:
        while connection.recv(1 << 16):
            pass
    except ConnectionResetError:
        pass
    return True


@pytest.mark.parametrize(
    "words", [b"", b"GET / HT", b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 100000000\r\n\r\nx"]
)
def test_newcomers_are_served_beside_connections_that_never_ask(connect, words):
    for _ in range(MAX_CONNECTIONS + 10):
        connect(words)
    assert served_within(connect) < 1.0


@pytest.mark.parametrize(
    ("words", "more"),
    [
        (b"GET / HT", b"T"),
        (b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 1000\r\n\r\n", b"x"),
        (b"GET / HTTP/1.1\r\nHost: here\r\n\r\nGET / HT", b"T"),
    ],
)
def test_a_request_has_to_end_in_time_however_often_a_byte_comes(connect, monkeypatch, words, more):
    monkeypatch.setattr(guard, "REQUEST_WITHIN", 0.3)
    connection, begun = connect(words), time.monotonic()
    with pytest.raises(OSError):
        while time.monotonic() - begun < 10.0:
            connection.sendall(more)
            time.sleep(0.05)
    assert time.monotonic() - begun < 5.0


@pytest.mark.parametrize("body", [b"Content-Length: 9", b"Transfer-Encoding: chunked"])
def test_an_upgrade_with_a_body_is_refused(connect, body):
    connection = connect(UPGRADE.replace(b"Host: here", b"Host: here\r\n" + body))
    assert connection.recv(4096).startswith(b"HTTP/1.1 400")
    assert ends(connection)


def test_a_handshake_has_to_come_in_time_and_its_socket_stays(connect, monkeypatch):
    monkeypatch.setattr(guard, "REQUEST_WITHIN", 0.3)
    begun, unanswered, answered = (
        time.monotonic(),
        connect(UPGRADE.replace(b"socket", b"silent", 1)),
        connect(UPGRADE),
    )
    assert answered.recv(4096).startswith(b"HTTP/1.1 101")
    assert ends(unanswered)
    assert 0.2 < time.monotonic() - begun < 5.0
    time.sleep(0.3)
    answered.sendall(frame(TEXT, b"here"))
    assert answered.recv(6) == b"\x81\x04here"


def test_one_address_leaves_room_for_others(connect, monkeypatch):
    monkeypatch.setattr(guard, "MAX_OF_ADDRESS", 3)
    for _ in range(3):
        assert connect(b"GET /endless HTTP/1.1\r\nHost: here\r\n\r\n").recv(12) == b"HTTP/1.1 200"
    assert ends(connect(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"))
    assert served_within(connect, "127.0.0.2") < 2.0


@pytest.mark.parametrize("path", ["/endless", "/large"])
def test_a_response_that_nobody_reads_ends(connect, monkeypatch, path):
    monkeypatch.setattr(guard, "READ_WITHIN", 0.3)
    unread = connect(f"GET {path} HTTP/1.1\r\nHost: here\r\n\r\n".encode())
    time.sleep(0.6)
    received = 0
    with suppress(ConnectionResetError):
        while more := unread.recv(1 << 16):
            received += len(more)
    assert received < LARGE


def test_a_response_that_is_read_a_little_at_a_time_ends(connect, monkeypatch):
    monkeypatch.setattr(guard, "READ_WITHIN", 0.5)
    slow, begun = connect(b"GET /endless HTTP/1.1\r\nHost: here\r\n\r\n"), time.monotonic()
    with suppress(ConnectionResetError):
        while slow.recv(1 << 16):
            assert time.monotonic() - begun < 10.0
            time.sleep(0.05)


def test_a_response_takes_as_long_as_it_takes_to_make(connect, monkeypatch):
    monkeypatch.setattr(guard, "READ_WITHIN", 0.2)
    monkeypatch.setattr(guard, "REQUEST_WITHIN", 0.2)
    connection = connect(b"GET /long HTTP/1.1\r\nHost: here\r\n\r\n")
    assert connection.recv(4096).endswith(b"a long story")


@pytest.mark.parametrize("sent", [frame(TEXT, b"a"), frame(PONG), frame(0x89), frame(0x01) + frame(0x80)])
def test_a_flood_of_any_frames_is_cut_and_others_are_answered(connect, sent):
    flood, other = connect(UPGRADE), connect(UPGRADE)
    for each in (flood, other):
        assert each.recv(4096).startswith(b"HTTP/1.1 101")
    threading.Thread(target=ends, args=(flood,), daemon=True).start()
    with pytest.raises(OSError):
        for _ in range(1000):
            flood.sendall(1000 * sent)
    begun = time.monotonic()
    other.sendall(frame(TEXT, b"here"))
    assert other.recv(6) == b"\x81\x04here"
    assert time.monotonic() - begun < 0.5


def test_a_text_that_is_none_ends_its_connection_without_a_word_in_the_log(connect, caplog):
    connection = connect(UPGRADE)
    connection.recv(4096)
    connection.sendall(frame(TEXT, b"\xff"))
    assert ends(connection)
    assert caplog.text == ""
