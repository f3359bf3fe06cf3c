"""Reading a table of trials, with every mistake of it reported at once."""

from __future__ import annotations

from pathlib import Path

from segtrack.description.file.check import check_content
from segtrack.description.file.yaml_file import parse_yaml, read_text
from segtrack.errors import ClimbsFileError, UnknownNameError
from segtrack.logs.climbs.rows import parse_rows
from segtrack.logs.climbs.table import ClimbTable

BUNDLED = Path(__file__).parent


def load_climbs(name_or_path: str | Path) -> ClimbTable:
    """Read and check a table of trials.

    Args:
        name_or_path: Name of a bundled table (`okada`), or path of a CSV, TSV or YAML file.

    Raises:
        UnknownNameError: No such table or kind of file.
        FileAccessError: The file cannot be read.
        ClimbsFileError: The file has mistakes; all of them are listed.
    """
    path = Path(name_or_path)
    if path.suffix == "" and not path.exists():
        tables = {file.stem: file for file in sorted(BUNDLED.glob("*.yaml"))}
        if str(name_or_path) not in tables:
            raise UnknownNameError("table of climbs", str(name_or_path), tables)
        path = tables[str(name_or_path)]
    kinds = {".yaml": _parse_yaml, ".yml": _parse_yaml, ".csv": parse_rows, ".tsv": parse_rows}
    if path.suffix.lower() not in kinds:
        raise UnknownNameError("kind of table", path.suffix, kinds)
    return kinds[path.suffix.lower()](read_text(path), path.name)


def _parse_yaml(text: str, file: str) -> ClimbTable:
    content = parse_yaml(text, file, ClimbsFileError)
    return check_content(ClimbTable, content, file, Path("."), ClimbsFileError)
