"""Twenty mistyped names, each answered with the name that was meant."""

from pathlib import Path

import pytest
from fakes.command import call

import spanjury as package
from spanjury import exams

ROW = '{"task": "summarization", "inputs": {"Article": "It rains."}, "output": "It rains."}\n'


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("evalute rows.jsonl", "evaluate"),
        ("exam discernmnt --demo", "discernment"),
        ("bench span rows.jsonl", "spans"),
        ("evaluate rows.jsonl --aspects consistency", "--aspect"),
        ("evaluate rows.jsonl --jugde grounding", "--judge"),
        ("evaluate rows.jsonl --judge groundng", "grounding"),
        ("evaluate rows.jsonl --judge grounding:max_span=2", "max_spans"),
        ("evaluate rows.jsonl --judge checker:minicheck-robert", "minicheck-roberta"),
        ("evaluate rows.jsonl --aspect consistncy", "consistency"),
        ("evaluate rows.jsonl --task sumarization", "summarization"),
        ("evaluate rows.jsonl --shape raggas", "ragas"),
        ("evaluate rows.jsonl --column outputs=output", "output"),
        ("evaluate rows.jsonl --fail-on severty>=4", "severity"),
        ("metrics score rows.jsonl --metric rogue-2", "rouge-2"),
        ("exam robustness --demo --attack authority-clam", "authority-claim"),
        ("exam discernment --demo --recipe flws", "flaws"),
        ("exam discernment --demo --require discernment.averge>=1", "discernment.average"),
        ("plugins serching", "searcher"),
    ],
)
def test_a_mistyped_name_is_answered_with_the_nearest(
    tmp_path: Path, typed: str, meant: str
) -> None:
    (tmp_path / "rows.jsonl").write_text(ROW)
    done = call(tmp_path, *typed.split(), code=2)
    answer = done.stderr.lower()
    assert "did you mean" in answer or "possible options" in answer, done.stderr
    assert meant in done.stderr.partition("hoose from")[0]


def test_a_mistyped_parameter_is_answered_with_the_nearest() -> None:
    with pytest.raises(TypeError, match=r"check\(\) .*did you mean 'source'"):
        package.check("It rains.", sources="It rains.")  # type: ignore[call-arg]  # the mistake
    with pytest.raises(TypeError, match=r"discernment\(\) .*'judges'"):
        exams.discernment(exams.DEMO, judge="form")  # type: ignore[call-arg]  # the mistake
