"""Sphinx configuration: `sphinx-build -W docs out/docs` builds the site offline."""

from __future__ import annotations

import dataclasses
import inspect
import re
from pathlib import Path
from typing import Any

import numpy
import numpy.typing

# Before segtrack is imported: arrays are shown as `ndarray`; shape, frame and unit stand in the docstrings.
numpy.typing.NDArray = type("NDArray", (), {"__class_getitem__": classmethod(lambda *_: numpy.ndarray)})

import segtrack  # noqa: E402

ROOT = Path(__file__).parent.parent

project = "segtrack"
author = "The segtrack developers"
copyright = "2026, the segtrack developers"  # noqa: A001
version = release = segtrack.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
default_role = "code"
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"segtrack {version}"
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_mock_imports = ["pybullet", "pybullet_utils", "pygame", "stable_baselines3", "torch"]
napoleon_use_ivar = True
suppress_warnings = ["myst.header"]
nitpicky = False

_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s#]+)[^)\s]*\)")


def name_repository_files(app: Any, page: str, source: list[str]) -> None:
    """Name files of the repository that are no pages of the site, where a page links to them."""
    folder = (Path(__file__).parent / page).parent

    def link(match: re.Match[str]) -> str:
        label, target = match.groups()
        file = (folder / target).resolve()
        if target.startswith(("http", "mailto:")) or not file.exists() or file.is_relative_to(ROOT / "docs"):
            return match.group(0)
        name = str((file.parent if file.name == "README.md" else file).relative_to(ROOT))
        if name == ".":
            return f"[{label}]({Path(*['..'] * page.count('/'), 'index.md')})"
        return label if name in label else f"{label} (`{name}`)"

    source[0] = _LINK.sub(link, source[0])


def read_tables(app: Any, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Turn Markdown tables of docstrings into tables of the site."""
    shown: list[str] = []
    inside = False
    for line in lines:
        text = line.strip()
        if not (text.startswith("|") and text.endswith("|")):
            shown += [""] * inside + [line]
            inside = False
            continue
        cells = [re.sub(r"`+", "``", cell.strip()) for cell in text.strip("|").split("|")]
        if not inside:
            shown += ["", ".. list-table::", "   :header-rows: 1", ""]
        elif all(set(cell) <= set(":-") for cell in cells):
            continue
        shown += [f"   {'  - ' if i else '* - '}{cell}" for i, cell in enumerate(cells)]
        inside = True
    lines[:] = shown


def shorten_types(app: Any, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Show classes by their names, without the modules that they are written in."""
    for i, line in enumerate(lines):
        if line.startswith(":vartype"):
            lines[i] = re.sub(r"(?<![\w.~])((?:segtrack|collections|numpy|pathlib)[.][\w.]+)", r"~\1", line)


def introduce_package(app: Any, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Leave out the docstrings of packages, which tell developers where things are; pages have their own."""
    if what == "module":
        lines.clear()


def skip_member(app: Any, what: str, name: str, obj: Any, skip: bool, options: object) -> bool | None:
    """Leave out the fields of named tuples, which their class lists, and pydantic's settings of a model."""
    return True if type(obj).__name__ == "_tuplegetter" or name == "model_config" else None


def show_fields(app: Any, what: str, name: str, obj: Any, *rest: Any) -> tuple[str, None] | None:
    """Show what a dataclass or an error is made of, where a check of keywords or a metaclass hides it."""
    if what != "exception" and not (what == "class" and dataclasses.is_dataclass(obj)):
        return None
    signature = inspect.signature(obj.__init__)
    shown = [p.replace(annotation=p.empty) for p in list(signature.parameters.values())[1:]]
    return str(signature.replace(parameters=shown, return_annotation=signature.empty)), None


def setup(app: Any) -> None:
    """Connect what this site adds to Sphinx."""
    app.connect("source-read", name_repository_files)
    app.connect("autodoc-process-docstring", introduce_package)
    app.connect("autodoc-process-docstring", read_tables)
    app.connect("autodoc-process-docstring", shorten_types)
    app.connect("autodoc-skip-member", skip_member)
    app.connect("autodoc-process-signature", show_fields)
