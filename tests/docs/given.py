"""What readers of a page have already, or do between its blocks of Python."""

from __future__ import annotations

import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from segtrack import World
    from segtrack.logs import Motion

LONGEST = 600
"""Time after which a command counts as one that does not end [s]: no page may wait for Ctrl-C."""
INTERRUPTED = 130
"""Exit status after Ctrl-C."""
NEEDED = 77
"""Exit status of a page that needs a package which is not installed."""


def need(package: str) -> None:
    """End the page where a package is missing."""
    if find_spec(package) is None:
        sys.stderr.write(f"needs {package}\n")
        sys.exit(NEEDED)


def file(name: str, text: str) -> None:
    """Write a file of the page."""
    Path(name).write_text(text, encoding="utf-8")


def command(line: str) -> None:
    """Run a command line as a shell would, and end the page with its message if it fails."""
    if line.startswith("segtrack station") and "--measure" not in line and "--help" not in line:
        _serve(line)
        return
    done = subprocess.run(shlex.split(line), capture_output=True, text=True, timeout=LONGEST)
    said = f"{done.stdout[-2000:]}\n{done.stderr}"
    assert done.returncode == 0, f"{line}: exit status {done.returncode}\n{said}"


def _serve(line: str) -> None:
    """Run a station, on any free port, until it says where its page is; Ctrl-C ends it."""
    call = [*shlex.split(line), "--no-browser", "--port", "0", "--folder", "."]
    with subprocess.Popen(call, stderr=subprocess.PIPE, text=True) as station:
        limit = threading.Timer(LONGEST, station.kill)
        limit.start()
        said = ""
        for text in station.stderr:  # type: ignore[union-attr]
            said += text
            if "Ctrl-C ends it" in text:
                station.send_signal(signal.SIGINT)
        status = station.wait()
        limit.cancel()
        assert "Ctrl-C ends it" in said, f"{line}: {said}"
        assert status in (0, INTERRUPTED), f"{line}: exit status {status}\n{said}"


def vehicle(name: str, like: str = "example_rover") -> None:
    """Write a vehicle file of one's own, with the URDF and the meshes that it names."""
    import segtrack.urdf

    for part in (Path(segtrack.urdf.__path__[0]) / like).iterdir():
        shutil.copy(part, name if part.name == f"{like}.yaml" else part.name)


def bag(name: str) -> None:
    """Write a log with odometry and joint states; the suffix says which kind."""
    from log_files import write_file

    with tempfile.TemporaryDirectory() as folder:
        kind = {".bag": "bag", ".mcap": "mcap"}[Path(name).suffix]
        shutil.copy(write_file(Path(folder), kind), name)


def step_file(name: str) -> None:
    """Write a terrain file."""
    file(name, "terrain: [{step: {height: 0.12, length: 3.0}, place: {x: 1.0}, width: 2.4}]\n")


def motion() -> Motion:
    """Return the logged motion of a vehicle that drives at a step."""
    from simulated_logs import climb, step

    return climb("quince", step(0.12), way=0.1, seconds=2.0)


def mapped_table(table: str, mapping: str) -> None:
    """Write a log as a table, and its mapping."""
    rows = "".join(f"{0.01 * i:.2f},{0.001 * i:.3f}\n" for i in range(200))
    file(table, f"time [s],pitch\n{rows}")
    file(mapping, "vehicle: quince\nquantities:\n  pitch: {channel: pitch, unit: rad, positive: nose up}\n")


def two_sources() -> tuple[Motion, Motion]:
    """Return the same turning seen by a motion capture system and by a gyroscope with a clock of its own."""
    import numpy as np
    from scipy.spatial.transform import Rotation

    from segtrack.logs import Motion, Signal

    times = np.arange(0.0, 20.0, 0.01)
    random = np.random.default_rng(5)
    yaw, pitch = (np.convolve(random.normal(size=2400), np.hanning(401), "valid")[:2000] for _ in range(2))
    yaw, pitch = 0.1 * yaw, 0.02 * pitch
    attitude = Rotation.from_euler("ZY", np.stack([yaw, pitch], axis=1))
    rates = (attitude[:-1].inv() * attitude[1:]).as_rotvec() / 0.01
    return (
        Motion("mocap", {"orientation": Signal(times, attitude.as_quat(), source="mocap")}),
        Motion("imu", {"angular_velocity": Signal(times[:-1] + 0.305, rates, source="imu")}),
    )


def world() -> World:
    """Return a world of the native engine with level ground."""
    from segtrack import World, terrain

    made = World(engine="native")
    made.add_terrain(terrain.Plane())
    return made
