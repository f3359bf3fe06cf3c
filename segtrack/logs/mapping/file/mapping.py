"""A mapping, read and checked, with every mistake of its file reported at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from segtrack.description.file.check import check_content
from segtrack.description.file.yaml_file import YamlFile, parse_yaml, read_text
from segtrack.errors import FileAccessError, MappingFileError, Problem
from segtrack.logs.mapping.file.mapping_file import MappingFile


@dataclass(frozen=True, eq=False)
class Mapping:
    """Which channel of a log is which quantity.

    Attributes:
        name: Of the file, for messages.
        text: Of the file.
        file: What it says; vehicle and terrain are bundled names or absolute paths.
    """

    name: str
    text: str
    file: MappingFile
    _content: YamlFile = field(repr=False)

    @property
    def vehicle(self) -> str | None:
        """Bundled name, or absolute path of a vehicle file."""
        return self.file.vehicle

    @property
    def terrain(self) -> str | None:
        """Bundled name, or absolute path of a file with a terrain."""
        return self.file.terrain

    @property
    def setting(self) -> float | None:
        """Value of what the terrain raises; None for its own."""
        return self.file.setting

    @property
    def event(self) -> str | float:
        """At which log and simulation are put on each other: `first touch`, or a time [s]."""
        event: str | float = self.file.event
        return event

    def with_vehicle(self, vehicle: str | None) -> Mapping:
        """The mapping for another vehicle (bundled name or path), if one is given."""
        if vehicle is None:
            return self
        return replace(self, file=self.file.model_copy(update={"vehicle": vehicle}))

    def refusal(self, problems: Iterable[Problem]) -> MappingFileError:
        """The error that lists problems, with their lines."""
        return MappingFileError(self.name, self._content.locate(problems))


Misfits = Callable[[MappingFile], Iterable[Problem]]
"""What does not fit a log, of a mapping file that may lack what is wrong in it."""


def load_mapping(path: str | Path, misfits: Misfits = lambda file: ()) -> Mapping:
    """Read and check a mapping file.

    Args:
        path: Of the file.
        misfits: What is listed beside the file's mistakes, if it has any.

    Raises:
        FileAccessError: The file cannot be read.
        MappingFileError: The file has mistakes; all of them are listed, with their lines.
    """
    path = Path(path).expanduser()
    if path.is_dir():
        raise FileAccessError("read", path, "is a folder, not a mapping file")
    return parse_mapping(read_text(path), path.name, path.parent, misfits)


def parse_mapping(
    text: str, name: str = "mapping", folder: Path = Path("."), misfits: Misfits = lambda file: ()
) -> Mapping:
    """Read and check the text of a mapping file.

    Args:
        text: YAML.
        name: Of the file, for messages.
        folder: What the paths in it are relative to.
        misfits: What is listed beside the text's mistakes, if it has any.

    Raises:
        MappingFileError: The text has mistakes; all of them are listed, with their lines.
    """
    content = parse_yaml(text, name, MappingFileError)
    file = check_content(MappingFile, content, name, folder, MappingFileError, misfits)
    return Mapping(name, text, file, content)
