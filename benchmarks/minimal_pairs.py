"""A panel's decisions on minimal pairs and one-sentence contradictions that were written as tests.

    python benchmarks/minimal_pairs.py [FLAG…]

FLAGs, such as ``--judge reader``, are passed to `spanjury bench spans`; without any, the default
panel judges. Prints Markdown for the minimal pairs, by kind of error and by similarity of wording:
the shares of wrong sentences that are *ok*, of right ones that are *faulty*, of both that are
decided, and of decisions that are right; and the share of pairs whose wrong twin has the worse
score, or the greater P(error), with ties as half. For the one-liners it prints counts. Last are the
requirements for the default panel; the exit code is 5 if one is not met. A text without a score
counts as undecided.

The whole page is in ``minimal-pairs/``.
"""

import json
import math
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

WRITTEN = Path(__file__).with_name("written")
PAIRS, LINES = "minimal_pairs", "one_liners"
FOLDER = Path("minimal-pairs")
MISSED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A panel's result for one sentence; fields that it does not state are None."""

    decision: str | None = None
    suspicion: float | None = None
    probability: float | None = None

    @property
    def is_decided(self) -> bool:
        """True if it is *ok* or *faulty*."""
        return self.decision in {"ok", "faulty"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A right and a wrong sentence, with a panel's result for each."""

    kind: str
    is_reworded: bool
    right: Verdict
    wrong: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Shares over some pairs; NaN if there is nothing to count."""

    pairs: int
    wrong_ok: float
    right_faulty: float
    decided: float
    right_of_decided: float
    order_by_score: float
    order_by_probability: float


def figures_of(pairs: Sequence[Pair]) -> Figures:
    """Compute the figures of some pairs."""
    decided = [verdict.is_decided for pair in pairs for verdict in (pair.right, pair.wrong)]
    rightly = [
        verdict.decision == due
        for pair in pairs
        for verdict, due in ((pair.right, "ok"), (pair.wrong, "faulty"))
        if verdict.is_decided
    ]
    return Figures(
        pairs=len(pairs),
        wrong_ok=_share(pair.wrong.decision == "ok" for pair in pairs),
        right_faulty=_share(pair.right.decision == "faulty" for pair in pairs),
        decided=_share(decided),
        right_of_decided=_share(rightly),
        order_by_score=_order(pairs, lambda verdict: verdict.suspicion),
        order_by_probability=_order(pairs, lambda verdict: verdict.probability),
    )


def _share(such: Iterable[float]) -> float:
    values = list(such)
    return sum(values) / len(values) if values else math.nan


def _order(pairs: Sequence[Pair], number_of: Callable[[Verdict], float | None]) -> float:
    """Return the share of pairs whose wrong twin has the greater number; ties count as half."""
    numbers = [(number_of(pair.right), number_of(pair.wrong)) for pair in pairs]
    return _share(
        0.5 + 0.5 * ((right < wrong) - (right > wrong))
        for right, wrong in numbers
        if right is not None and wrong is not None
    )


def judged_pairs(folder: Path, name: str) -> list[Pair]:
    """Read the pairs of a file, with the panel's results from a bench."""
    lines = (WRITTEN / f"{name}.jsonl").read_text().splitlines()
    rows = {row["id"]: row for row in map(json.loads, lines)}
    verdicts = {
        row["id"].partition("/")[2]: _verdict(next(iter(row["judges"].values())))
        for row in map(json.loads, (folder / "texts.jsonl").read_text().splitlines())
        if row["set"] == name
    }
    return [
        Pair(
            kind=row["kind"],
            is_reworded=bool(row.get("reworded")),
            right=verdicts[f"{row['pair']}-right"],
            wrong=verdicts[f"{row['pair']}-wrong"],
        )
        for row in rows.values()
        if not row["supported"]
    ]


def _verdict(answer: dict[str, object]) -> Verdict:
    fields = {key: answer.get(key) for key in ("decision", "suspicion", "probability")}
    return Verdict(**fields)  # type: ignore[arg-type]  # as `bench spans` writes them


class Demand(NamedTuple):
    """A bound on a figure of the default panel."""

    says: str
    at_least: float = 0.0
    at_most: float = 1.0


OF_PAIRS = {
    "wrong_ok": Demand("wrong twins ok, at most 20 %", at_most=0.2),
    "right_faulty": Demand("right twins faulty, at most 8 %", at_most=0.08),
    "decided": Demand("decided, at least 35 %", at_least=0.35),
    "right_of_decided": Demand("right of the decided, at least 80 %", at_least=0.8),
}
OF_LINES = {
    "wrong_ok": Demand("contradictions ok, at most 13 %", at_most=0.13),
    "right_faulty": Demand("paraphrases faulty, at most 7 %", at_most=0.07),
}


def demands(pairs: Sequence[Pair], lines: Sequence[Pair]) -> Iterator[tuple[str, bool]]:
    """Yield each requirement for the default panel with its figure, and whether it is met."""
    for some, wanted in ((pairs, OF_PAIRS), (lines, OF_LINES)):
        figures = figures_of(some)
        for name, demand in wanted.items():
            value = getattr(figures, name)
            yield f"{demand.says}: {value:.1%}", demand.at_least <= value <= demand.at_most


def table(pairs: Sequence[Pair]) -> str:
    """Return Markdown with the figures of all pairs, by similarity and by kind."""
    kinds = sorted({pair.kind for pair in pairs})
    groups = {
        "all": pairs,
        "near": [pair for pair in pairs if not pair.is_reworded],
        "reworded": [pair for pair in pairs if pair.is_reworded],
        **{kind: [pair for pair in pairs if pair.kind == kind] for kind in kinds},
    }
    rows = (_row(name, figures_of(group)) for name, group in groups.items())
    heads = ("pairs", "wrong ok", "right faulty", "decided", "right of decided")
    order = ("in order by score", "by P(error)")
    return "\n".join(["| | " + " | ".join((*heads, *order)) + " |", "|---" * 8 + "|", *rows])


def _row(name: str, figures: Figures) -> str:
    shares = (
        figures.wrong_ok,
        figures.right_faulty,
        figures.decided,
        figures.right_of_decided,
        figures.order_by_score,
        figures.order_by_probability,
    )
    return f"| {name} | {figures.pairs} | " + " | ".join(map(_percent, shares)) + " |"


def _percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{share:.0%}"


def counts(lines: Sequence[Pair]) -> str:
    """Return a sentence with the results for the one-liners."""
    total = len(lines)

    def sides(decision: str) -> tuple[int, int]:
        return (
            sum(pair.wrong.decision == decision for pair in lines),
            sum(pair.right.decision == decision for pair in lines),
        )

    (missed, vouched), (caught, blamed) = sides("ok"), sides("faulty")
    return (
        f"{total} one-sentence contradictions: {missed} ok, {caught} faulty, "
        f"{total - missed - caught} undecided. Their right twins: {vouched} ok, {blamed} faulty, "
        f"{total - vouched - blamed} undecided. In order by score: "
        f"{_percent(figures_of(lines).order_by_score)}."
    )


def main(flags: Sequence[str]) -> int:
    """Judge both files, print the figures, and return 5 if a requirement is not met."""
    files = [str(WRITTEN / f"{name}.jsonl") for name in (PAIRS, LINES)]
    command = [sys.executable, "-m", "spanjury", "bench", "spans", *files, "-o", str(FOLDER)]
    done = subprocess.run([*command, *flags], check=False, stdout=subprocess.DEVNULL)  # noqa: S603
    if done.returncode:
        return done.returncode
    pairs, lines = judged_pairs(FOLDER, PAIRS), judged_pairs(FOLDER, LINES)
    print(f"{table(pairs)}\n\n{counts(lines)}\n")
    results = list(demands(pairs, lines))
    print("\n".join(f"- {'met' if is_met else '**not met**'}: {says}" for says, is_met in results))
    return 0 if all(is_met for _, is_met in results) else MISSED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
