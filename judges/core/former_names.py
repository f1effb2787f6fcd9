"""Former names of fields: files that an earlier version wrote are read as those of today."""

from collections.abc import Mapping


def with_todays_names(
    values: object, former: Mapping[str, str], *, texts: Mapping[str, str] | None = None
) -> object:
    """Return the table `values` with the names of today; anything else stays unchanged.

    Parameters
    ----------
    former
        Former name -> name of today. Where a table has both, the former stays: it is unknown.
    texts
        Former text -> text of today, in the fields that `former` names.
    """
    if not isinstance(values, Mapping):
        return values
    names = {old: new for old, new in former.items() if new not in values}
    today = {names.get(name, name): value for name, value in values.items()}
    for name in set(former.values()) & today.keys():
        if isinstance(text := today[name], str):
            today[name] = (texts or {}).get(text, text)
    return today
