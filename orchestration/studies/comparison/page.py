"""A comparison of two judges as a page to read, and as plain values for programs."""

from collections.abc import Iterator, Sequence

from spanjury.judges.core import code_span, markdown
from spanjury.orchestration.report.json import fields_of, plain, versions
from spanjury.orchestration.studies.comparison.comparison import Compared, Comparison
from spanjury.orchestration.studies.comparison.readings import (
    conclusion,
    difference,
    preferred,
    remarks,
    what_was_done,
)
from spanjury.orchestration.studies.comparison.sharing import Place
from spanjury.orchestration.studies.judging import Examinee
from spanjury.orchestration.studies.markdown_rows import bold, head, row

__all__ = ["comparison_json", "comparison_markdown"]

_READING = (
    "Differences are A less B, with 95 % intervals: texts are drawn again, the same ones for both "
    "judges, with all their treatments and aspects. *p* is two-sided and adjusted by Holm for all "
    "rows of both tables; a verdict is given up to .05. **Bold**: the aspect was damaged. *Not "
    "shown* is no proof that the judges are alike: the texts may be too few."
)


def comparison_json(
    comparison: Comparison, *, judges: tuple[Examinee, Examinee]
) -> dict[str, object]:
    """Return a comparison as objects, lists, strings, numbers and nulls.

    Parameters
    ----------
    comparison
        What it came to.
    judges
        A and B.
    """
    return {
        "versions": versions(),
        "judges": [plain(judge) for judge in judges],
        "seed": comparison.seed,
        "draws": comparison.draws,
        "repeats": list(comparison.repeats),
        "conclusion": conclusion(comparison),
        "summary": plain(comparison.summary),
        "places": [
            {**fields_of(place), **fields_of(told), "verdict": preferred(place, told)}
            for place, told in comparison.by_place
        ],
        "unshared": plain(comparison.unshared),
        "remarks": list(remarks(comparison)),
    }


def comparison_markdown(
    comparison: Comparison, *, judges: tuple[Examinee, Examinee], folders: tuple[str, str]
) -> str:
    """Return a page that tells what a comparison came to.

    Parameters
    ----------
    comparison
        What it came to.
    judges
        A and B.
    folders
        Where their exams are.
    """
    falling = [told for told in comparison.by_place if told[0].expected != "unchanged"]
    steady = [told for told in comparison.by_place if told[0].expected == "unchanged"]
    lines = (
        "# Two judges compared",
        "",
        *_judges(judges, folders),
        f"- {comparison.draws} bootstrap draws, seed {comparison.seed}",
        "",
        bold(conclusion(comparison)),
        "",
        *_section("Where scores should fall, or may: P(drop) - P(rise)", _table(falling)),
        *_section("Where scores should stay: P(drop) + P(rise), less is better", _table(steady)),
        *_section("Read with care", (f"- {markdown(remark)}" for remark in remarks(comparison))),
        _READING,
        "",
    )
    return "\n".join(lines)


def _judges(judges: tuple[Examinee, Examinee], folders: tuple[str, str]) -> Iterator[str]:
    for name, judge, folder in zip("AB", judges, folders, strict=True):
        yield f"- {name}: {code_span(judge.signature)}, in {code_span(folder)}"
        yield from (
            f"  - {markdown(seat)}: {code_span(told)}" for seat, told in judge.seats.items()
        )


def _table(told: Sequence[tuple[Place, Compared]]) -> Iterator[str]:
    if told:
        yield from head(
            "treatment", "aspect", "texts", "A", "B", "difference [95 %]", "p", "verdict"
        )
    for place, compared in told:
        yield row(
            what_was_done(place),
            bold(place.aspect) if place.expected == "falls" else place.aspect,
            str(compared.texts),
            f"{compared.first:+.2f}",
            f"{compared.second:+.2f}",
            difference(compared),
            f"{compared.adjusted:.2g}",
            preferred(place, compared),
        )


def _section(title: str, lines: Iterator[str]) -> Iterator[str]:
    body = list(lines)
    if body:
        yield from (f"## {title}", "", *body, "")
