"""Examples of the token form as lines of JSON."""

from collections.abc import Iterator
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from spanjury.orchestration.studies.distillation.splits import Split
from spanjury.orchestration.studies.distillation.tokens.example import TokenExample
from spanjury.orchestration.studies.distillation.training_set import SEAL, read_lines, split_file

FORM = "tokens"
"""Value of ``form`` in the seal of a set of this form."""

_EXAMPLE: TypeAdapter[TokenExample] = TypeAdapter(TokenExample)
_SEAL: TypeAdapter[dict[str, object]] = TypeAdapter(dict[str, object])


def token_line(example: TokenExample) -> bytes:
    """Return `example` as a line of JSON, its end included."""
    return _EXAMPLE.dump_json(example, exclude_defaults=True) + b"\n"


def read_token_split(folder: Path, split: Split) -> Iterator[TokenExample]:
    """Read the examples of one split; raise `DataError` where a line is not one."""
    return read_lines(folder / split_file(split), _EXAMPLE)


def is_token_set(folder: Path) -> bool:
    """Say whether the set in `folder` is of the token form; False where there is none."""
    try:
        seal = _SEAL.validate_json((folder / SEAL).read_bytes())
    except (OSError, ValidationError):
        return False
    return seal.get("form") == FORM
