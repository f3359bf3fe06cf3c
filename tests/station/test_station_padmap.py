"""Gamepads of three layouts, mapped by a scripted person that moves what the page asks for."""

import json

import pytest

pytest.importorskip("nicegui", reason='needs NiceGUI: pip install "segtrack[station]"')

from browser import until  # noqa: E402
from fake_station import FakeStation  # noqa: E402
from test_station_page import STATION, open_page  # noqa: E402

ASKED = (
    "left stick right", "left stick down", "right stick right", "right stick down",
    "A", "B", "LB", "RB", "LT", "RT", "Back", "Start", "D-pad up", "D-pad down",
    "D-pad left", "D-pad right", "X", "Y", "left stick pressed", "right stick pressed",
)  # fmt: skip
HAT_REST = 23 / 7
DIRECT_INPUT = {
    "rest": [0, 0, 0, 0, 0, 0, 0, 0, 0, HAT_REST],
    "buttons": 12,
    "does": {
        "left stick right": (0, 1), "left stick down": (1, 1), "right stick right": (2, 1),
        "right stick down": (5, 1), "A": 2, "B": 1, "LB": 4, "RB": 5, "LT": 6, "RT": 7, "Back": 8, "Start": 9,
        "D-pad up": (9, -1.0), "D-pad down": (9, 1 / 7), "D-pad left": (9, 5 / 7), "D-pad right": (9, -3 / 7),
        "X": 0, "Y": 3, "left stick pressed": 10, "right stick pressed": 11,
    },
}  # fmt: skip
TRIGGER_AXES = {
    "rest": [0.08, -0.05, -1, 0.06, 0.08, -1, 0, 0],
    "buttons": 11,
    "does": {
        "left stick right": (0, 0.95), "left stick down": (1, 0.9), "right stick right": (3, 1),
        "right stick down": (4, 1), "A": 0, "B": 1, "LB": 4, "RB": 5, "LT": (2, 1), "RT": (5, 1),
        "Back": 6, "Start": 7, "D-pad up": (7, -1), "D-pad down": (7, 1), "D-pad left": (6, -1),
        "D-pad right": (6, 1), "Y": 3, "left stick pressed": 9, "right stick pressed": 10,
    },
}  # fmt: skip
LAYOUTS = {"direct input": DIRECT_INPUT, "axes for triggers": TRIGGER_AXES}


@pytest.fixture(scope="module")
def station(tmp_path_factory):
    station = FakeStation(tmp_path_factory.mktemp("station"))
    yield station
    station.close()


def hold(page, name, layout, *functions, mapping=""):
    """Let a pad of a layout hold what does some functions."""
    axes, pressed = list(layout["rest"]), [False] * layout["buttons"]
    for function in functions:
        does = layout["does"][function]
        if isinstance(does, tuple):
            axes[does[0]] = does[1]
        else:
            pressed[does] = True
    page.evaluate(
        """([id, mapping, axes, pressed]) => {
          const buttons = pressed.map((held) => ({ pressed: held, value: Number(held) }));
          window.pads = [{ id, index: 0, connected: true, mapping, axes, buttons }];
        }""",
        [name, mapping, axes, pressed],
    )


def asks(page, task):
    """Wait until the page asks for something."""
    page.wait_for_function(
        "task => document.querySelector('.st-padmap strong')?.textContent.endsWith(task)", arg=task
    )


def rests(page):
    """Wait until the page has read the pad at rest: whatever it is held in acts from then on."""
    page.wait_for_function(
        f"(({{ pad, waits }}) => pad === window.pads[0] && !waits.includes(true))({STATION}.inputs.pad)"
    )


@pytest.mark.parametrize(
    ("name", "with_camera"), [("direct input", True), ("direct input", False), ("axes for triggers", True)]
)
def test_any_pad_is_mapped_by_moving_what_is_asked_for(browser, station, name, with_camera):
    layout = LAYOUTS[name]
    page = open_page(browser, station)
    page.wait_for_function(f"{STATION}.drives")
    hold(page, name, layout)
    page.get_by_role("tab", name="Keys").click()
    page.get_by_role("button", name="Map the gamepad").click()
    begun = page.evaluate("performance.now()")
    until(lambda: begun < station.controls.time <= page.evaluate("performance.now()"))  # Not those of before.
    for function in ASKED if with_camera else ASKED[: ASKED.index("D-pad left")]:
        asks(page, f"{function}, and let go")
        if function == "B":
            assert page.get_by_role("button", name="It has none").is_disabled()
        if function not in layout["does"]:
            page.get_by_role("button", name="It has none").click()
            continue
        hold(page, name, layout, function)
        asks(page, f"Let go: {function}")
        assert not any(station.controls.buttons) and not any(station.controls.axes)
        hold(page, name, layout)
    if not with_camera:
        page.get_by_role("button", name="Without the camera").click()
    page.get_by_role("button", name="Forget its map").wait_for()
    for reloaded in (False, True):
        if reloaded:
            page.reload()
            page.wait_for_function(f"{STATION}.drives")
        hold(page, name, layout)
        rests(page)
        hold(
            page,
            name,
            layout,
            "LT",
            "left stick down",
            "right stick right",
            "D-pad up",
            "right stick pressed",
        )
        until(lambda: station.controls.buttons[6])
        controls = station.controls
        pressed = [number for number, held in enumerate(controls.buttons) if held]
        assert pressed == ([6, 11, 12] if with_camera else [6, 12])
        assert controls.axes == pytest.approx((0, 1, 1, 0), abs=1e-6)
    assert not page.complaints


def test_a_standard_pad_needs_no_map_and_a_damaged_one_is_ignored(browser, station):
    page = open_page(browser, station)
    page.wait_for_function(f"{STATION}.drives")
    does = {"LT": 6, "left stick down": (1, 0.7)}
    layout = {"rest": [0, 0, 0, 0], "buttons": 17, "does": does}
    button = {"button": 3}
    unsafe = [
        [button] * 13,
        [button] * 21,
        [*[button] * 5, None, *[button] * 8],
        [*[button] * 8, None, None, *[button] * 4],
    ]
    for kept in (
        "null",
        "{",
        "[]",
        "[1, 2]",
        '[{"axis": 0, "rest": 0, "reach": 0}]',
        *map(json.dumps, unsafe),
    ):
        page.evaluate("kept => localStorage.setItem('segtrack-pad-standard', kept)", kept)
        page.reload()
        page.wait_for_function(f"{STATION}.drives")
        hold(page, "standard", layout, mapping="standard")
        rests(page)
        hold(page, "standard", layout, "LT", "left stick down", mapping="standard")
        until(lambda: station.controls.buttons[6])
        assert station.controls.axes == pytest.approx((0, 0.7, 0, 0))
    assert not page.complaints


def test_a_pad_that_is_unplugged_while_it_is_mapped_keeps_its_map_of_before(browser, station):
    page = open_page(browser, station)
    page.wait_for_function(f"{STATION}.drives")
    before = json.dumps([{"button": number} for number in range(14)])
    page.evaluate("before => localStorage.setItem('segtrack-pad-direct input', before)", before)
    hold(page, "direct input", DIRECT_INPUT)
    page.get_by_role("tab", name="Keys").click()
    page.get_by_role("button", name="Forget its map").wait_for()  # It is a good one.
    page.get_by_role("button", name="Map the gamepad").click()
    page.locator(".st-padmap strong").wait_for()
    page.evaluate("window.pads = []")
    page.get_by_text("No gamepad").wait_for()
    page.locator(".st-padmap strong").wait_for(state="detached")
    assert page.evaluate("localStorage.getItem('segtrack-pad-direct input')") == before
    assert not page.complaints


def test_what_is_held_is_told_once_it_stands_still_and_is_nobody_elses(browser, station):
    """After readings: whether it may be let go, whether it is another's, and what was taken."""
    page = open_page(browser, station)
    found = page.evaluate(
        """async () => {
          const { Mapper } = await import("segtrack-station/padmap.js");
          const pad = ([x, y = 0, hat = 3], ...held) =>
            ({ id: "p", axes: [x, y, hat], buttons: [0, 1, 2].map((i) => ({ pressed: held.includes(i) })) });
          const mapper = new Mapper(pad([0]));
          const told = [];
          const read = (...each) => {
            for (const held of each) mapper.look(pad(...held));
            const named = ({ axis, reach, button }) => [axis ?? "button", reach ?? button];
            told.push([mapper.isFound, mapper.isOthers, mapper.map.filter(Boolean).map(named)]);
          };
          const x = (...values) => values.map((value) => [[value]]);
          read(...x(0.55, 0.64, 0.73, 0.82, 0.91, 1, 1)); // It has moved until just now
          read(...x(1));
          read([[0.6, 0.8]], [[0]]); // A side of the way back
          read([[0.6, 0.55]], [[-1, 1]], [[-1, 1]], [[-1, 1]], [[-1, 1]]); // Askew
          read([[0]]);
          while (mapper.wanted.name !== "A") mapper.map.push(null);
          const button = [[0], 1];
          read(button, button, button, button, [[0]]);
          read(button, button, button, button);
          read([[0]]);
          while (mapper.wanted.name !== "D-pad up") mapper.map.push(null);
          read([[0, 0, -0.7]], ...Array(4).fill([[0, 0, -0.4]])); // Up and right, then right alone
          read([[0, 0, -0.7]], [[0, 0, 3]]);
          return told;
        }"""
    )
    first, second, button, hat = [0, 1], [1, 1], ["button", 1], [2, -0.4]
    assert found == [
        [False, False, []],
        [True, False, []],
        [False, False, [first]],
        [True, False, [first]],
        [False, False, [first, second]],
        [False, False, [first, second, button]],
        [False, True, [first, second, button]],
        [False, False, [first, second, button]],
        [True, False, [first, second, button]],
        [False, False, [first, second, button, hat]],
    ]


def test_a_stick_that_leans_is_no_button(browser, station):
    """Pressed, a stick leans to some side, for which it is not taken."""
    page = open_page(browser, station)
    found = page.evaluate(
        """async () => {
          const { FUNCTIONS, Mapper } = await import("segtrack-station/padmap.js");
          const pad = (axes, pressed) => ({
            id: "p", axes, buttons: [...Array(17).keys()].map((i) => ({ pressed: i === pressed })),
          });
          const mapper = new Mapper(pad([0, 0, 0, 0], null));
          const hold = (axes, pressed) => {
            for (let i = 0; i < 6; i++) mapper.look(pad(axes, pressed));
            mapper.look(pad([0, 0, 0, 0], null));
          };
          for (const { axis, button } of FUNCTIONS.slice(0, -2))
            hold([0, 1, 2, 3].map((i) => Number(i === axis)), axis === undefined ? button : null);
          hold([0, -0.9, 0, 0], null);
          const before = mapper.wanted.name;
          hold([0, -0.9, 0, 0], 10);
          return [before, mapper.map.at(-1)];
        }"""
    )
    assert found == ["left stick pressed", {"button": 10}]
