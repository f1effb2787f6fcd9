"""Write tables as lines of TOML, for files that people read and edit."""

import json
from collections.abc import Mapping, Sequence


def toml_lines(values: Mapping[str, object], *, under: str = "") -> list[str]:
    """Return the lines of a table: its own keys first, then its subtables.

    `under` is the path of the table, followed by a dot; empty for a whole file.
    """
    plain, tables, lists = [], [], []
    for name, value in values.items():
        if isinstance(value, Mapping):
            key_path = f"{under}{_key(name)}"
            own = toml_lines(value, under=f"{key_path}.")
            has_keys = any(not isinstance(item, Mapping) for item in value.values())
            tables += ["", f"[{key_path}]", *own] if has_keys else own
        elif _tables(value):
            key_path = f"{under}{_key(name)}"
            for table in _tables(value):
                lists += ["", f"[[{key_path}]]", *toml_lines(table, under=f"{key_path}.")]
        else:
            plain.append(f"{_key(name)} = {_value(value)}")
    return [*plain, *tables, *lists]


def _tables(value: object) -> list[Mapping[str, object]]:
    """Return the tables in a list; empty for any other value."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _key(name: str) -> str:
    return name if name.isidentifier() and name.isascii() else _text(name)


def _value(value: object) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Sequence):
        return f"[{', '.join(map(_value, value))}]"
    return repr(value)


def _text(text: str) -> str:
    """Return a quoted text: TOML reads JSON's escapes, and also requires one for U+007F."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
