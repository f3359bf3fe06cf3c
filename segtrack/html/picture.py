"""Figures as parts of a page: SVG whose black is the page's colour of text."""

from __future__ import annotations

import io
import re
from xml.sax.saxutils import quoteattr

import matplotlib
from matplotlib.figure import Figure

_LEFT_OUT = (
    re.compile(r"\s*<metadata>.*?</metadata>|\s*<style.*?</style>", re.DOTALL),
    re.compile(r' id="[\w.]+_\w+"'),  # Groups: nothing refers to them, and two figures have the same.
    re.compile(r" ?font-family: [^;\"]*;"),  # The page's.
)
_PATH = re.compile(r' d="[^"]*"')
_DIGITS = re.compile(r"(\.\d\d)\d+")
"""Hundredths of a point are enough for paths, which are most of a picture."""


def inline_svg(figure: Figure, label: str) -> str:
    """Return a figure as an `svg` element, without background, black drawn in the text's colour.

    Args:
        figure: Its legends have no frame, or text would be drawn on white; what is to be behind all on dark
            pages, too, is painted.
        label: What it shows, for those who do not see it.

    Returns:
        HTML that refers to nothing outside of itself.
    """
    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "segtrack"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None}, transparent=True)
    text = buffer.getvalue()
    head, body = text[text.index("<svg") :].split(">", 1)
    size = re.search(r'width="([\d.]+)pt"', head)
    box = re.search(r'viewBox="[^"]*"', head)
    assert size is not None and box is not None
    for pattern in _LEFT_OUT:
        body = pattern.sub("", body)
    body = _PATH.sub(lambda path: _DIGITS.sub(r"\1", path[0]), body)
    body = body.replace("xlink:href", "href").replace("#000000", "currentColor")
    return f'<svg role="img" aria-label={quoteattr(label)} width="{size[1]}pt" {box[0]}>{body.strip()}'
