"""Sets of aspects, of all the tasks, that one sort of damage harms or spares alike."""

__all__ = ["CONTENT", "FORM", "GROUNDING", "OVERALL", "SELECTION", "STRUCTURE"]

FORM = frozenset(("fluency", "grammaticality", "naturalness"))
"""How the sentences are written."""

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
"""Whether what is said is what the inputs say."""

SELECTION = frozenset(("completeness", "conciseness", "coverage", "relevance"))
"""Which things are said."""

CONTENT = GROUNDING | SELECTION | {"informativeness"}
"""What is said, however it is written."""

STRUCTURE = frozenset(("coherence", "understandability"))
"""How it hangs together."""

OVERALL = frozenset(("answer-quality", "quality"))
"""All in all."""
