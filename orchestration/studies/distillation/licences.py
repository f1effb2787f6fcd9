"""Licences: which of them permit that a model is trained on a text."""

import re
from collections.abc import Collection, Iterable, Iterator

from spanjury.judges.core import ConfigError

OURS = "Apache-2.0"
"""Of reports that the rules of spanjury make."""

# As SPDX and data-set cards write them. What forbids commercial use or changes is not among
# them: whether it permits training is for a lawyer, and `accepted`, to say.
_PERMITS = re.compile(
    r"cc0|cc-?zero|public[ -]?domain|pddl|unlicense|wtfpl|0bsd|bsd(-[234]-clause)?|mit(-0)?|isc"
    r"|apache(-?2\.0)?|odc-by|odbl|dl-de-by|etalab|zlib|cc-by(-sa)?|cdla-(permissive|sharing)"
)
_VERSION = re.compile(r"[-_ ]v?\d+(\.\d+)*$")
_SHOWN = 5


def permits_training(licence: str, *, accepted: Collection[str] = ()) -> bool:
    """Say whether `licence` is known to permit training, or is one of `accepted`.

    Examples
    --------
    >>> permits_training("CC-BY-4.0"), permits_training("CC-BY-NC-4.0"), permits_training("")
    (True, False, False)
    """
    folded = licence.strip().casefold().replace(" ", "-")
    if folded in {name.strip().casefold().replace(" ", "-") for name in accepted}:
        return True
    bare = _VERSION.sub("", folded)
    return any(_PERMITS.fullmatch(name) is not None for name in (folded, bare))


def require_licences(owned: Iterable[tuple[str, str]], *, accepted: Collection[str] = ()) -> None:
    """Refuse what does not permit training.

    Raise `ConfigError` if one does not; the message names the first few.

    Parameters
    ----------
    owned
        Whose licence, and which; empty where unknown.
    accepted
        Licences that the user answers for.
    """
    refused = dict.fromkeys(_refused(owned, accepted))
    if refused:
        named = "; ".join(list(refused)[:_SHOWN])
        more = f" (and {len(refused) - _SHOWN} more)" if len(refused) > _SHOWN else ""
        raise ConfigError(f"not known to permit training: {named}{more}")


def _refused(owned: Iterable[tuple[str, str]], accepted: Collection[str]) -> Iterator[str]:
    for whose, licence in owned:
        if not permits_training(licence, accepted=accepted):
            yield f"{whose} ({licence or 'no licence given'})"
