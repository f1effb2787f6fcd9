"""Number of training examples made from damaged texts per second of CPU time.

Run as ``python benchmarks/damage_data.py``. "made" covers damaging, marking, explaining and scoring
texts; "written" adds the line of the file. The texts come with the package.
"""

import time
from collections.abc import Callable, Iterable
from functools import partial

from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.services.judging.exam_texts import DEMO
from spanjury.orchestration.services.judging.panels import read_segments
from spanjury.orchestration.services.training.distil import harms_of
from spanjury.orchestration.studies.distillation.damage import DamagePlan, damage_examples
from spanjury.orchestration.studies.distillation.targets import DataFile, rows_of
from spanjury.orchestration.studies.distillation.training_set import Example, example_line
from spanjury.perturbations.recipe import find_recipe

ROUNDS = 7


def a_second(work: Callable[[], Iterable[object]]) -> float:
    """Return the number of items made per CPU second, in the best of several rounds."""
    best = 0.0
    for _ in range(ROUNDS):
        begun = time.process_time()
        count = sum(1 for _ in work())
        best = max(best, count / (time.process_time() - begun))
    return best


def lines(make: Callable[[], Iterable[Example]]) -> Iterable[bytes]:
    """Return the lines of the examples."""
    return map(example_line, make())


def main() -> None:
    """Print the table."""
    rows = rows_of([DataFile(path="demo", dataset="demo", segments=tuple(read_segments(DEMO)))])
    aspects = {"summarization": Catalogue.load().aspects("summarization")}
    print(f"{'examples a CPU second':<24}{'made':>8}{'written':>10}")
    for name in ("distil", "full", "dhp/summarization"):
        plan = DamagePlan(harms=harms_of(find_recipe(name)), recipe=name)
        make = partial(damage_examples, rows, aspects, plan)
        made, written = a_second(make), a_second(partial(lines, make))
        print(f"{name:<24}{made:>8.0f}{written:>10.0f}")


if __name__ == "__main__":
    main()
