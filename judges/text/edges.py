"""Where a passage may begin and end: between words, never inside a letter."""

import unicodedata

__all__ = ["joined", "stands_alone"]

_JOINER = "\N{ZERO WIDTH JOINER}"


def joined(left: str, right: str) -> bool:
    """Say whether two neighbouring characters belong to one word or one letter."""
    if _JOINER in {left, right} or unicodedata.category(right)[0] == "M":
        return True
    if not (left.isalnum() and right.isalnum()):
        return False
    if left.isascii() and right.isascii():
        return True
    return not (_spaceless(left) or _spaceless(right))


def stands_alone(text: str, start: int, *, end: int) -> bool:
    """Say whether the non-empty ``text[start:end]`` cuts no word and no letter in two."""
    if start > 0 and joined(text[start - 1], text[start]):
        return False
    return end == len(text) or not joined(text[end - 1], text[end])


def _spaceless(character: str) -> bool:
    """Say whether its script writes words without spaces between them."""
    code = ord(character)
    if code < 0x2E80:  # noqa: PLR2004 - Thai to Myanmar, Khmer
        return 0x0E00 <= code < 0x10A0 or 0x1780 <= code < 0x1800  # noqa: PLR2004
    # from the CJK radicals on, but for Hangul syllables
    return not (0xAC00 <= code < 0xD800 or 0xFB00 <= code < 0x20000)  # noqa: PLR2004
