"""A threshold on the probability of an error, chosen on examples for validation.

A small model finds one verdict likelier whatever the text; what it knows is in how much likelier.
The threshold is the one with the highest balanced accuracy: the mean of the share of faulty texts
that are caught and of sound ones that are left alone.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch

from spanjury.adapters.causal.chat_tokens import ChatTokens
from spanjury.adapters.training.job import Threshold, VerdictWords
from spanjury.adapters.training.rendering import Rendered


def error_probabilities(
    model: torch.nn.Module, examples: Sequence[Rendered], *, chat: ChatTokens, words: VerdictWords
) -> list[float]:
    """Return the probability of ``yes`` beside ``no`` for each example, in order."""
    yes, no = (chat.answer(f"{words.prefix}{word}")[:-1] for word in (words.yes, words.no))
    place = next(at for at, (one, other) in enumerate(zip(yes, no, strict=False)) if one != other)
    device = next(model.parameters()).device
    loose: Any = model
    found = []
    model.eval()
    with torch.inference_mode():
        for example in examples:
            ids = torch.tensor([example.ids[: example.answer + place]], device=device)
            logits = loose(input_ids=ids, use_cache=False, logits_to_keep=1).logits[0, -1]
            both = logits[[yes[place], no[place]]].float().softmax(dim=-1)
            found.append(float(both[0]))
    return found


def best_threshold(probabilities: Sequence[float], faulty: Sequence[bool]) -> Threshold | None:
    """Return the threshold that parts the two best; None where one of them is not there.

    Of equals it is the one nearest to one half.

    Examples
    --------
    >>> best_threshold([0.1, 0.2, 0.3, 0.4], [False, False, True, True])
    Threshold(value=0.25, caught=1.0, false_alarms=0.0, examples=4)
    """
    bad, good = sum(faulty), len(faulty) - sum(faulty)
    if not bad or not good:
        return None
    edges = sorted({0.0, 1.0, *probabilities})
    found = []
    for value in ((low + high) / 2 for low, high in pairwise(edges)):
        flagged = [probability >= value for probability in probabilities]
        caught = sum(one and due for one, due in zip(flagged, faulty, strict=True)) / bad
        alarms = sum(one and not due for one, due in zip(flagged, faulty, strict=True)) / good
        found.append(
            Threshold(value=value, caught=caught, false_alarms=alarms, examples=len(faulty))
        )
    return max(found, key=lambda one: (one.caught - one.false_alarms, -abs(one.value - 0.5)))
