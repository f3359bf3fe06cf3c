"""Every code block and command of the documentation works."""

from __future__ import annotations

import functools
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import command_of
from docs.blocks import ROOT, SHELL, Block, blocks_of, pages, script_of
from docs.given import NEEDED
from tables import each_row

from docs import given
from segtrack.cli.app import app
from segtrack.errors import MissingPackageError

PAGES = pages()
INLINE = re.compile(r"`(segtrack [^`]+)`")


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if any(block.runs for block in blocks_of(page))],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_every_block_of_a_page_runs(page: Path, tmp_path: Path) -> None:
    done = run(page, tmp_path)
    if done.returncode == NEEDED:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr}"


def run(page: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the blocks of a page in order, in one folder and one session, as a reader's would be."""
    programs = Path(sys.executable).parent
    environment = os.environ | {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "tests"),
        "MPLBACKEND": "Agg",
    }
    code = f"exec(compile({script_of(page)!r}, {str(page)!r}, 'exec'), {{'__name__': '__main__'}})"
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True
    )


@pytest.mark.parametrize(
    ("text", "status", "message"),
    [
        ("```python\nx = 1\n```\n```python\nassert x == 1\n```\n", 0, ""),
        ("```python\nx = 1\n```\n```python\nassert x == 2\n```\n", 1, 'page.md", line 5'),
        pytest.param("```\nsegtrack vehicles\n```\n", 0, "", marks=pytest.mark.slow),
        pytest.param(
            "```sh\nsegtrack validate qince\n```\n", 1, "no vehicle 'qince'", marks=pytest.mark.slow
        ),
        ("```sh\npip install . && segtrack validate qince\n```\n", 1, "no vehicle 'qince'"),
        ("<!-- ci: needs: not_a_package -->\n```python\n1 / 0\n```\n", NEEDED, "needs not_a_package"),
        ("<!-- ci: short: / 0 => / 1 -->\n```python\n1 / 0\n```\n", 0, ""),
    ],
)
def test_a_block_that_fails_is_noticed(text: str, status: int, message: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    done = run(page, tmp_path)
    assert done.returncode == status, done.stderr
    assert message in done.stderr


@each_row("page", PAGES)
def test_every_command_is_run_or_left_out_for_a_reason(page: Path) -> None:
    assert not [line for block in blocks_of(page) for line in block.unknown]


def test_a_command_that_is_not_run_is_noticed() -> None:
    block = Block("sh", "pip install . && segtrack vehicles   # all\nmake all\n", 1)
    assert block.commands == ["segtrack vehicles"]
    assert block.unknown == ["make all"]
    assert not Block("sh", "make all\n", 1, skip="needs a compiler").unknown


@each_row("page", PAGES)
def test_yaml_blocks_can_be_read(page: Path) -> None:
    for block in blocks_of(page):
        if block.language == "yaml":
            yaml.safe_load(block.text)


@each_row("page", PAGES)
def test_python_blocks_compile(page: Path) -> None:
    for block in blocks_of(page):
        if block.language == "python":
            compile(block.text, f"{page}:{block.line}", "exec")


NAME = re.compile(r"`(?!terrain\.py`)((?:segtrack|terrain)\.[A-Za-z_.]*\w)")
FILE = re.compile(r"`((?:[\w-]+/)*\w+\.py)`(?! in github)")


def exists(name: str) -> bool:
    """Whether a dotted name is a module, or an attribute of the longest module in it.

    Modules that need a package which is not installed are taken to have what is asked of them.
    """
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        module = ".".join(parts[:length])
        try:
            functools.reduce(getattr, parts[length:], importlib.import_module(module))
        except AttributeError:
            return False
        except MissingPackageError:
            return True
        except ModuleNotFoundError as error:
            if not module.startswith(error.name or ""):
                return True
        else:
            return True
    return False


@each_row("page", PAGES)
def test_names_and_files_exist(page: Path) -> None:
    """Names after `segtrack.`; modules that a page names, from its folder, the package or the repository."""
    text = page.read_text(encoding="utf-8")
    names = {f"segtrack.{name}" if name.startswith("terrain.") else name for name in NAME.findall(text)}
    assert not [name for name in sorted(names) if not exists(name)]
    places = (page.parent, ROOT, ROOT / "segtrack")
    files = {file for file in FILE.findall(text) if "NAME" not in file}
    assert not [file for file in sorted(files) if not any((place / file).is_file() for place in places)]


def test_a_name_that_does_not_exist_is_noticed() -> None:
    assert exists("segtrack.terrain.Step") and exists("segtrack.Robot.drive") and exists("segtrack.logs")
    assert not exists("segtrack.terrain.Stepp") and not exists("segtrack.robto.Robot")


def commands_in(page: Path) -> list[str]:
    found = [
        command for block in blocks_of(page) for command in block.commands if command.startswith("segtrack")
    ]
    return found + INLINE.findall(page.read_text(encoding="utf-8"))


def unknown_word(command: str) -> str | None:
    """The first word of a command line that the program does not know: a command or an option."""
    node: Any = command_of(app)
    for word in re.sub(r"[\[\]]", " ", command).split()[1:]:
        commands = getattr(node, "commands", None)
        if commands is not None:
            if word.startswith("-"):
                continue
            if word in commands:
                node = commands[word]
            elif word.islower():
                return word
        elif word.startswith("--"):
            options = {
                option for parameter in node.params for option in (*parameter.opts, *parameter.secondary_opts)
            }
            if word.split("=")[0].rstrip(",.") not in options | {"--help"}:
                return word
    return None


@each_row("page", PAGES)
def test_commands_and_options_exist(page: Path) -> None:
    wrong = {command: word for command in commands_in(page) if (word := unknown_word(command)) is not None}
    assert not wrong


def test_a_command_that_does_not_exist_is_noticed() -> None:
    assert unknown_word("segtrack climb quince --stpe 0.2") == "--stpe"
    assert unknown_word("segtrack clim quince") == "clim"
    assert unknown_word("segtrack climb quince --step 0.2") is None


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
@pytest.mark.parametrize("does, says", [("exit 3", "exit status 3"), ("exec sleep 60", "exit status -9")])
def test_a_station_that_ends_wrongly_or_never_fails_its_page(
    does: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "segtrack"
    program.write_text(f"#!/bin/sh\ntrap '' INT\necho 'Ctrl-C ends it' >&2\n{does}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(given, "LONGEST", 0.5)
    with pytest.raises(AssertionError, match=says):
        given.command("segtrack station")


def test_what_is_not_run_is_little() -> None:
    """Shell blocks that CI leaves out install something or build the site."""
    skipped = [
        (page.name, block.skip)
        for page in PAGES
        for block in blocks_of(page)
        if block.skip and block.language in SHELL
    ]
    assert len(skipped) <= 5, skipped
