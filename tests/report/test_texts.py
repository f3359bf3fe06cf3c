"""Texts of pictures: drawn as they are written, whoever wrote them."""

import warnings

import pytest
from matplotlib import rc_context
from matplotlib.figure import Figure
from quick import some_of

from segtrack.files import write_figure
from segtrack.html import inline_svg


@pytest.mark.parametrize("by_tex", [False, True])
@pytest.mark.parametrize(
    "name", some_of(["$x$", r"$\frac{$", "a $ b", r"\$", "front_left"], r"$\frac{$", "a $ b")
)
def test_a_dollar_in_a_name_begins_no_formula(name, by_tex, tmp_path):
    with rc_context({"text.usetex": by_tex}):
        figure = Figure(layout="constrained")
        axes = figure.add_subplot()
        figure.suptitle(name)
        axes.set_title(name, loc="left")
        axes.set_yticks([0.5], [name])
        axes.plot([0, 1], [0, 1], label=name)
        axes.legend()
        for _ in range(2):
            assert inline_svg(figure, "label").count(f">{name}</text>") == 4
            assert write_figure(tmp_path / "x.png", figure).stat().st_size > 0


def test_logarithmic_axes_have_powers_of_ten_in_every_picture_of_a_figure():
    figure = Figure()
    figure.add_subplot().loglog([1, 1e4], [1, 1e4])
    for _ in range(2):
        svg = inline_svg(figure, "label")
        assert ">1</tspan>" in svg and ">$" not in svg


def test_characters_that_no_font_has_are_drawn_without_a_warning(tmp_path):
    figure = Figure()
    figure.suptitle("\u65e5\u672c")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert write_figure(tmp_path / "x.png", figure).stat().st_size > 0
        assert ">\u65e5\u672c</text>" in inline_svg(figure, "label")
