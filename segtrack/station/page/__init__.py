"""The operator's page: one component in JavaScript, and the shell in Python that puts it on a page.

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
    """Return a language with the words of the page."""
    return Language(tag, _WORDS)


class StationView(Element, component="js/station.js", esm={"segtrack-station": "js"}):
    """The component; it speaks with `/station/socket` by itself."""

    def __init__(self) -> None:
        """Tell it what keys and buttons do, and its words in each language."""
        super().__init__()
        self._props["bindings"] = [row._asdict() for row in bindings()]
        self._props["words"] = _WORDS


def build_page() -> None:
    """Fill the page that is being built; for `ui.page`, with `dark=None` and without Tailwind."""
    ui.add_css(_STYLE)
    StationView()
