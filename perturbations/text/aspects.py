"""Sets of aspects, over all tasks, that one kind of damage harms or spares alike."""

from spanjury.perturbations.text.language import english_perturbation

FORM = frozenset(("fluency", "grammaticality", "naturalness"))
"""Aspects of the writing of the sentences."""

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
"""Aspects of the agreement of the text with the inputs."""

SELECTION = frozenset(("completeness", "conciseness", "coverage", "relevance"))
"""Aspects of the choice of content."""

CONTENT = GROUNDING | SELECTION | {"informativeness"}
"""Aspects of the content, independent of its wording."""

STRUCTURE = frozenset(("coherence", "understandability"))
"""Aspects of the connection of the parts."""

OVERALL = frozenset(("answer-quality", "quality"))
"""Aspects of the text as a whole."""

fact_perturbation = english_perturbation(
    family="entities-and-numbers", level="word", harms=GROUNDING | OVERALL, spares=FORM
)
"""Decorator of rules that change the names, numbers, units and dates of an English text."""

term_perturbation = english_perturbation(
    family="entities-and-numbers",
    level="word",
    harms=GROUNDING | OVERALL,
    spares=FORM - {"naturalness"},
)
"""The same for rules whose new words no dictionary has."""
