"""The operator's page: one component in JavaScript, and the shell in Python that puts it on a page.

The modules in `js` are served as the ES module `segtrack-station`; three.js is the one that NiceGUI brings.
Nothing is loaded from elsewhere.
"""

from __future__ import annotations

from pathlib import Path

import nicegui.elements.scene  # noqa: F401  # Makes the ES module `nicegui-scene` known, which holds three.js.
from nicegui import ui
from nicegui.element import Element

from segtrack.station.bindings import bindings

_STYLE = Path(__file__).parent / "station.css"


class StationView(Element, component="js/station.js", esm={"segtrack-station": "js"}):
    """The component; it speaks with `/station/socket` by itself."""

    def __init__(self) -> None:
        """Tell it what keys and buttons do."""
        super().__init__()
        self._props["bindings"] = [row._asdict() for row in bindings()]


def build_page() -> None:
    """Fill the page that is being built; for `ui.page`, with `dark=None` and without Tailwind."""
    ui.add_css(_STYLE)
    StationView()
