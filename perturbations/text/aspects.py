"""Sets of aspects, of all the tasks, that one sort of damage harms or spares alike."""

from spanjury.perturbations.perturbation import text_perturbation

FORM = frozenset(("fluency", "grammaticality", "naturalness"))
"""Aspects of how the sentences are written."""

GROUNDING = frozenset(
    (
        "accuracy",
        "consistency",
        "correctness",
        "factuality",
        "faithfulness",
        "groundedness",
        "meaning-preservation",
    )
)
"""Aspects of whether the text says what the inputs say."""

SELECTION = frozenset(("completeness", "conciseness", "coverage", "relevance"))
"""Aspects of which things are said."""

CONTENT = GROUNDING | SELECTION | {"informativeness"}
"""Aspects of what is said, however it is written."""

STRUCTURE = frozenset(("coherence", "understandability"))
"""Aspects of how it hangs together."""

OVERALL = frozenset(("answer-quality", "quality"))
"""Aspects of the text as a whole."""

fact_perturbation = text_perturbation(
    family="entities-and-numbers",
    level="word",
    harms=GROUNDING | OVERALL,
    spares=FORM,
    language="en",
)
"""Decorator of rules that change the names, numbers, units and dates of an English text."""
