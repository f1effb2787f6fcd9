"""NUBIA, which cannot be run here, and says why."""

from typing import NoReturn

from spanjury.judges.core import ConfigError


def nubia() -> NoReturn:
    """Refuse.

    Raises `ConfigError` always. Its authors' package [1]_ pins libraries of 2020, fetches four
    models from places of its own, and the network that makes one score of theirs was trained on
    them alone.

    References
    ----------
    .. [1] Kane et al. (2020), NUBIA: neural based interchangeability assessor for text
       generation, EvalNLGEval, arXiv:2004.14667
    """
    raise ConfigError(
        "nubia is not available: its package is no longer kept and needs libraries of 2020;"
        " bertscore, comet and bleurt measure how far two texts mean the same"
    )
