"""Checking the content of a file against what it describes, with every mistake reported at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from segtrack.description.base import Spec
from segtrack.description.file.known_parts import consistency_problems, known_parts
from segtrack.description.file.wording import field_details, field_problems, misspelt_keys
from segtrack.description.file.yaml_file import YamlFile
from segtrack.errors import DescriptionFileError, Problem

Description = TypeVar("Description", bound=Spec)


def check_content(
    kind: type[Description],
    content: YamlFile,
    file: str,
    folder: Path,
    refusal: type[DescriptionFileError],
    beside: Callable[[Any], Iterable[Problem]] = lambda known: (),
) -> Description:
    """Make a description of a file's content.

    Args:
        kind: What the whole file describes.
        content: Of the file.
        file: Its name, for messages.
        folder: What the paths in it are relative to.
        refusal: What is raised for mistakes, with all of them.
        beside: What else is wrong, of the parts that are right (see `known_parts`), where there are mistakes.
    """
    problems = list(content.problems)
    try:
        description = kind.model_validate(content.data, context={"folder": folder})
    except ValidationError as error:
        description, mistakes = _mistakes(kind, error, content, folder)
        problems += mistakes
    if problems:
        raise refusal(file, content.locate([*problems, *beside(description)]))
    return description


def _mistakes(
    kind: type[Description], error: ValidationError, content: YamlFile, folder: Path
) -> tuple[Description, list[Problem]]:
    """What is right, and the mistakes: those of each value by itself, and of values against each other."""
    details = field_details(error)
    misspelt = misspelt_keys(details, kind)
    wrong = {detail["loc"] for detail in details} | {
        (*place[:-1], key) for place, key in misspelt.meant.items()
    }
    known = known_parts(kind, content.data, wrong, folder)
    by_themselves = field_problems(details, misspelt, content.tight_lists)
    return known, [*by_themselves, *consistency_problems(known)]
