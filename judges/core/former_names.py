"""Former names of fields: files of earlier versions are read under the current names."""

from collections.abc import Mapping


def with_todays_names(
    values: object, former: Mapping[str, str], *, texts: Mapping[str, str] | None = None
) -> object:
    """Return the table `values` with today's names; any other value stays unchanged.

    Parameters
    ----------
    former
        Former name -> today's name. If a table has both, the former name stays, to be reported
        as unknown.
    texts
        Former text -> today's text, in the fields that `former` renames.
    """
    if not isinstance(values, Mapping):
        return values
    names = {old: new for old, new in former.items() if new not in values}
    today = {names.get(name, name): value for name, value in values.items()}
    for name in set(former.values()) & today.keys():
        if isinstance(text := today[name], str):
            today[name] = (texts or {}).get(text, text)
    return today
