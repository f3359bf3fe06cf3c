"""Chromium, headless, for tests of pages; skips where it or playwright is missing."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright import sync_api

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--no-first-run",
)
PATIENCE = 60.0
"""Time after which a test waits in vain [s], however busy the machine; no limit to what is tested."""
PADS = "window.pads = []; navigator.getGamepads = () => window.pads;"
"""Replaces the gamepads of a page by `window.pads`."""
SELDOM = """{
  const [ask, cancel] = [requestAnimationFrame.bind(window), cancelAnimationFrame.bind(window)];
  const asked = new Map();
  let number = 0;
  window.requestAnimationFrame = (draw) => {
    const id = ++number, each = {};
    asked.set(id, each);
    each.timer = setTimeout(() => (each.frame = ask((now) => asked.delete(id) && draw(now))), 100);
    return id;
  };
  window.cancelAnimationFrame = (id) => {
    clearTimeout(asked.get(id)?.timer);
    cancel(asked.get(id)?.frame);
    asked.delete(id);
  };
}"""
"""Lets a page draw less than ten times a second: drawing takes the processor from the tests."""


@contextmanager
def chromium() -> Iterator[sync_api.Browser]:
    """A browser; $CHROMIUM names one that is not on the path."""
    driver = pytest.importorskip(
        "playwright.sync_api", reason='needs playwright: pip install "segtrack[browser]"'
    )
    executable = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if executable is None:
        pytest.skip("needs Chromium: apt install chromium, or $CHROMIUM with its path")
    with driver.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def until(condition: Callable[[], object]) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)
