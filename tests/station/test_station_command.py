"""`segtrack station`: mistakes on the command line, and addresses."""

import os
import signal
import socket
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

pytest.importorskip("nicegui", reason="of an extra")

from segtrack.cli.app import app
from segtrack.errors import InvalidValueError
from segtrack.station import StationOptions
from segtrack.station.serve import _origins


def run(*arguments):
    """Exit code and message, without line breaks."""
    done = CliRunner().invoke(app, ["station", "--no-browser", *arguments])
    return done.exit_code, " ".join(done.stderr.split())


def test_a_busy_port_is_an_error_of_one_line():
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        expected = f"segtrack: cannot listen on 127.0.0.1, port {port}: Address already in use"
        assert run("--port", str(port)) == (2, expected)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--host", "256.1.1.1"],
            "segtrack: cannot listen on 256.1.1.1, port 8080: Name or service not known",
        ),
        (["--port", "70000"], "segtrack: --port must be from 0, below 65536, got 70000"),
        (["--vehicle", "nothing", "--port", "0"], "segtrack: no vehicle 'nothing'; there are: "),
        (["--course", "nothing", "--port", "0"], "segtrack: no course 'nothing'; there are: "),
        (["--host", "0.0.0.0", "--port", "0"], "segtrack: --origin must be "),
        (["--folder", "/dev/null/x", "--port", "0"], "segtrack: cannot write to /dev/null/x/recordings: "),
    ],
)
def test_a_mistake_is_an_error_of_one_line(arguments, message, tmp_path):
    folder = [] if "--folder" in arguments else ["--folder", str(tmp_path)]
    code, said = run(*arguments, *folder)
    assert code == 2
    assert said.startswith(message)


def test_a_missing_package_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "nicegui", None)
    expected = 'segtrack: the station needs nicegui, which is not installed: pip install "segtrack[station]"'
    assert run() == (2, expected)


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="Ctrl-C is a signal to a group of processes")
@pytest.mark.parametrize("wait", [0.0, 1.0])
def test_ctrl_c_ends_both_processes_without_a_word_while_they_start(tmp_path, wait):
    arguments = ["station", "--no-browser", "--port", "0", "--folder", str(tmp_path)]
    code = "import sys; from segtrack.cli.app import app; app(sys.argv[1:])"
    station = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert "http://127.0.0.1:" in station.stderr.readline()  # The simulation is still importing.
    time.sleep(wait)
    os.killpg(station.pid, signal.SIGINT)
    _, errors = station.communicate(timeout=30.0)
    assert "Traceback" not in errors
    assert station.returncode in (0, 130)
    with pytest.raises(ProcessLookupError):  # Nobody of the group is left, as soon as all have ended.
        for _ in range(100):
            os.killpg(station.pid, 0)
            time.sleep(0.05)


def options(host, *origins):
    return StationOptions(host, 0, origins, None, None, None)


def test_a_station_is_opened_under_its_own_address_and_the_origins_given():
    own = ["http://127.0.0.1:80", "http://localhost:80", "http://[::1]:80"]
    assert _origins(options("127.0.0.1"), 80) == own
    assert _origins(options("localhost"), 80) == [own[1], own[0], own[2]]
    assert _origins(options("127.0.0.2"), 80) == ["http://127.0.0.2:80", *own]
    assert _origins(options("0::1", "https://Robots.Example"), 80) == [
        own[2],
        *own[:2],
        "https://robots.example",
    ]
    assert _origins(options("10.0.0.5", "https://a"), 80) == ["http://10.0.0.5:80", "https://a"]
    assert _origins(options("fe80::1"), 80) == ["http://[fe80::1]:80"]
    assert _origins(options("0.0.0.0", "http://a:80"), 80) == ["http://a:80"]
    for wrong in ("a:80", "ftp://a", "http://a/path", "http://"):
        with pytest.raises(InvalidValueError):
            _origins(options("127.0.0.1", wrong), 80)


TWO_STATIONS = """
import asyncio, os, sys
from pathlib import Path
from segtrack.errors import FileAccessError, NotReadyError
from segtrack.station.serve import Station, StationOptions, listen

with listen("127.0.0.1", 0) as first, listen("127.0.0.1", 0) as second:
    named = StationOptions("127.0.0.1", 0, (), None, None, Path(sys.argv[1]))
    station = Station(named, first)
    try:
        Station(named, second)
    except FileAccessError as error:
        print(error)
    finally:
        station.close()
    try:
        asyncio.run(station.hub.reports.draw(os.getpid))
    except NotReadyError as error:
        print(error)
"""


def test_two_stations_share_no_folder_and_one_that_ended_draws_no_report(tmp_path):
    """In a process of its own: NiceGUI serves one application a process, and this one may have had it."""
    done = subprocess.run([sys.executable, "-c", TWO_STATIONS, str(tmp_path)], capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        f"cannot use {tmp_path}: another station does: give --folder",
        "cannot draw the report: the station ends",
    ], done
