"""The operator's page against the whole station: a course driven to its score, replay, views, and times."""

import base64
import contextlib
import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip("nicegui", reason='needs NiceGUI: pip install "segtrack[station]"')

from browser import PATIENCE  # noqa: E402
from fake_station import FakeStation  # noqa: E402
from test_station_page import LAPTOP, STATION, TABLET, open_page, says  # noqa: E402

SHORT = """
title: There and back
description: A metre ahead, and back.
vehicle: quince
lanes:
  - width: 2.4
    walls: {height: 0.3}
    pieces:
      - flat: {length: 2.0}
        name: near
      - flat: {length: 2.0}
        name: far
gates: [{piece: far}, {piece: near}]
"""


@contextlib.contextmanager
def whole_station(folder, *arguments):
    """The address of a station in processes of its own."""
    program = [sys.executable, "-c", "from segtrack.cli import main; main()", "station"]
    options = ["--port", "0", "--no-browser", "--folder", str(folder)]
    with subprocess.Popen([*program, *options, *arguments], stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            yield next(word for line in process.stderr for word in line.split() if word.startswith("http"))
        finally:
            process.terminate()


class Address:
    def __init__(self, url):
        self.url = url


@pytest.mark.real_time
def test_a_course_is_driven_by_keys_scored_and_replayed(browser, tmp_path):
    course = tmp_path / "there-and-back.yaml"
    course.write_text(SHORT)
    with whole_station(tmp_path / "folder", "--course", str(course)) as url:
        page = open_page(browser, Address(url), in_real_time=True)
        says(page, "Ready")
        page.get_by_role("button", name="Start").click()
        says(page, "You drive")
        page.get_by_role("tab", name="Trial").click()
        page.get_by_role("button", name="Begin", exact=True).click()
        says(page, "You drive: trial")
        trial = {"over": False}
        for lap in range(40):  # Those in which a busy machine was slower than real time are void.
            for key, gate in (("KeyW", 1), ("KeyS", 0)):
                page.keyboard.down(key)
                wanted = (
                    "trial && (trial.next_gate === gate && trial.done + trial.void === laps || trial.over)"
                )
                page.wait_for_function(
                    f"([gate, laps]) => {{ const {{ trial }} = {STATION}.status; return {wanted}; }}",
                    arg=[gate, lap + (gate == 0)],
                )
                page.keyboard.up(key)
            trial = page.evaluate(f"{STATION}.status.trial")
            if trial["over"]:
                break
        outcome = (trial["over"], trial["passed"], trial["done"], trial["failures"])
        assert outcome == (True, True, 10, 0), trial["events"]
        assert trial["rate"] > 5
        clock = page.evaluate(f"{STATION}.state.trialClock")
        page.wait_for_function(f"{STATION}.status.recordings.length == 2")
        page.get_by_role("tab", name="Replay").click()
        page.get_by_label("Recording").click()
        page.get_by_role("option").first.click()
        page.get_by_role("button", name="Open").click()
        page.get_by_role("button", name="Play", exact=True).click()
        page.wait_for_function(f"{STATION}.status.replay?.time > 1")
        replay = page.evaluate(f"{STATION}.status.replay")
        assert replay["name"] == page.evaluate(f"{STATION}.status.recordings[0]")
        assert replay["duration"] == pytest.approx(clock, abs=0.1)  # Of the trial, and no longer.


VIEWS = ("chase", "front", "rear", "overhead", "free")


@pytest.mark.slow
@pytest.mark.parametrize("track_model", ["compliant", "chain"])
def test_each_view_shows_the_vehicle(browser, tmp_path, track_model):
    """In dark and light, beside the same picture without it; the pictures are kept in the test's folder."""
    station = FakeStation(tmp_path, track_model=track_model)
    try:
        for scheme in ("light", "dark"):
            page = open_page(browser, station, color_scheme=scheme)
            for view in VIEWS:
                page.evaluate(f"view => {{ {STATION}.main = view }}", view)
                with_it, without_it = (
                    picture_of(page, visible, tmp_path / f"{view}-{scheme}-{track_model}-{visible}.png")
                    for visible in (True, False)
                )
                share = np.mean(np.any(abs(with_it - without_it) > 8, axis=-1))
                assert share > 0.01, (view, scheme)
            page.context.close()
    finally:
        station.close()


def picture_of(page, visible, path):
    """Pixels of the main view, three frames after the vehicle was shown or hidden in it."""
    from PIL import Image

    picture = page.evaluate(
        f"""async (visible) => {{
          const {{ view, $el: root }} = {STATION};
          view.vehicle.object.visible = visible;
          return await new Promise((drawn) => {{
            let frames = 0;
            root.addEventListener("drawn", function last() {{
              if (++frames < 3) return;
              root.removeEventListener("drawn", last);
              drawn(view.canvas.toDataURL()); // A frame later the canvas need not hold it.
            }});
          }});
        }}""",
        visible,
    )
    path.write_bytes(base64.b64decode(picture.partition(",")[2]))
    return np.asarray(Image.open(path).convert("RGB").resize((960, 540))).astype(int)


MEASURE = """() => {
  const root = document.querySelector(".st-station"), delays = [], shown = [];
  let frames = 0, pressed = null;
  addEventListener("keydown", (event) => { pressed ??= event.timeStamp; }, true);
  root.addEventListener("drawn", ({ detail }) => {
    frames++;
    if (pressed === null || detail.clientTime < pressed) return;
    const since = pressed;
    requestAnimationFrame(() => {
      delays.push(detail.drawn - since);
      shown.push(performance.now() - since);
    });
    pressed = null;
  });
  const started = performance.now();
  return () => ({ delays, shown, rate: (1000 * frames) / (performance.now() - started) });
}"""


@pytest.mark.real_time
@pytest.mark.parametrize(
    "size", [{"width": 640, "height": 360}, LAPTOP, TABLET], ids=["small", "laptop", "tablet"]
)
def test_time_from_key_to_drawn_scene(browser, tmp_path, size):
    """Prints what it measures, which on a busy machine is no limit to anything."""
    with whole_station(tmp_path, "--course", "inclined-plane") as url:
        page = open_page(browser, Address(url), in_real_time=True, viewport=size)
        says(page, "Ready")
        page.evaluate(f"{STATION}.panel = false")
        page.get_by_role("button", name="Start").click()
        says(page, "You drive")
        page.evaluate(f"window.measured = ({MEASURE})()")
        end = time.monotonic() + PATIENCE
        while len((measured := page.evaluate("window.measured()"))["shown"]) < 40:
            assert time.monotonic() < end, measured
            page.keyboard.press("KeyX", delay=60)
            time.sleep(0.11)
        shares = page.evaluate(f"[{STATION}.state.realTimeFactor, {STATION}.view.ratio]")
    drawn, shown = (np.percentile(measured[name], [50, 95]) for name in ("delays", "shown"))
    sys.stdout.write(
        f"\n{size['width']} x {size['height']} at pixel ratio {shares[1]:g}, {len(measured['shown'])} keys:\n"
        f"key to drawn scene {drawn[0]:.0f} ms, 95 % {drawn[1]:.0f} ms; to the browser's next frame "
        f"{shown[0]:.0f} ms, 95 % {shown[1]:.0f} ms; {measured['rate']:.1f} frames a second; "
        f"real-time factor {shares[0]:.2f}\n"
    )
    assert all(0 < at <= seen for at, seen in zip(measured["delays"], measured["shown"], strict=True))
