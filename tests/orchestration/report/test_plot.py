"""Plots of pages: axes with round numbers, points in their places, nothing that runs."""

import math
import re

import pytest
from hypothesis import given
from hypothesis.strategies import floats, lists

from spanjury.orchestration.report import Plot, PlotPoint, Report
from spanjury.orchestration.report.html import report_html
from spanjury.orchestration.report.markdown import report_markdown
from spanjury.orchestration.report.plot import HEIGHT, WIDTH, Box, axis_of, placed_marks, plot_svg

HOSTILE = '"><script>x</script>'


def plot(*points: PlotPoint) -> Plot:
    return Plot(points=points, x="tokens", y="agreement", alt="Cost and agreement")


@given(lists(floats(-1e9, 1e9), min_size=1))
def test_an_axis_holds_all_values_and_has_round_numbers_within(values: list[float]) -> None:
    axis = axis_of(values)
    assert axis.low <= min(values) <= max(values) <= axis.high
    assert 2 <= len(axis.ticks) <= 8
    assert all(axis.low <= tick <= axis.high for tick in axis.ticks)


def test_ticks_are_equally_far_apart() -> None:
    assert axis_of([0.51, 0.68]).ticks == pytest.approx((0.5, 0.55, 0.6, 0.65))


def test_points_stand_where_their_numbers_say() -> None:
    svg = plot_svg(
        plot(
            PlotPoint(x=0, y=0.5, name="low", kind="line", mark="1"),
            PlotPoint(x=10, y=0.7, name="high", kind="line", mark="2", interval=(0.6, 0.8)),
        )
    )
    (low, high) = re.findall(r'<circle class="line" cx="([\d.]+)" cy="([\d.]+)"', svg)
    assert float(low[0]) < float(high[0])
    assert float(low[1]) > float(high[1])  # y grows downwards
    assert f'points="{low[0]},{low[1]} {high[0]},{high[1]}"' in svg
    ends = re.search(
        r'class="interval line" x1="[\d.]+" x2="[\d.]+" y1="([\d.]+)" y2="([\d.]+)"', svg
    )
    assert ends
    assert float(ends[2]) < float(high[1]) < float(ends[1])
    for x in re.findall(r'[c ]x[12]?="([\d.]+)"', svg):
        assert 0 <= float(x) <= WIDTH
    for y in re.findall(r'[c ]y[12]?="([\d.]+)"', svg):
        assert 0 <= float(y) <= HEIGHT


def test_points_without_a_position_are_not_drawn() -> None:
    kept = PlotPoint(x=1, y=0.5, name="kept", interval=(math.nan, 1.0))
    lost = PlotPoint(x=1, y=math.nan, name="lost")
    svg = plot_svg(plot(kept, lost))
    assert "kept" in svg
    assert "lost" not in svg
    assert "interval" not in svg
    assert plot_svg(plot(lost)) == ""
    assert "<figure" not in report_html(Report(title="a", sections=[plot(lost)]))


def test_names_are_text_whatever_they_hold() -> None:
    html = report_html(
        Report(title="a", sections=[plot(PlotPoint(x=1, y=1, name=HOSTILE, mark=HOSTILE))])
    )
    assert "<script" not in html
    assert html.count("&lt;script&gt;") == 2


def marks_of(svg: str) -> list[tuple[str, str]]:
    """Return the marks with the end of the text that stands at the point."""
    return re.findall(r'<text class="mark"[^>]*text-anchor="(\w+)">(\w+)%?<', svg)


def test_marks_of_points_that_lie_together_do_not_cover_each_other() -> None:
    far = [PlotPoint(x=x, y=0.9, name="far", kind="line", mark="far") for x in (0, 100)]
    near = [
        PlotPoint(x=50 + x, y=0.2 + x / 900, name=f"{x}", kind="line", mark=f"m{x}")
        for x in range(6)
    ]
    svg = plot_svg(plot(*far, *near))
    assert marks_of(svg).count(("start", "far")) == 2
    drawn = [mark for _, mark in marks_of(svg) if mark != "far"]
    assert 1 <= len(drawn) < len(near)
    assert "<title>m5: 5</title>" in svg


def test_a_mark_is_not_cut_by_an_edge_nor_laid_over_another_point() -> None:
    within, points = Box(0, 0, 100, 100), [(90.0, 4.0), (50.0, 50.0), (64.0, 40.0)]
    right, middle = placed_marks(
        [(90.0, 4.0, "a"), (50.0, 50.0, "b")], points=points, within=within
    )
    assert (right.anchor, right.y > 4) == ("end", True)  # neither right nor above has room
    assert (middle.anchor, middle.y < 50) == ("end", True)  # a point lies right above
    assert placed_marks([(50, 50, "far too long")], points=[], within=within) == []


def test_the_first_of_overlapping_points_is_marked() -> None:
    within = Box(0, 0, 100, 100)
    (mark,) = placed_marks([(50, 50, "a"), (50, 50, "b")], points=[(50, 50)], within=within)
    assert mark.text == "a"


def test_markdown_has_the_caption() -> None:
    one = plot(PlotPoint(x=1, y=1, name="a"))
    assert "Cost and agreement" in report_markdown(Report(title="a", sections=[one]))
