"""Pages that need nothing else: pictures in the text's colour, a frame for all."""

import re
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure

from segtrack.html import inline_svg


@pytest.fixture(scope="module")
def picture():
    figure = Figure(figsize=(4.0, 2.0))
    axes = figure.add_subplot()
    axes.plot([0, 1, 2], [0, 2, 1], "o-", label="a < b & c")
    axes.legend(frameon=False)
    return inline_svg(figure, 'rising & "falling"')


def test_a_picture_refers_to_nothing_outside_of_itself(picture):
    tree = ElementTree.fromstring(picture)
    there = {element.get("id") for element in tree.iter()}
    called = re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', picture)
    assert called
    assert {first or second for first, second in called} <= there
    assert not re.search(r'(src|href)="(?!#)|https?://|url\((?!#)|<style|xmlns', picture)


def test_a_picture_says_what_it_shows_and_keeps_its_words(picture):
    tree = ElementTree.fromstring(picture)
    assert tree.get("aria-label") == 'rising & "falling"'
    assert (tree.get("width"), tree.get("viewBox")) == ("288pt", "0 0 288 144")
    assert "a < b & c" in {text.text for text in tree.iter("text")}


def test_what_is_black_takes_the_colour_of_the_text_and_the_ground_is_left_out(picture):
    assert "currentColor" in picture
    assert "#000000" not in picture
    assert "#ffffff" not in picture


def test_one_figure_gives_one_text(picture):
    figure = Figure(figsize=(4.0, 2.0))
    axes = figure.add_subplot()
    axes.plot([0, 1, 2], [0, 2, 1], "o-", label="a < b & c")
    axes.legend(frameon=False)
    assert inline_svg(figure, 'rising & "falling"') == picture
