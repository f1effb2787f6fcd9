"""The page on checkers: its table is the catalogue's."""

from collections.abc import Sequence
from pathlib import Path

from spanjury.adapters.checkers.catalogue import CheckerModel, read_catalogue

PAGE = Path(__file__).parents[2] / "docs" / "checkers.md"
HEADINGS = ("`--judge`", "model", "published as", "parameters", "licence", "languages", "figures")


def test_the_table_of_models_is_that_of_the_catalogue() -> None:
    listed = read_catalogue()
    rows = [HEADINGS, ["---"] * len(HEADINGS)]
    rows += [cells(model, listed.published(model)) for model in listed.models.values()]
    lines = PAGE.read_text("utf-8").splitlines()
    start = lines.index(line(HEADINGS))
    assert lines[start : start + len(rows)] == [line(row) for row in rows]
    assert not lines[start + len(rows)]


def cells(model: CheckerModel, published: str) -> list[str]:
    """Return the row of a model."""
    needs = "".join(f":{option}=FILE" for option in model.needs)
    judge = f"`{model.judge}`" if model.is_chat else f"`checker:{model.name}{needs}`"
    licence = f"**{model.licence}**" if model.is_non_commercial else model.licence
    facts = [model.title, model.repository or "-", model.parameters, licence, model.languages]
    return [judge, *facts, published or "-"]


def line(row: Sequence[str]) -> str:
    return f"| {' | '.join(row)} |" if row[0] != "---" else "|---" * len(row) + "|"
