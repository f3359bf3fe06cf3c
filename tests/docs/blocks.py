"""Code blocks of Markdown files, and how CI runs them.

A comment before a block changes how it is run:

| comment | effect |
|---|---|
| `<!-- ci: short: A => B -->` | B replaces A: a shorter run, or no display |
| `<!-- ci: given: PYTHON -->` | this statement runs first: what a reader has already (`docs.given`) |
| `<!-- ci: save: FILE -->` | the block is written to FILE, for the blocks that follow |
| `<!-- ci: needs: MODULE -->` | without this package the rest of the page is left out |
| `<!-- ci: skip: REASON -->` | not run |

Blocks of a shell are those named `sh`, `bash`, `console` or nothing; what a program prints is `text`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
_BLOCK = re.compile(r"((?:^<!-- ci: .*? -->\n)*)^(```+)(\w*)\n(.*?)^\2$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!-- ci: (short|given|save|needs|skip): (.*?) -->")
SHELL = ("", "sh", "bash", "console")
PROGRAMS = ("segtrack", "python")
NOT_RUN = {
    "pip install": "CI has installed it",
    "python -m venv": "CI has an environment",
    ". venv": "CI has an environment",
    "pytest": "CI runs the tests in steps of their own",
    "python -m build": "CI builds the packages in a step of its own",
    "docker": "CI has no Docker",
}
"""Reason for which a command is left out of every block, by its beginning."""


@dataclass
class Block:
    """One fenced block of a page.

    Attributes:
        language: Name behind the fence, "" if there is none.
        text: Content as CI runs it.
        line: Line of the page at which it begins.
        given: Statements that run before it.
        save: File to write it to, None to run it.
        needs: Packages without which it cannot run.
        skip: Reason for which it is not run, None if it is.
    """

    language: str
    text: str
    line: int
    given: list[str] = field(default_factory=list)
    save: str | None = None
    needs: list[str] = field(default_factory=list)
    skip: str | None = None

    @property
    def runs(self) -> bool:
        """Whether CI does anything with it."""
        return self.skip is None and (
            self.save is not None or self.language == "python" or bool(self.commands)
        )

    @property
    def commands(self) -> list[str]:
        """Command lines of a shell block that CI runs, in order."""
        return [
            line
            for line in self._lines()
            if line.split(" ")[0] in PROGRAMS and not line.startswith(tuple(NOT_RUN))
        ]

    @property
    def unknown(self) -> list[str]:
        """Command lines of a shell block that CI neither runs nor has a reason to leave out."""
        return [
            line
            for line in self._lines()
            if line.split(" ")[0] not in PROGRAMS and not line.startswith(tuple(NOT_RUN))
        ]

    def _lines(self) -> list[str]:
        if self.language not in SHELL or self.skip is not None:
            return []
        text = "\n".join(line.split("   #")[0] for line in self.text.splitlines())
        parts = [part.strip() for line in text.splitlines() for part in line.split(" && ")]
        return [part for part in parts if part and not part.startswith("#")]


def blocks_of(page: Path) -> list[Block]:
    """Return the blocks of a page, in order."""
    source = page.read_text(encoding="utf-8")
    found = []
    for match in _BLOCK.finditer(source):
        comments, _, language, text = match.groups()
        block = Block(language, text, source[: match.start(2)].count("\n") + 1)
        for kind, value in _COMMENT.findall(comments):
            if kind == "short":
                before, _, after = value.partition(" =>")
                assert before in block.text, f"{page}: {before!r} is not in the block of line {block.line}"
                block.text = block.text.replace(before, after.strip())
            elif kind == "save":
                block.save = value
            elif kind in ("given", "needs"):
                getattr(block, kind).append(value)
            else:
                block.skip = value
        found.append(block)
    return found


def script_of(page: Path) -> str:
    """Return a program that does what a page says, with lines of Python where the page has them."""
    lines = ["import docs.given as given"]
    for block in blocks_of(page):
        if not block.runs:
            continue
        if block.save is not None:
            body = [f"given.file({block.save!r}, {block.text!r})"]
        elif block.language == "python":
            body = block.text.splitlines()
        else:
            body = [f"given.command({command!r})" for command in block.commands]
        before = [f"given.need({name!r})" for name in block.needs] + block.given
        lines += [""] * (block.line - len(lines) - bool(before))
        lines += ["; ".join(before)] * bool(before) + body
    return "\n".join(lines) + "\n"


def pages() -> list[Path]:
    """Return every Markdown file that users read."""
    found = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "envs/README.md", "demos/README.md")]
    found += sorted((ROOT / "segtrack").rglob("README.md")) + sorted((ROOT / "urdf").rglob("README.md"))
    found += sorted((ROOT / "docs").rglob("*.md"))
    return [path for path in found if path.is_file()]
