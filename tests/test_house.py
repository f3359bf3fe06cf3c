"""Rules of the house: words, names and depth of modules, and imports that change nothing."""

import ast
import re
import subprocess
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parent.parent
FILES = [
    path.relative_to(CHECKOUT)
    for folder in ("segtrack", "envs", "demos")
    for path in sorted((CHECKOUT / folder).rglob("*.py"))
]
NO_NOUN = {"Of", "What", "How", "By", "Whether", "That", "Those", "Who", "Which", "Where", "When"}
"""Words that no docstring begins with, since they do not say what the thing is."""
NO_NOUN_OF_A_VALUE = {"Of", "By", "In", "With", "As", "At", "That", "To"} | NO_NOUN
"""Words that no line of an attribute or argument begins with."""
SECTIONS = ("Args:", "Attributes:")
LONGEST_MODULE = 1000
"""Lines; from 500 on, a module is asked whether it is one idea."""
DEEPEST = 2
"""Levels of folders below segtrack."""


@cache
def tree_of(file):
    return ast.parse((CHECKOUT / file).read_text(encoding="utf-8"))


def public(node, name):
    """All public classes and functions in a node, by their full names."""
    for child in node.body:
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if re.match(r"_(?!_)", child.name):
                continue
            yield f"{name}:{child.name}", child
            if isinstance(child, ast.ClassDef):
                yield from public(child, f"{name}:{child.name}")


def docstrings():
    for file in FILES:
        tree = tree_of(file)
        for name, node in ((str(file), tree), *public(tree, str(file))):
            text = ast.get_docstring(node)
            if text is not None:
                yield name, text


def entries(docstring):
    """Text of each attribute and argument in a Google docstring."""
    section = None
    for line in docstring.splitlines():
        if line and not line.startswith(" "):
            section = line
        elif section in SECTIONS and (entry := re.match(r" {4}[*`\w](?:[^:]|:(?! ))*: +(.*)", line)):
            yield entry[1]


def no_noun(text, words):
    return text.startswith("The same") or re.split(r"\W", text, maxsplit=1)[0] in words


def test_the_rule_finds_what_it_should():
    assert no_noun("Of all tracks [N].", NO_NOUN) and no_noun("The same in the world.", NO_NOUN)
    assert not no_noun("Offset of the track [m].", NO_NOUN) and not no_noun("Thereby.", NO_NOUN)
    text = "Sum.\n\nArgs:\n    a: Of one\n        b: By two.\n    **kw: To it.\n\nReturns:\n    c: As is."
    assert list(entries(text)) == ["Of one", "To it."]


def test_docstrings_begin_with_what_the_thing_is():
    assert not [f"{name}: {text.splitlines()[0]}" for name, text in docstrings() if no_noun(text, NO_NOUN)]


def test_lines_of_attributes_and_arguments_begin_with_what_the_value_is():
    assert not [
        f"{name}: {entry}"
        for name, text in docstrings()
        for entry in entries(text)
        if no_noun(entry, NO_NOUN_OF_A_VALUE)
    ]


def test_a_public_class_has_a_name_of_its_own():
    places = defaultdict(list)
    for file in FILES:
        for node in tree_of(file).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(file))
    assert not {name: files for name, files in places.items() if len(files) > 1}


def test_a_table_of_modules_names_modules_that_exist():
    """In docstrings of packages and in READMEs, as `name`, `name.py` or `folder/`."""
    missing = []
    for file in FILES:
        if file.name == "__init__.py":
            folder, manual = CHECKOUT / file.parent, CHECKOUT / file.parent / "README.md"
            text = ast.get_docstring(tree_of(file)) + (
                manual.read_text(encoding="utf-8") if manual.exists() else ""
            )
            for table in re.findall(r"^\| (?:module|file) \|.*\n((?:\|.*\n?)+)", text, re.MULTILINE):
                names = re.findall(
                    r"`([\w/]+?)(?:\.py|/)?`", " ".join(re.findall(r"^\|(.*?)\|", table, re.MULTILINE))
                )
                there = {path.stem for path in folder.rglob("*")}
                missing += [
                    f"{file.parent}: {name}" for name in names if name.rpartition("/")[2] not in there
                ]
    assert not missing


def test_files_that_the_settings_name_exist():
    text = (CHECKOUT / "pyproject.toml").read_text(encoding="utf-8")
    named = re.findall(r'"((?:segtrack|envs|tests)/[\w/]+(?:\.py)?)"', text)
    assert len(named) > 50
    assert not [path for path in named if not (CHECKOUT / path).exists()]


def test_no_module_is_too_long_for_one_idea():
    lines = {str(file): len((CHECKOUT / file).read_text(encoding="utf-8").splitlines()) for file in FILES}
    assert not {file: count for file, count in lines.items() if count > LONGEST_MODULE}


def test_no_folder_is_too_deep():
    assert max(len(file.parent.parts) for file in FILES if file.parts[0] == "segtrack") <= 1 + DEEPEST


IMPORTS = """
import importlib, os, pathlib, pkgutil, sys
import numba  # It may install finders of its own.

def listing():
    return {
        path: (path.stat().st_mtime_ns, path.stat().st_size)
        for root in map(pathlib.Path, sys.argv[1:])
        for path in root.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }

cache = pathlib.Path(os.environ["NUMBA_CACHE_DIR"])
finders, hooks, before = sys.meta_path[:], sys.path_hooks[:], listing()
import segtrack
assert (sys.meta_path, sys.path_hooks) == (finders, hooks)
for module in pkgutil.walk_packages(segtrack.__path__, "segtrack."):
    if not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
        except (segtrack.errors.MissingPackageError, segtrack.errors.MissingPyBulletError):
            pass
        except ImportError as error:  # Of an extra.
            assert not (error.name or "segtrack").startswith("segtrack"), (module.name, error)
places = [getattr(finder, "__module__", type(finder).__module__) for finder in sys.meta_path]
assert not [place for place in places if place.startswith("segtrack")], places
after = listing()
changed = {str(path) for path in before.keys() ^ after.keys()}
changed |= {str(path) for path in before.keys() & after.keys() if before[path] != after[path]}
assert not changed, changed
"""


@pytest.mark.slow
def test_imports_write_and_delete_nothing_and_install_no_finder(tmp_path):
    """In a home with files that look like old caches: they stay, and nothing joins them."""
    home, cache, work = (tmp_path / name for name in ("home", "kernels", "work"))
    for folder in (home, cache, work):
        folder.mkdir()
        (folder / "vectors.old-1.py311.nbi").write_bytes(b"old")
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS, str(home), str(cache), str(work), str(CHECKOUT / "segtrack")],
        cwd=work,
        env={"HOME": str(home), "PATH": "", "NUMBA_CACHE_DIR": str(cache), "MPLCONFIGDIR": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
