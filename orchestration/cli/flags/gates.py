"""The flags that state requirements: a run exits with 5 if its texts do not meet them."""

from pathlib import Path
from typing import Annotated, Literal

from spanjury.judges.core import ConfigError
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag, Flags

with lazily():
    from spanjury.orchestration.studies.failing import gate


class DemandFlags(Flags, title="Limits", have_env=True):
    """The flags that state which results must not pass."""

    fail_on: Annotated[
        tuple[str, ...],
        Flag("Exit with 5 if a report meets CONDITION ('severity>=4'); repeatable.", "CONDITION"),
    ] = ()
    fail_under: Annotated[
        tuple[str, ...],
        Flag("Exit with 5 if a mean score is below SCORE (consistency=4); repeatable.", "SCORE"),
    ] = ()
    max_flagged: Annotated[
        str | None, Flag("Exit with 5 if more than SHARE (5%) of the texts are faulty.", "SHARE")
    ] = None

    def __post_init__(self) -> None:
        if self.given:
            self.terms()  # finds invalid flags before anything is judged

    @property
    def given(self) -> tuple[str, ...]:
        """The given flags that state requirements."""
        values = (self.fail_on, self.fail_under, self.max_flagged is not None)
        return tuple(flag for flag, value in zip(_TERMS, values, strict=True) if value)

    def terms(self) -> "gate.Terms":
        """Return the requirements; raise `ConfigError` if a flag is invalid."""
        return gate.parse_terms(
            fail_on=self.fail_on, fail_under=self.fail_under, max_flagged=self.max_flagged
        )


class GateFlags(DemandFlags, title="Limits"):
    """The requirements on a run, and the flags that say how failing rows are reported."""

    annotations: Annotated[
        Literal["none", "github"],
        Flag(
            "'github' prints failing rows as annotations of a GitHub workflow, and prints"
            " no texts.",
            rare=True,
        ),
    ] = "none"
    sarif: Annotated[
        Path | None,
        Flag("Write the rows that fail --fail-on to this file, in SARIF format.", rare=True),
    ] = None

    def __post_init__(self) -> None:
        if self.sarif is not None and not self.fail_on:
            raise ConfigError("--sarif needs --fail-on: it holds the rows that fail it")
        if self.annotations != "none" and not self.given:
            raise ConfigError(f"--annotations needs one of {', '.join(_TERMS)}")
        DemandFlags.__post_init__(self)

    @property
    def arguments(self) -> list[str]:
        """The same flags as arguments for another command."""
        pairs = [("--fail-on", text) for text in self.fail_on]
        pairs += [("--fail-under", text) for text in self.fail_under]
        pairs += [("--max-flagged", self.max_flagged)] if self.max_flagged is not None else []
        pairs += [("--annotations", self.annotations)] if self.annotations != "none" else []
        pairs += [("--sarif", str(self.sarif))] if self.sarif is not None else []
        return [word for pair in pairs for word in pair]


_TERMS = ("--fail-on", "--fail-under", "--max-flagged")
