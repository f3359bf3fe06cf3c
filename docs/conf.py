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
MANUAL = Path(__file__).parent / "manual"
"""Generated at each build: the READMEs of folders as pages."""

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

READMES = {
    "segtrack/description": "vehicle-file",
    "segtrack/terrain": "terrain",
    "segtrack/courses": "courses",
    "segtrack/native": "native",
    "segtrack/batch": "batch",
    "segtrack/bullet": "pybullet",
    "segtrack/chain": "chain",
    "segtrack/rendering": "rendering",
    "segtrack/experiments": "experiments",
    "segtrack/recording": "recording",
    "segtrack/scoring": "scoring",
    "segtrack/station": "station",
    "segtrack/logs": "logs",
    "envs": "environments",
    "demos": "demos",
} | {
    str(path.parent.relative_to(ROOT)): "-".join(path.parent.relative_to(ROOT / "segtrack").parts)
    for path in sorted((ROOT / "segtrack").glob("*/*/README.md"))
}
"""Page of the manual by the folder whose README it is."""
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def _retarget(text: str, folder: Path, page_folder: Path) -> str:
    """Point the links of a README at pages of the site, files in the repository and pictures."""

    def link(match: re.Match[str]) -> str:
        picture, label, target = match.groups()
        path, hash_, anchor = target.partition("#")
        if target.startswith(("http", "#", "mailto:")):
            return match.group(0)
        file = (folder / path).resolve()
        if not file.exists():
            return match.group(0)  # Code that looks like a link, or a mistake, which Sphinx names.
        if picture:
            return f"![{label}]({_relative(file, page_folder)})"
        name = str((file.parent if file.name == "README.md" else file).relative_to(ROOT))
        if name in READMES:
            return f"[{label}]({_relative(MANUAL / READMES[name], page_folder)}.md{hash_}{anchor})"
        if file.is_relative_to(ROOT / "docs"):
            return f"[{label}]({_relative(file, page_folder)}{hash_}{anchor})"
        if name == ".":
            return f"[{label}]({_relative(ROOT / 'docs' / 'index.md', page_folder)})"
        return f"{label} (`{name}`)" if name not in label else label

    return _LINK.sub(link, text)


def _relative(file: Path, folder: Path) -> str:
    return str(Path(*[".."] * len(folder.relative_to(ROOT).parts), file.relative_to(ROOT)))


def write_manual() -> None:
    """Write a page for each README, where its text has changed."""
    MANUAL.mkdir(exist_ok=True)
    pages = []
    for folder, name in READMES.items():
        readme = ROOT / folder / "README.md"
        if not readme.is_file():
            continue
        text = _retarget(readme.read_text(encoding="utf-8"), readme.parent, MANUAL)
        page = MANUAL / f"{name}.md"
        if not page.is_file() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")
        pages.append(name)
    top = [name for name in pages if "-" not in name or name in ("vehicle-file",)]
    rest = [name for name in pages if name not in top]
    contents = "\n".join(["# Manuals", "", "```{toctree}", ":maxdepth: 1", "", *top, *rest, "```", ""])
    index = MANUAL / "index.md"
    if not index.is_file() or index.read_text(encoding="utf-8") != contents:
        index.write_text(contents, encoding="utf-8")


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


def link_manuals(app: Any, page: str, source: list[str]) -> None:
    """Point links to READMEs, which readers of the repository follow, at their pages of the manual."""
    if not page.startswith("manual/"):
        folder = (Path(__file__).parent / page).parent
        source[0] = _retarget(source[0], folder, folder)


def setup(app: Any) -> None:
    """Connect what this site adds to Sphinx."""
    app.connect("source-read", link_manuals)
    app.connect("autodoc-process-docstring", introduce_package)
    app.connect("autodoc-process-docstring", read_tables)
    app.connect("autodoc-process-docstring", shorten_types)
    app.connect("autodoc-skip-member", skip_member)
    app.connect("autodoc-process-signature", show_fields)


write_manual()
