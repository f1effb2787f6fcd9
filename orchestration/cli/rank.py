"""x"""


def rank() -> None:
    """Rank."""
