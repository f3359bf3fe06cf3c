"""Sheets of courses: what they show is what environments draw."""

import json

import pytest
from command_line import run
from PIL import Image
from scenes import environment

from segtrack.report import CourseSheet


def test_courses_are_those_of_environments_with_the_same_seeds_and_show_robot_and_way():
    given = {"roughness": (0.1, 0.3), "initial_y": (-0.2, 0.2)}
    sheet = CourseSheet.of("RoughTerrain", 2, seed=5, parameters=given)
    with environment("RoughTerrain", engine="native", **given) as env:
        for course in sheet.courses:
            _, info = env.reset(seed=course.seed)
            named = {name: info["parameters"][name] for name in ("roughness", "kind", "length", "initial_y")}
            named["kind"] = env.parameters["kind"].options[named["kind"]]
            assert course.values == named
            red, green, blue = course.picture.astype(int).reshape(-1, 3).T
            way = (red > 1.8 * green) & (red > 1.8 * blue)
            body = (red > 1.8 * blue) & (green > 1.3 * blue)
            assert way.sum() > 300 and body.sum() > 300
    assert [course.seed for course in sheet.courses] == [5, 6]
    assert len(sheet.figure().axes) == 2
    assert sheet.courses[0].caption.startswith(
        f"seed 5, roughness {sheet.courses[0].values['roughness']:.3g}"
    )


@pytest.mark.slow
def test_the_command_writes_a_sheet(tmp_path):
    done = run("preview", "Traverse", "--courses", "2", "--set", "kind=mix", "--json", folder=tmp_path)
    assert [course["kind"] for course in json.loads(done.stdout)["courses"]] == ["mix", "mix"]
    (picture,) = tmp_path.rglob("preview.png")
    with Image.open(picture) as image:
        assert image.width == 2 * 3.2 * 120
