"""CPU time of finding one quote in a text of 10,000 characters.

Run ``python -m benchmarks.locator``. Each case is one kind of quote. A locator prepares its text
at the first search, so each case is timed on a used locator and, as ``first``, on a new one. A
time is the best of three, to exclude other programs.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random  # noqa: TID251 - a seeded generator of benchmark texts

from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table

from spanjury.judges.text import Locator

LENGTH = 10_000
ROUNDS = 12
REPEATS = 3
LENGTHS = (1, 3, 10, 30, 60, 100, 300, 1_000, 3_000, 6_000, 10_000)
WORDS = """
    the a of to and in was said for on with that by at from his her it is as they were
    council report minister river bridge yesterday morning decision hospital teachers
    company profits quarter evening rescue children village summer election 2015 £40m
""".split()  # noqa: SIM905


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A text, and a quote to search for."""

    kind: str
    text: str
    quote: str


def prose(random: Random, *, length: int) -> str:
    """Return made-up prose of exactly `length` characters."""
    sentences: list[str] = []
    while sum(map(len, sentences)) < length:
        words = random.choices(WORDS, k=random.randint(5, 20))
        sentences.append(" ".join(words).capitalize() + random.choice([". ", ", ", "’s “x” – "]))
    return "".join(sentences)[:length]


def mistyped(random: Random, quote: str) -> str:
    """Return `quote` with about one character in twelve replaced."""
    return "".join(random.choice("xyzq") if random.random() < 1 / 12 else c for c in quote)


def shuffled(random: Random, quote: str) -> str:
    """Return the words of `quote` in another order."""
    words = quote.split(" ")
    random.shuffle(words)
    return " ".join(words)


def cases(random: Random) -> Iterator[Case]:
    """Yield ordinary and adversarial cases with quotes of every length."""
    text, other = prose(random, length=LENGTH), prose(random, length=LENGTH)
    sentence = prose(random, length=200)
    near = "".join(mistyped(random, sentence) for _ in range(LENGTH // 200))
    manglings: dict[str, Callable[[str], str]] = {
        "verbatim": str,
        "other case and quotes": lambda quote: f"‘{quote.upper()}’",
        "mistyped": lambda quote: mistyped(random, quote),
        "half of it missing": lambda quote: quote[: len(quote) // 4] + quote[3 * len(quote) // 4 :],
        "elided": lambda quote: f"{quote[: len(quote) // 3]} ... {quote[2 * len(quote) // 3 :]}",
        "words shuffled": lambda quote: shuffled(random, quote),
    }
    for length in LENGTHS:
        start = random.randrange(LENGTH - length + 1)
        quote = text[start : start + length]
        for kind, mangle in manglings.items():
            yield Case(kind=kind, text=text, quote=mangle(quote))
        yield Case(kind="not in the text", text=text, quote=other[:length])
        yield Case(kind="one of many near matches", text=near, quote=(sentence * 50)[:length])
        pieces = {
            "repeated letter, then another": ("a", "a", "b"),
            "repeated letter, other case": ("a", "A", ""),
            "repeated pair, then another": ("ab", "ab", "c"),
            "repeated pair, turned": ("ab", "abba", ""),
            "only spaces between letters": ("a  ", "a ", "b"),
            "only punctuation": ("' - ", "' . ", "b"),
            "combining marks": ("e\u0301\u0323", "e\u0323\u0301", "b"),
            "one letter that folds to many": ("\ufdfa", "\ufdfa", "b"),
        }
        for kind, (unit, quoted, last) in pieces.items():
            long = (unit * LENGTH)[:LENGTH]
            yield Case(kind=kind, text=long, quote=(quoted * LENGTH)[: length - len(last)] + last)


def find_time(case: Case, *, used: bool) -> float:
    """Return the CPU time of one ``find``, in milliseconds."""
    times = []
    for _ in range(REPEATS):
        locator = Locator(case.text)
        if used:
            locator.find(case.text[100:200].swapcase() + "#")
        begun = time.process_time_ns()
        locator.find(case.quote)
        times.append((time.process_time_ns() - begun) / 1e6)
    return min(times)


def quantile(times: list[float], *, share: float) -> float:
    """Return the smallest time that `share` of `times` do not exceed."""
    return sorted(times)[min(len(times) - 1, int(share * len(times)))]


def measure() -> dict[str, tuple[list[float], list[float]]]:
    """Return the times on used and on new locators, by kind of case."""
    times: dict[str, tuple[list[float], list[float]]] = {}
    for seed in range(ROUNDS):
        for case in cases(Random(seed)):  # noqa: S311 - no secret is made
            used, first = times.setdefault(case.kind, ([], []))
            used.append(find_time(case, used=True))
            first.append(find_time(case, used=False))
    return times


def main() -> None:
    """Print a table of percentiles."""
    times = measure()
    print(f"Locator.find in {LENGTH:,} characters: CPU milliseconds")
    table = Table(box=MARKDOWN)
    table.add_column("kind of quote")
    for name in ("p50", "p99", "max", "first p50", "first p99", "first max"):
        table.add_column(name, justify="right")
    everything = (
        [spent for used, _ in times.values() for spent in used],
        [spent for _, first in times.values() for spent in first],
    )
    for kind, both in {**times, "all": everything}.items():
        shares = [quantile(spent, share=share) for spent in both for share in (0.5, 0.99, 1.0)]
        table.add_row(kind, *(f"{share:.2f}" for share in shares))
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
