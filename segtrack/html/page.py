"""Pages: a frame with a style for all, which each template fills."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from segtrack.errors import MissingPackageError


def render_page(package: str, template: str, values: Mapping[str, Any], extra: str) -> str:
    """Return a page made of a template that extends `page.html`; what people wrote is escaped.

    Args:
        package: In which the template's file is.
        template: Name of the file.
        values: What the template calls by name; a name that is not there is an error.
        extra: Which installs jinja2, for the message if it is missing.

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
