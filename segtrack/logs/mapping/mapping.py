"""Mapping files, read and checked, with every mistake reported at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from segtrack.description.checking import check_content
from segtrack.description.yaml_file import YamlFile, parse_yaml, read_text
from segtrack.errors import FileAccessError, MappingFileError, Problem
from segtrack.logs.mapping.mapping_file import MappingFile


@dataclass(frozen=True, eq=False)
class LogMapping:
    """Mapping of a log's channels to quantities.

    Attributes:
        name: Name of the file, for messages.
        text: Text of the file.
        file: Content of the file; vehicle and terrain are bundled names or absolute paths.
    """

    name: str
    text: str
    file: MappingFile
    _content: YamlFile = field(repr=False)

    def with_vehicle(self, vehicle: str | None) -> LogMapping:
        """Return the mapping for another vehicle (bundled name or path), if one is given."""
        if vehicle is None:
            return self
        return replace(self, file=self.file.model_copy(update={"vehicle": vehicle}))

    def refusal(self, problems: Iterable[Problem]) -> MappingFileError:
        """Return the error that lists problems, with their lines."""
        return MappingFileError(self.name, self._content.locate(problems))


ProblemFinder = Callable[[MappingFile], Iterable[Problem]]
"""Function that finds the problems of a mapping file with a log; invalid keys of the file are missing."""


def load_mapping(path: str | Path, misfits: ProblemFinder = lambda file: ()) -> LogMapping:
    """Read and check a mapping file.

    Args:
        path: Path of the file.
        misfits: Finder of problems that are listed beside the file's mistakes, if it has any.

    Raises:
        FileAccessError: The file cannot be read.
        MappingFileError: The file has mistakes; all of them are listed, with their lines.
    """
    path = Path(path).expanduser()
    if path.is_dir():
        raise FileAccessError("read", path, "is a folder, not a mapping file")
    return parse_mapping(read_text(path), path.name, path.parent, misfits)


def parse_mapping(
    text: str, name: str = "mapping", folder: Path = Path("."), misfits: ProblemFinder = lambda file: ()
) -> LogMapping:
    """Read and check the text of a mapping file.

    Args:
        text: Text of the file, YAML.
        name: Name of the file, for messages.
        folder: Folder that paths in it are relative to.
        misfits: Finder of problems that are listed beside the text's mistakes, if it has any.

    Raises:
        MappingFileError: The text has mistakes; all of them are listed, with their lines.
    """
    content = parse_yaml(text, name, MappingFileError)
    file = check_content(MappingFile, content, name, folder, MappingFileError, misfits)
    return LogMapping(name, text, file, content)
