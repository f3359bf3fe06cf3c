"""Small files that would grow without bounds are refused, and soon, with the place of what is wrong."""

import subprocess
import sys

import pytest
from tables import each_row

from segtrack.courses import bundled_courses, load_course, parse_course
from segtrack.description import MAX_NODES, find_vehicle, load_vehicle, parse_yaml, read_text
from segtrack.errors import (
    CourseFileError,
    FileAccessError,
    InvalidValueError,
    MappingFileError,
    StudyFileError,
    VehicleFileError,
)
from segtrack.experiments import load_study_file
from segtrack.logs.mapping import load_mapping

MAX_BYTES, MAX_SOLIDS = 2**18, 5000
"""Most bytes of a file, and most solids of a course."""
HEAD = "title: B\ndescription: b\nvehicle: quince\n"
LANE = "lanes:\n- width: 1.2\n  pieces:\n  - {flat: {length: 1.2}, name: near}\n"
DRIVEN = f"{HEAD}start: {{x: 0, y: 0}}\ngates: [{{place: {{x: 0, y: 0}}}}, {{place: {{x: 3, y: 0}}}}]\n"
NINE = ", ".join(["*a{0}"] * 9)
LAUGHS = "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [{NINE.format(i - 1)}]\n" for i in range(1, 15))
MERGES = "a0: &a0 {a: 1}\n" + "".join(f"a{i}: &a{i} {{<<: [{NINE.format(i - 1)}]}}\n" for i in range(1, 15))
GROWN = (
    f"must have at most {MAX_NODES} keys and values with all aliases written out, got more than 1000000000"
)
PART = "must be no part of itself, got an alias of what it is in"
BOMBS = {
    "aliases": (HEAD + LAUGHS, GROWN),
    "merges": (HEAD + MERGES, GROWN),
    "list in itself": (f"{HEAD}lanes: &l [*l]\n", f"b:4: lanes[0] {PART}"),
    "mapping in itself": (f"{HEAD}lanes: &l {{pieces: *l}}\n", f"b:4: lanes.pieces {PART}"),
    "merged with itself": (f"{HEAD}lanes: &l {{<<: *l}}\n", f"b:4: lanes.<< {PART}"),
    "deep": ("[" * 100_000, "nested too deeply"),
    "nested": (f"{HEAD}lanes: {'[' * 60}{']' * 60}\n", "must be nested at most 40 deep, got 61"),
    "long": (f"{HEAD}#{'x' * MAX_BYTES}", f"must have at most {MAX_BYTES} bytes"),
    "digits": (
        f"{HEAD}friction: {'9' * 5000}\n",
        "b:4: friction must be of at most 100 characters, got 5000",
    ),
    "hexadecimal": (f"{HEAD}friction: 0x{'f' * 9000}\n", "friction must be of at most 100 characters"),
    "a key": (f"{HEAD}? {'x' * 9000}\n: 1\n", "b:4: must be without keys of over 200 characters, got 9000"),
    "100,000 pieces": (HEAD + LANE + "  - flat: {length: 1.2}\n" * 100_000, f"at most {MAX_BYTES} bytes"),
    "10,000 pieces": (HEAD + LANE + "  - flat: {length: 1}\n" * 10_000, f"at most {MAX_NODES} keys"),
    "3,500 pieces": (f"{DRIVEN}terrain:\n" + "- {flat: {length: 1}}\n" * 3500, None),
    "stairs": (
        f"{DRIVEN}terrain:\n" + "- stairs: {count: 200, rise: 0.01}\n" * 30,
        f"must consist of at most {MAX_SOLIDS} solids, got more",
    ),
    "posts": (
        f"{DRIVEN}terrain:\n- {{step_field: {{post: 0.02, rows: 200}}, width: 40}}\n",
        "solids, got more",
    ),
    "settings": (
        f"{HEAD}setting: {{name: a, unit: m, values: {[i / 1e5 for i in range(1, 9000)]}}}\n{LANE}",
        "b:4: setting.values must be at most 2 long for a course of 9028 keys and values, got 8999",
    ),
    "mistakes": (HEAD + "".join(f"k{i}: 1\n" for i in range(9000)), "has 9000 mistakes in all"),
    "twice": (HEAD + "title: B\n" * 5000, "and 4942 more mistakes"),
    "tags": (f"{HEAD}friction: !!bool x\n", "a value is not of the kind that its tag says"),
    "octal": (f"{HEAD}friction: 010\n", "friction must be a number, got '010': write it without the 0"),
    "hidden": (HEAD.replace("B", '"B\\u202e"'), r"b:1: title must be without characters that are not seen"),
}


@each_row("name", BOMBS)
def test_a_course_that_would_grow_is_refused_where_it_does(name):
    text, told = BOMBS[name]
    if told is None:
        assert parse_course(text, "b").start is not None
        return
    with pytest.raises(CourseFileError) as error:
        parse_course(text, "b")
    assert told in str(error.value)
    assert len(str(error.value)) < 50_000


@pytest.mark.slow
def test_all_of_them_together_take_little_memory_and_time():
    """By the process's own clock, so that busy cores do not matter."""
    program = """
import resource, sys, time
sys.path.insert(0, "tests/description")
from segtrack.courses import bundled_courses, load_course
from segtrack.errors import CourseFileError
import segtrack.courses as courses
from test_yaml_budget import BOMBS
[load_course(name) for name in bundled_courses()]
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
slowest = 0.0
for text, _ in BOMBS.values():
    begun = time.process_time()
    try:
        courses.parse_course(text, "b")
    except CourseFileError:
        pass
    slowest = max(slowest, time.process_time() - begun)
print(slowest, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    slowest, memory = map(float, told.stdout.split())
    assert memory < 100  # [MB]
    assert slowest < 10  # [s]; 1 s on a machine without other work.


def test_vehicles_studies_and_mappings_have_the_same_budget(tmp_path):
    file = tmp_path / "b.yaml"
    for load, refusal in (
        (load_vehicle, VehicleFileError),
        (load_study_file, StudyFileError),
        (load_mapping, MappingFileError),
    ):
        for text in (LAUGHS, MERGES, "a: &a [*a]\n", f"friction: {'9' * 5000}\n"):
            file.write_text(text)
            with pytest.raises(refusal):
                load(file)
        file.write_text("#" * (MAX_BYTES + 1))
        with pytest.raises(FileAccessError) as error:
            load(file)
        assert str(error.value) == f"cannot read {file}: must have at most {MAX_BYTES} bytes, got more"


def test_a_file_without_an_end_is_refused():
    with pytest.raises(FileAccessError) as error:
        read_text(find_vehicle("quince").parent / "../../../../../../../dev/zero")
    assert "is a pipe, socket or device, not a file" in str(error.value)


def test_a_study_is_planned_within_bounds(tmp_path):
    file = tmp_path / "s.yaml"
    lines = "vehicle: quince\nevent: {name: step}\nparameters:\n"
    axis = "  p{}: {{paths: [x], low: 0, high: 1, count: 100}}\n"
    file.write_text(lines + "".join(axis.format(i) for i in range(4)))
    with pytest.raises(StudyFileError) as error:
        load_study_file(file)
    assert "must give a grid of at most 100000 vehicles, got 100000000" in str(error.value)


@each_row("course", bundled_courses())
def test_what_is_bundled_has_room_in_the_budget(course):
    assert load_course(course).name == course
    content = parse_yaml(load_course(course).source, course, CourseFileError)
    assert 20 * content.nodes < MAX_NODES and 20 * len(load_course(course).source) < MAX_BYTES


def test_the_name_of_a_course_is_seen_whole():
    with pytest.raises(InvalidValueError) as error:
        parse_course(HEAD, "b\u202e")
    assert str(error.value) == r"name of a course must be without characters that are not seen, got 'b\u202e'"
