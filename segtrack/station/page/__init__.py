"""Operator's page: one JavaScript component, and Python code that puts it on a page.

The modules in `js` are served as the ES module `segtrack-station`; three.js is the one that NiceGUI brings.
Nothing is loaded from elsewhere.
"""

from __future__ import annotations

import json
from pathlib import Path

import nicegui.elements.scene  # noqa: F401  # Makes the ES module `nicegui-scene` known, which holds three.js.
from nicegui import ui
from nicegui.element import Element

from segtrack.language import Language
from segtrack.station.bindings import bindings

_FOLDER = Path(__file__).parent
_STYLE = _FOLDER / "station.css"
_WORDS = json.loads((_FOLDER / "words.json").read_text(encoding="utf-8"))


def spoken(tag: str) -> Language:
    """Return the page's language, with its words, for a language tag."""
    return Language(tag, _WORDS)


class StationView(Element, component="js/station.js", esm={"segtrack-station": "js"}):
    """Page component in JavaScript; it connects to `/station/socket` by itself."""

    def __init__(self) -> None:
        """Pass the bindings of keys and buttons, and the words of each language, to the component."""
        super().__init__()
        self._props["bindings"] = [row._asdict() for row in bindings()]
        self._props["words"] = _WORDS


def build_page() -> None:
    """Add the station to the NiceGUI page being built; for `ui.page` with `dark=None`, without Tailwind."""
    ui.add_css(_STYLE)
    StationView()
