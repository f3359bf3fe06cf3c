"""Self-contained HTML pages: templates, and figures as inline SVG, with a dark mode."""

from __future__ import annotations

import base64
import hashlib
import io
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any
from xml.sax.saxutils import quoteattr

import matplotlib
from matplotlib.figure import Figure

from segtrack.errors import MissingPackageError
from segtrack.files import save_figure


def render_page(package: str, template: str, values: Mapping[str, Any], extra: str) -> str:
    """Return a page from a template that extends `page.html`; values are HTML-escaped.

    Args:
        package: Package that holds the template's file.
        template: Name of the file.
        values: Values of the template's names; a missing name is an error.
        extra: Extra that installs jinja2, for the message if it is missing.

    Returns:
        HTML that loads nothing.

    Raises:
        MissingPackageError: Jinja2 is not installed.
    """
    try:
        import jinja2
    except ImportError:
        raise MissingPackageError("an HTML report", "jinja2", extra) from None

    def text_of(folder: str, name: str) -> str:
        return files(folder).joinpath(name).read_text("utf-8")

    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        loader=jinja2.DictLoader({"page.html": text_of("segtrack.html", "page.html")}),
    )
    return environment.from_string(text_of(package, template)).render(values)


def script_hash(script: str) -> str:
    """Content-security-policy hash (CSP level 2) that allows one inline script."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


_LEFT_OUT = (
    re.compile(r"\s*<metadata>.*?</metadata>|\s*<style.*?</style>", re.DOTALL),
    re.compile(r' id="[\w.]+_\w+"'),  # Groups: nothing refers to them, and two figures have the same.
    re.compile(r" ?font-family: [^;\"]*;"),  # The page's.
)
_PATH = re.compile(r' d="[^"]*"')
_DIGITS = re.compile(r"(\.\d\d)\d+")
"""Hundredths of a point are enough for paths, which are most of a picture."""


def inline_svg(figure: Figure, label: str) -> str:
    """Return a figure as an `svg` element without background; black follows the page's text colour.

    Args:
        figure: Figure. Its legends have no frame, or text would be drawn on white; areas to be shaded on
            dark pages too are painted.
        label: Description of the figure for screen readers.

    Returns:
        HTML that refers to nothing outside of itself.
    """
    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "segtrack"}):
        save_figure(figure, buffer, format="svg", metadata={"Date": None}, transparent=True)
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
