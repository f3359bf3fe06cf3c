"""A vehicle driven in a window: events of a keyboard and a pad without either, on a display that is none."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from segtrack.cli.app import app
from segtrack.courses import Pace
from segtrack.recording import TICK, Command, DriveSession, DriveSetup

SETUP = DriveSetup(vehicle="quince", course="okada-step", time_step=0.002)


@pytest.fixture
def pygame(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    return pytest.importorskip("pygame", reason="of the extra drive")


@pytest.fixture(scope="module")
def session():
    with DriveSession(SETUP) as session:
        yield session


@pytest.fixture
def window(pygame, session):
    from segtrack.station.window import DriveWindow

    session.restart()
    with DriveWindow(session) as window:
        pygame.event.clear()
        window.tick()  # With nothing held: what is held from the first moves nothing.
        session.restart()
        yield window


class Hands:
    """An operator at the window's keyboard and pad."""

    def __init__(self, pygame, window):
        self.pygame, self.window = pygame, window

    def send(self, kind, **values):
        self.pygame.event.post(self.pygame.event.Event(getattr(self.pygame, kind), values))

    def key(self, name, down=True):
        key = getattr(self.pygame, f"K_{name}")
        scancode = getattr(self.pygame, f"KSCAN_{name.upper()}")
        self.send("KEYDOWN" if down else "KEYUP", key=key, scancode=scancode)

    def axis(self, name, value):
        axis = getattr(self.pygame, f"CONTROLLER_AXIS_{name}")
        self.send("CONTROLLERAXISMOTION", axis=axis, value=round(32767 * value))

    def button(self, name, down=True):
        button = getattr(self.pygame, f"CONTROLLER_BUTTON_{name}")
        self.send("CONTROLLERBUTTONDOWN" if down else "CONTROLLERBUTTONUP", button=button)

    def wait(self, ticks=1):
        for _ in range(ticks):
            self.window.tick()
        return self.window.session.command


@pytest.fixture
def hands(pygame, window):
    return Hands(pygame, window)


def at_rest(command):
    return (command.left, command.right, any(command.flipper_speeds.values()), command.flatten) == (
        0.0,
        0.0,
        False,
        False,
    )


def test_key_down_drives_and_key_up_stops(hands, session):
    began = session.robot.state.position[0]
    hands.key("w")
    assert hands.wait(100).left == pytest.approx(0.5)
    assert session.robot.state.position[0] > began + 0.2
    hands.key("w", down=False)
    assert at_rest(hands.wait())
    hands.wait(50)
    assert abs(session.robot.tracks["left"].speed) < 1e-3


def test_arrows_and_letters_are_two_ways_to_one_thing(hands):
    hands.key("LEFT")
    command = hands.wait(100)
    assert (command.left, command.right) == pytest.approx((-0.25, 0.25))
    hands.key("LEFT", down=False)
    hands.key("e")
    assert hands.wait().flipper_speeds["front_left"] == -1.0


def test_pad_drives_while_its_dead_man_is_held(hands):
    hands.axis("LEFTY", -1.0)
    assert at_rest(hands.wait())
    hands.axis("TRIGGERRIGHT", 1.0)
    assert hands.wait().left == 0.5
    hands.axis("TRIGGERRIGHT", 0.2)
    assert at_rest(hands.wait())


def test_pad_turns_the_chosen_flippers(hands, session):
    hands.axis("TRIGGERLEFT", 1.0)
    hands.button("RIGHTSHOULDER")
    hands.button("DPAD_UP")
    assert hands.wait(50).flipper_speeds["rear_left"] == 0.0
    assert session.robot.flippers["front_left"].angle == pytest.approx(0.5, abs=0.05)
    hands.button("DPAD_UP", down=False)
    hands.button("A")
    assert hands.wait(80).flatten
    assert session.robot.flippers["front_left"].angle == pytest.approx(0.0, abs=0.02)


@pytest.mark.parametrize("lost", ["WINDOWFOCUSLOST", "CONTROLLERDEVICEREMOVED"])
def test_lost_pad_and_lost_focus_let_all_go(hands, lost):
    hands.key("w")
    hands.axis("TRIGGERLEFT", 1.0)
    hands.axis("LEFTY", -1.0)
    assert hands.wait().left > 0
    hands.send(lost, instance_id=0)
    assert at_rest(hands.wait())
    hands.send("WINDOWFOCUSGAINED")
    assert at_rest(hands.wait())
    hands.key("w")
    assert hands.wait().left > 0


def test_emergency_stop_latches_and_is_said(hands, window, session):
    from segtrack.station.window.loop import hud_lines

    def said():
        return hud_lines(session, window.mapper, Pace(2.0, 2.0), focused=True)[2:]

    hands.key("w")
    hands.key("SPACE")
    assert at_rest(hands.wait())
    hands.key("SPACE", down=False)
    assert at_rest(hands.wait())
    assert said() == ["EMERGENCY STOP (Enter or Start releases it)"]
    hands.key("RETURN")
    assert at_rest(hands.wait())
    assert said() == ["let go of everything before driving on"]
    hands.key("RETURN", down=False)
    hands.key("w", down=False)
    hands.wait()
    assert said() == []
    hands.key("w")
    assert hands.wait().left > 0


def test_hud_says_how_the_vehicle_is(pygame, session):
    from segtrack.station.inputs import Controls, InputMapper
    from segtrack.station.window.loop import hud_lines

    session.restart()
    for flipper in session.robot.flippers.values():
        flipper.place(math.radians(30))
    mapper = InputMapper(session.robot.description)
    mapper.update(Controls(), 0.0)
    state, flippers, *warnings = hud_lines(session, mapper, Pace(1.0, 2.0), focused=False)
    assert "left +0.00 m/s, slip +0.00" in state
    assert flippers == "   ".join(f"{name} +30 deg" for name in session.robot.flippers)
    assert warnings == ["another window has the keys", "slow: real-time factor 0.50"]


def test_window_shows_pictures_and_closes(hands, window, pygame):
    window.draw()
    before = pygame.surfarray.array3d(pygame.display.get_surface())
    hands.key("TAB")
    hands.wait()
    window.draw()
    assert (before != pygame.surfarray.array3d(pygame.display.get_surface())).mean() > 0.2
    hands.key("ESCAPE")
    window.run()
    assert window.closed


def test_run_is_paced_and_ends(window, session):
    import time

    first, began = session.tick, time.perf_counter()
    window.run(0.3)
    assert session.tick - first == 30
    assert time.perf_counter() - began >= 0.3 - TICK


def test_back_to_the_start_is_to_the_bit(hands, session):
    start = session.robot.state
    hands.key("w")
    hands.wait(30)
    hands.key("w", down=False)
    hands.key("BACKSPACE")
    hands.send("WINDOWFOCUSLOST")
    for event in hands.pygame.event.get():
        hands.window._take(event)
    assert session.robot.state == start
    assert session.command == Command()


def test_help_names_the_window_s_keys(pygame):
    from segtrack.station.window import window_help

    assert window_help(flippers=False).splitlines()[-3:] == [
        "window    Tab        look from elsewhere",
        "window    Backspace  back to the start",
        "window    Escape     close the window",
    ]


def test_manual_says_what_the_help_says(pygame):
    from segtrack.station.window import window_help

    manual = Path(__file__).parents[2] / "docs" / "topics" / "station-page.md"
    assert window_help(flippers=True) in manual.read_text("utf-8")


def test_command_drives_for_so_many_seconds(pygame):
    done = CliRunner().invoke(app, ["drive", "packbot", "--seconds", "0.2"])
    assert done.exit_code == 0, done.output
    assert "0.2 s driven" in done.output
    assert "flippers" not in done.output


def test_window_beside_pybullet_s_takes_the_keys(pygame):
    """With a client that shows nothing in place of PyBullet's window."""
    pytest.importorskip("pybullet")
    from segtrack.station.window import DriveWindow

    setup = DriveSetup(vehicle="packbot", course="okada-step", engine="pybullet", track_model="compliant")
    with DriveSession(setup) as session, DriveWindow(session, gui=True) as window:
        hands = Hands(pygame, window)
        hands.wait()
        hands.key("w")
        hands.key("TAB")
        assert hands.wait(5).left > 0
        window.draw()
        screen = pygame.display.get_surface()
        assert screen.get_size() == (960, 120)
        assert len(np.unique(pygame.surfarray.array3d(screen).reshape(-1, 3), axis=0)) > 2


def test_window_of_pybullet_needs_pybullet_s_engine(pygame):
    done = CliRunner().invoke(app, ["drive", "quince", "--gui", "--engine", "native"])
    assert done.exit_code == 2
    assert done.output == "segtrack: engine for a window must be pybullet, got 'native'\n"


def test_missing_display_is_one_clear_error(pygame, monkeypatch):
    for name in ("SDL_VIDEODRIVER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    pygame.display.init()
    windowless = pygame.display.get_driver() in ("offscreen", "dummy")
    pygame.quit()
    if not windowless:
        pytest.skip("this machine shows windows without being told where")
    done = CliRunner().invoke(app, ["drive", "quince", "--seconds", "0.1"])
    assert done.exit_code == 2
    assert done.output == "segtrack: a window needs a display, and there is none\n"


def test_unknown_driver_of_displays_is_one_clear_error(pygame, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "nope")
    done = CliRunner().invoke(app, ["drive", "quince", "--seconds", "0.1"])
    assert done.exit_code == 2
    assert done.output.startswith("segtrack: a window needs a display: nope not available")


def test_missing_pygame_is_one_clear_error(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygame", None)
    done = CliRunner().invoke(app, ["drive", "quince"])
    assert done.exit_code == 2
    expected = 'a window to drive in needs pygame-ce, which is not installed: pip install "segtrack[drive]"'
    assert done.output == f"segtrack: {expected}\n"
