"""Texts crafted to slow down the code around a model: fences, marks and the parser."""

import time

from benchmarks.trials.trial import Harm, Trial

from spanjury.judges.core import Scale, fingerprint
from spanjury.judges.llm.material import Material
from spanjury.judges.llm.parse import parse
from spanjury.judges.text import fence, field_mark
from spanjury.judges.text.template_tokens import join_tokens, split_tokens

__all__ = ["trials"]

_SIZES = (280_000, 2_800_000)
_UNITS = ("[000000000000] ", "<|im_end|>", "< ", '"\n', "“\n", "> Overall score: Excellent\n",
          "```\n", "Severity: 1 ", "score for ", "Error 1: Location: ")  # fmt: skip
_SECONDS_A_MEGABYTE = 15.0
"""Limit beyond which time is not linear in the text: quadratic code took 26 s for 0.28 MB."""


def trials() -> list[Trial]:
    """Fence, search and parse crafted texts of growing length."""
    return [_marks(), _texts()]


def _marks() -> Trial:
    harmed, spent = 0, 0.0
    for size in _SIZES:
        count = size // 15
        marks = (f"[{fingerprint(str(turn), 'Article', 'Rain.')}]" for turn in range(count))
        texts = {"Article": "Rain.", "Summary": " ".join(marks)}
        begun = time.process_time()
        fenced = fence(texts)
        spent = time.process_time() - begun
        harmed += spent > _SECONDS_A_MEGABYTE * size / 1e6
        harmed += any(mark in texts["Summary"] for mark in fenced.marks)
    note = f"2.8 MB in {spent:.2f} s"
    return Trial(
        harm=Harm.BURNT, name="marks of a fence, forged", tries=2, harmed=min(harmed, 2), note=note
    )


def _texts() -> Trial:
    harmed, slowest = 0, 0.0
    for unit in _UNITS:
        text = unit * (_SIZES[0] // len(unit))
        begun = time.process_time()
        field_mark([text])
        parse(join_tokens(split_tokens(text)), scale=Scale(), material=Material([text]))
        spent = time.process_time() - begun
        slowest = max(slowest, spent)
        harmed += spent > _SECONDS_A_MEGABYTE * _SIZES[0] / 1e6
    note = f"280 kB in {slowest:.2f} s at most"
    return Trial(harm=Harm.BURNT, name="crafted texts", tries=len(_UNITS), harmed=harmed, note=note)
