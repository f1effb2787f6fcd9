"""Text that can be sent: what UTF-8 cannot encode is replaced."""

__all__ = ["wellformed"]


def wellformed(text: str) -> str:
    r"""Return `text` with what UTF-8 cannot encode, lone surrogates, made U+FFFD.

    Examples
    --------
    >>> wellformed("a\ud800b") == "a\ufffdb"
    True
    """
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
