"""Who may come in, and what a socket bears: a hub behind its guard, without a simulation."""

import json
import math
import random
import time

import pytest

pytest.importorskip("nicegui", reason="of an extra")

import httpx
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from station_doubles import NotedSimulation

from segtrack.station import protocol
from segtrack.station.web import Catalogue, Hub, Library
from segtrack.station.web.app import Sockets
from segtrack.station.web.client import MAX_CLIENTS, MESSAGE_BURST, PAGE_BURST
from segtrack.station.web.crew import MAX_ONLOOKERS
from segtrack.station.web.guard import COOKIE, Guard

ORIGIN = "http://127.0.0.1:8080"
OWN = {"host": "127.0.0.1:8080"}
LINK = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
FOREIGN = "segtrack station: foreign site"
HELLO = protocol.Hello(name="Ann", role="driver").model_dump_json()


@pytest.fixture
def simulation():
    return NotedSimulation()


@pytest.fixture
def hub(simulation, tmp_path, catalogue):
    return Hub(simulation, catalogue, Library(tmp_path))


@pytest.fixture(scope="module")
def catalogue():
    return Catalogue("quince")


def browser(hub, token=None):
    sockets = Sockets(hub)

    async def page(request):
        return PlainTextResponse("the page")

    app = Starlette(routes=[Route("/", page), WebSocketRoute("/station/socket", sockets.serve)])
    guarded = Guard(app, origins=frozenset({ORIGIN}), token=token)
    return TestClient(guarded, base_url=ORIGIN, headers=OWN)


@pytest.mark.parametrize(
    ("headers", "status", "text"),
    [
        ({}, 200, "the page"),
        ({"origin": ORIGIN}, 200, "the page"),
        ({"origin": "http://evil.example"}, 403, "segtrack station: foreign origin"),
        ({"origin": "null"}, 403, "segtrack station: foreign origin"),
        ({"origin": "https://127.0.0.1:8080"}, 403, "segtrack station: foreign origin"),
        ({"host": "evil.example"}, 403, "segtrack station: foreign host"),
        ({"host": "127.0.0.1:8081"}, 403, "segtrack station: foreign host"),
        ({"host": ""}, 403, "segtrack station: foreign host"),
        ({"sec-fetch-site": "same-origin"}, 200, "the page"),
        ({"sec-fetch-site": "none"}, 200, "the page"),
        ({"sec-fetch-site": "cross-site", **LINK}, 200, "the page"),
        ({"sec-fetch-site": "cross-site", **LINK, "sec-fetch-dest": "iframe"}, 403, FOREIGN),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}, 403, FOREIGN),
        ({"sec-fetch-site": "same-site"}, 403, FOREIGN),
    ],
)
def test_the_page_is_for_its_own_host_and_origin(hub, headers, status, text):
    answer = browser(hub).get("/", headers=OWN | headers)
    assert (answer.status_code, answer.text) == (status, text)


@pytest.mark.parametrize("headers", [{"origin": "http://evil.example"}, {"host": "evil.example:8080"}])
def test_a_socket_is_for_its_own_host_and_origin(hub, headers):
    with pytest.raises(WebSocketDisconnect) as error:
        with browser(hub).websocket_connect("/station/socket", headers=OWN | headers):
            pass
    assert error.value.code == 1008
    assert hub.seats.listed() == ()


@pytest.mark.parametrize(
    ("name", "problem"),
    [("origin", "segtrack station: foreign origin"), ("host", "segtrack station: foreign host")],
)
@pytest.mark.parametrize("values", [("own", "evil"), ("evil", "own"), ("own", "own")])
def test_a_header_that_is_sent_twice_is_foreign(hub, name, problem, values):
    own, evil = (ORIGIN, "http://evil.example") if name == "origin" else (OWN["host"], "evil.example")
    headers = [("host", OWN["host"])] if name == "origin" else []
    headers += [(name, {"own": own, "evil": evil}[value]) for value in values]
    client = browser(hub)
    answer = client.get("/", headers=headers)
    assert (answer.status_code, answer.text) == (403, problem)
    with pytest.raises(WebSocketDisconnect) as error:
        client.websocket_connect("/station/socket", headers=httpx.Headers(headers)).__enter__()
    assert error.value.code == 1008


def test_the_token_is_shown_by_the_link_and_then_by_its_cookie(hub):
    client = browser(hub, token="secret")
    assert client.get("/").text == "segtrack station: no token"
    assert client.get("/?token=guess").status_code == 403
    with pytest.raises(WebSocketDisconnect):
        client.websocket_connect("/station/socket").__enter__()
    opened = client.get("//evil.example/?token=secret", follow_redirects=False)
    assert (opened.status_code, opened.headers["location"]) == (303, "/")
    assert "HttpOnly" in opened.headers["set-cookie"]
    assert client.get("/", headers={"cookie": f"{COOKIE}=guess; \0=;"}).text == "segtrack station: no token"
    client.cookies.set(COOKIE, "secret")
    assert client.get("/").text == "the page"
    with client.websocket_connect("/station/socket") as socket:
        socket.send_text(HELLO)
        assert socket.receive_json()["type"] == "welcome"


def test_no_other_site_shows_the_page_in_a_frame(hub):
    headers = browser(hub).get("/").headers
    assert (headers["x-frame-options"], headers["referrer-policy"]) == ("DENY", "no-referrer")


def test_another_site_links_to_the_page_alone(hub):
    headers = OWN | {"sec-fetch-site": "cross-site"} | LINK
    assert browser(hub).get("/station/report", headers=headers).text == FOREIGN


@pytest.mark.parametrize("path", ["/", f"/{5000 * 'a'}", f"/?{5000 * 'a'}"])
def test_a_refusal_ends_the_connection_and_a_flood_of_them_is_logged_once(hub, path, caplog):
    client = browser(hub, token="secret")
    answers = [client.post(path) for _ in range(5)]
    assert [(each.status_code, each.headers["connection"]) for each in answers] == [(403, "close")] * 5
    assert len(caplog.records) == 1 and len(caplog.text) < 400


def test_a_flood_of_pages_from_one_address_leaves_others_theirs(hub, monkeypatch):
    monkeypatch.setattr("segtrack.station.web.guard.PAGE_RATE", 0.0)
    first = browser(hub)
    there = TestClient(first.app, base_url=ORIGIN, headers=OWN, client=("10.0.0.2", 1))
    assert [first.get("/").status_code for _ in range(int(PAGE_BURST) + 1)][-1] == 429
    assert there.get("/").status_code == 200


def test_a_flood_of_pages_is_cut_and_takes_no_room_from_who_drives(hub, monkeypatch):
    monkeypatch.setattr("segtrack.station.web.guard.PAGE_RATE", 0.0)
    client = browser(hub)
    foreign = [client.get("/", headers={"sec-fetch-site": "cross-site"}).status_code for _ in range(9)]
    assert foreign == [403] * 9
    answers = [client.get(path) for path in ["/"] * int(PAGE_BURST) + ["/", "/nothing"]]
    assert [answer.status_code for answer in answers] == [200] * int(PAGE_BURST) + [429, 429]
    assert answers[-1].text == "segtrack station: too many pages are opened"
    with pytest.raises(WebSocketDisconnect):
        client.websocket_connect("/_nicegui_ws/socket.io/?EIO=4&transport=websocket").__enter__()
    assert client.get("/_nicegui/3/file.js").status_code == 404
    with client.websocket_connect("/station/socket") as socket:
        socket.send_text(HELLO)
        assert socket.receive_json()["role"] == "driver"


def test_a_flood_without_the_token_takes_no_page_from_who_has_it_at_the_same_address(hub, monkeypatch):
    monkeypatch.setattr("segtrack.station.web.guard.PAGE_RATE", 0.0)
    client = browser(hub, token="secret")
    assert {client.get(path).status_code for path in ["/", "/?token=guess"] * int(PAGE_BURST)} == {403}
    client.cookies.set(COOKIE, "secret")
    assert [client.get("/").status_code for _ in range(int(PAGE_BURST) + 1)] == [200] * int(PAGE_BURST) + [
        429
    ]


def test_onlookers_leave_room_for_a_driver_and_an_instructor(hub):
    for _ in range(MAX_ONLOOKERS):
        hub.join(protocol.Hello(name="Eve", role="onlooker"))
    client = browser(hub)
    with client.websocket_connect("/station/socket") as driver:
        driver.send_text(HELLO)
        assert driver.receive_json()["role"] == "driver"
        with client.websocket_connect("/station/socket") as refused:
            refused.send_text(HELLO)
            assert refused.receive_json() == {"type": "error", "what": "cannot join: 14 look on already"}
        with client.websocket_connect("/station/socket") as instructor:
            instructor.send_text(protocol.Hello(name="Ida", role="instructor").model_dump_json())
            assert instructor.receive_json()["role"] == "instructor"
    assert len(hub.crew.clients) == MAX_ONLOOKERS


def test_a_client_too_many_is_refused_and_the_driver_goes_on(hub, simulation):
    client = browser(hub)
    with client.websocket_connect("/station/socket") as driver:
        driver.send_text(HELLO)
        assert driver.receive_json()["role"] == "driver"
        others = [client.websocket_connect("/station/socket").__enter__() for _ in range(MAX_CLIENTS - 1)]
        with client.websocket_connect("/station/socket") as refused:
            assert refused.receive_json() == {"type": "error", "what": "there are 16 clients already"}
            with pytest.raises(WebSocketDisconnect):
                refused.receive_json()
        driver.send_text('{"type":"ping","time":5}')
        assert driver.receive_json()["time"] == 5
        for other in others:
            other.close()


@pytest.mark.parametrize("first", ["", "{", '{"type":"run","action":"start"}', "x" * 10_000])
def test_who_does_not_say_hello_is_sent_away(hub, simulation, first):
    before = list(simulation.orders)
    with browser(hub).websocket_connect("/station/socket") as socket:
        socket.send_text(first)
        assert socket.receive_json() == {"type": "error", "what": "no hello"}
    assert simulation.orders == before
    assert hub.seats.listed() == ()


def test_who_says_nothing_is_sent_away(hub, monkeypatch):
    monkeypatch.setattr("segtrack.station.web.app.HELLO_WITHIN", 0.05)
    with browser(hub).websocket_connect("/station/socket") as socket:
        assert socket.receive_json() == {"type": "error", "what": "no hello"}
    assert hub.seats.listed() == ()


def test_a_client_that_falls_silent_makes_room(hub, monkeypatch):
    monkeypatch.setattr("segtrack.station.web.app.HEARD_WITHIN", 0.3)
    with browser(hub).websocket_connect("/station/socket") as socket:
        socket.send_text(HELLO)
        for _ in range(3):  # Who says something stays.
            time.sleep(0.15)
            socket.send_text('{"type":"ping","time":5}')
        answers = [socket.receive_json() for _ in range(5)]
        assert [answer["type"] for answer in answers] == ["welcome", "pong", "pong", "pong", "error"]
        assert answers[-1]["what"] == "nothing was heard for 0.3 s"
        with pytest.raises(WebSocketDisconnect):
            socket.receive_json()
    assert hub.seats.listed() == ()


def test_a_hello_within_its_time_is_heard(hub, monkeypatch):
    monkeypatch.setattr("segtrack.station.web.app.HELLO_WITHIN", 1.0)
    with browser(hub).websocket_connect("/station/socket") as socket:
        time.sleep(0.2)
        socket.send_text(HELLO)
        assert socket.receive_json()["type"] == "welcome"
        time.sleep(1.0)  # It bounds the hello, not what comes after it.
        socket.send_text('{"type":"ping","time":5}')
        while (answer := socket.receive_json())["type"] != "pong":
            pass
        assert answer["time"] == 5


def strange(random):
    """A message that no page sends."""
    good = {
        "type": "controls",
        "seq": 1,
        "time": 0.0,
        "axes": [0.0] * 4,
        "buttons": [False] * 17,
        "keys": ["KeyW"],
        "touch": [0.0] * 4,
        "dead_man": True,
        "visible": True,
    }
    values = [
        None,
        True,
        -1,
        2**70,
        1e308,
        math.nan,
        math.inf,
        "",
        "KeyW",
        "\0",
        [],
        [[]] * 50,
        {},
        "x" * 9000,
    ]
    kinds = ["hello", "controls", "request", "configure", "run", "e_stop", "trial", "link", "replay", "ghost"]
    match random.randrange(6):
        case 0:
            return bytes(random.randrange(256) for _ in range(random.randrange(200))).decode("latin-1")
        case 1:
            return json.dumps(good)[: random.randrange(1, 200)]
        case 2:
            return json.dumps(good | {random.choice(list(good)): random.choice(values)})
        case 3:
            return json.dumps({"type": random.choice(kinds), "action": random.choice(values)})
        case 4:
            return json.dumps(random.choice(values))
        case _:
            return "[" * random.randrange(4000)


def bear(hub, simulation, count, seed):
    """Let an onlooker send strange messages while somebody drives; returns what was logged of them."""
    random_, client = random.Random(seed), browser(hub)
    with client.websocket_connect("/station/socket") as driver:
        driver.send_text(HELLO)
        driver.receive_json()
        orders, commands = len(simulation.orders), len(simulation.commands)
        seats = hub.seats.driver
        sent = 0
        while sent < count:
            with client.websocket_connect("/station/socket") as fuzzer:
                fuzzer.send_text(HELLO)
                fuzzer.receive_json()
                for _ in range(min(200, count - sent)):
                    message = strange(random_)
                    sent += 1
                    if random_.random() < 0.1:
                        fuzzer.send_bytes(message.encode())
                    else:
                        fuzzer.send_text(message)
                if random_.random() < 0.5:
                    fuzzer.send_text('{"type":"ping","time":1}')
        driver.send_text('{"type":"ping","time":7}')
        while (answer := driver.receive_json())["type"] != "pong":
            pass
        assert answer["time"] == 7
        assert hub.seats.driver == seats
        assert simulation.orders[orders:] == []
        assert simulation.commands[commands:] == []


def test_strange_messages_change_nothing_but_a_logged_line(hub, simulation, caplog):
    bear(hub, simulation, 300, seed=1)
    assert 1 <= len(caplog.records) <= 10
    assert all(record.getMessage().isprintable() for record in caplog.records)


@pytest.mark.slow
def test_ten_thousand_strange_messages_change_nothing(hub, simulation, caplog):
    bear(hub, simulation, 10_000, seed=2)
    assert len(caplog.records) <= 300


def test_messages_above_the_rate_are_dropped_unread_and_nobody_elses(hub, monkeypatch):
    monkeypatch.setattr("segtrack.station.web.app.MESSAGE_RATE", 0.0)
    client, taken, take = browser(hub), [], hub.take
    monkeypatch.setattr(hub, "take", lambda *given: (taken.append(given[0].name), take(*given)))
    with client.websocket_connect("/station/socket") as driver:
        driver.send_text(HELLO)
        driver.receive_json()
        with client.websocket_connect("/station/socket") as flood:
            flood.send_text(HELLO.replace("Ann", "Eve"))
            flood.receive_json()
            for _ in range(2 * round(MESSAGE_BURST)):
                flood.send_text('{"type":"ping","time":5}')
            while taken.count("Eve") < MESSAGE_BURST:
                flood.receive_json()
        driver.send_text('{"type":"ping","time":5}')
        assert driver.receive_json()["type"] == "pong"
    assert (taken.count("Eve"), taken.count("Ann")) == (MESSAGE_BURST, 1)
