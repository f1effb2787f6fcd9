"""Number of texts of 340 characters that each rule damages per second of CPU time.

Run as ``python -m benchmarks.perturbations``. "whole" is a complete damage: its own random
generator, the edits, and the damaged text; "rule" is only the choice of edits. Character rules make
10 edits, the others their default number.
"""

import time
from collections.abc import Callable
from types import ModuleType

from spanjury.perturbations.perturbation import Case, Perturbation, generator_for
from spanjury.perturbations.text import (
    characters,
    entities,
    grammar,
    meaning,
    numbers,
    roles,
    words,
)

FAMILIES: tuple[tuple[ModuleType, int | None], ...] = (
    (characters, 10),
    (words, None),
    (grammar, None),
    (entities, None),
    (numbers, None),
    (meaning, None),
    (roles, None),
)
TEXT = (
    "Ann Lee met Bob Ray in Paris on 12 May 2015, because they wanted to buy a big red car for "
    "$1,200. The dog chased a cat, and it was not happy about the 20 miles that it had to walk. "
    "He says that the company sold ten houses in London, which is a good price. The teacher left "
    "her school in Berlin; two years after that she wrote a book on it"
).ljust(340, ".")
ROUNDS, TEXTS = 50, 100  # many short rounds, so that some are undisturbed by other programs


def a_second(work: Callable[[int], object]) -> float:
    """Return the calls of `work` per CPU second, in the best of several rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        begun = time.process_time()
        for number in range(TEXTS):
            work(number)
        best = min(best, (time.process_time() - begun) / TEXTS)
    return 1 / best


def measure(name: str, rule: Perturbation, options: dict[str, int]) -> None:
    """Print the row of one rule."""
    case = Case(text=TEXT)
    rng = generator_for(1, name, "")
    whole = a_second(lambda n: rule.damage(case, generator_for(1, name, str(n)), **options).text)
    alone = a_second(lambda _: rule.rule(case, rng, **options))
    print(f"{name:<22}{whole:>12.0f}{alone:>12.0f}")


def main() -> None:
    """Print the table."""
    print(f"{'texts a CPU second':<22}{'whole':>12}{'rule':>12}")
    for module, k in FAMILIES:
        for name, rule in vars(module).items():
            if isinstance(rule, Perturbation):
                measure(name, rule, {"k": k} if k else {})


if __name__ == "__main__":
    main()
