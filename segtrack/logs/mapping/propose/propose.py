"""The text of a mapping file that is proposed for a log."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from segtrack.logs.log import Log
from segtrack.logs.mapping.propose.by_header import propose_by_header
from segtrack.logs.mapping.propose.by_type import propose_by_type
from segtrack.logs.mapping.propose.entry import Entry
from segtrack.logs.motion import QUANTITIES
from segtrack.logs.reading.headers import is_time

_PLAIN = re.compile(r"[A-Za-z_/][\w./ ()>-]*")
_MOST = 30
_HEAD = """\
# Proposed for {name}. Fill in what is marked TODO; check the rest, above all signs and
# frames (REP 103: x forward, y left, z up), and of what speeds are. Every key: segtrack log map --schema
# vehicle: quince           # a bundled vehicle, or a vehicle file
# terrain: step.yaml        # a bundled course, or a file with a terrain
# event: first touch        # at which log and simulation are put on each other, or a time [s]
# start: 0.0                # the piece that is used [s]
# end: 10.0
"""


def propose(log: Log) -> str:
    """The text of a mapping file for a log: what its message types or its headers say.

    What cannot be known is a key without a value, marked TODO: the file is refused until it is said.
    """
    entries: dict[str, Entry] = {}
    for entry in (*propose_by_type(log), *(() if log.types else propose_by_header(log))):
        entries.setdefault(entry.path, entry)
    if "orientation" in entries:  # It has the angles already.
        entries = {path: entry for path, entry in entries.items() if path not in ("roll", "pitch", "yaw")}
    lines = [_HEAD.format(name=log.path.name), *_clocks(log, entries.values()), "quantities:"]
    order = list(QUANTITIES)
    flippers = ""
    for entry in sorted(entries.values(), key=lambda entry: order.index(entry.path.partition(".")[0])):
        name, _, flipper = entry.path.partition(".")
        indent = "  "
        if flipper and flippers != name:
            flippers = name
            lines.append(f"  {name}:  # by the flippers' names in the vehicle file")
        if flipper:
            name, indent = flipper, "    "
        lines.append(f"{indent}{name}:")
        lines += [f"{indent}  {key}: {_value(value)}" for key, value in entry.keys.items()]
        lines += [f"{indent}  {key}:  # TODO: {what}" for key, what in entry.todo.items()]
    if not entries:
        lines.append(
            "  # TODO: nothing in this log is known by its name or type; see the README for examples"
        )
    used = {name for entry in entries.values() for name in entry.channels}
    rest = [name for name in log.channels if name not in used and not is_time(name)]
    if rest:
        more = f", and {len(rest) - _MOST} more" if len(rest) > _MOST else ""
        lines.append(f"# not used: {', '.join(rest[:_MOST])}{more}")
    return "\n".join(lines) + "\n"


def _clocks(log: Log, entries: Iterable[Entry]) -> list[str]:
    """Which clock each source with stamps has."""
    used = [log.channels[name].source for entry in entries for name in entry.channels if name in log.channels]
    stamped = [
        source
        for source in dict.fromkeys(used)
        if any(channel.stamps is not None for channel in log.sources[source])
    ]
    if not stamped:
        return []
    return ["sources:", *(f"  {_value(source)}: {{clock: header}}  # or receive" for source in stamped)]


def _value(value: str | list[str]) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return value if _PLAIN.fullmatch(value) and not value.endswith(" ") else json.dumps(value)
