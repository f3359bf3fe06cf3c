"""Checking the content of a file against what it describes, with every mistake reported at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from segtrack.description.base import Spec
from segtrack.description.file.known_parts import consistency_problems, known_parts
from segtrack.description.file.wording import field_details, field_problems, misspelt_keys
from segtrack.description.file.yaml_file import YamlFile
from segtrack.errors import DescriptionFileError, Problem

Description = TypeVar("Description", bound=Spec)


def check_content(
    kind: type[Description], content: YamlFile, file: str, folder: Path, refusal: type[DescriptionFileError]
) -> Description:
    """Make a description of a file's content.

    Args:
        kind: What the whole file describes.
        content: Of the file.
        file: Its name, for messages.
        folder: What the paths in it are relative to.
        refusal: What is raised for mistakes, with all of them.
    """
    problems = list(content.problems)
    try:
        description = kind.model_validate(content.data, context={"folder": folder})
    except ValidationError as error:
        problems += _problems(kind, error, content, folder)
    if problems:
        raise refusal(file, content.locate(problems))
    return description


def _problems(kind: type[Spec], error: ValidationError, content: YamlFile, folder: Path) -> Iterator[Problem]:
    """The mistakes of each value by itself, and those of values against each other."""
    details = field_details(error)
    misspelt = misspelt_keys(details, kind)
    yield from field_problems(details, misspelt, content.tight_lists)
    wrong = {detail["loc"] for detail in details} | {
        (*place[:-1], key) for place, key in misspelt.meant.items()
    }
    yield from consistency_problems(known_parts(kind, content.data, wrong, folder))
