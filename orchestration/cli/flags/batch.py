"""The flags for models that answer through batch APIs."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from spanjury.judges.core import ConfigError
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag, Flags
from spanjury.orchestration.cli.exits import say

with lazily():
    from spanjury.orchestration.services.judging import batches
    from spanjury.orchestration.wiring import runs as run_folders


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchFlags(Flags, title="Batches"):
    """The flags that say who sends batches, and where their files are.

    Raises `ConfigError` if the provider should receive them and files are named, too.
    """

    batch_api: Annotated[
        bool,
        Flag(
            "Ask models by their provider's batches: half the price, within 24 hours.",
            env=True,
            rare=True,
        ),
    ] = False
    batch_out: Annotated[
        Path | None,
        Flag("Write requests without a reply to this file, and send none.", env=True, rare=True),
    ] = None
    batch_in: Annotated[
        Path | None,
        Flag("Take replies from this output of a batch, and send no request.", env=True, rare=True),
    ] = None

    def __post_init__(self) -> None:
        if self.batch_api and self.by_file:
            raise ConfigError("--batch-api does not go with --batch-out and --batch-in")

    @property
    def by_file(self) -> bool:
        """True if the user sends the requests."""
        return self.batch_out is not None or self.batch_in is not None

    @property
    def given(self) -> bool:
        """True if any of the flags is given."""
        return self.batch_api or self.by_file

    def require_none(self, folder: "run_folders.RunFolder") -> None:
        """Raise `ConfigError` if a batch of the run in `folder` is not collected.

        Calling the models directly would pay for its requests twice.
        """
        if self.batch_api or (folder.path / batches.FOLDER).exists():
            raise ConfigError(
                "--live does not go with a batch that is sent or under way: resume the run without"
                f" it first, or give the batch up by deleting {folder.path / batches.FOLDER}"
            )

    def batches(
        self, *, batch_api: bool, folder: "run_folders.RunFolder | None"
    ) -> "batches.Batches | None":
        """Return the batches of a run in `folder`; None to call the models directly.

        Raise `ConfigError` if the run has no folder, or its requests go to the provider and files
        are named.
        """
        if batch_api and self.by_file:
            raise ConfigError("the run asks by --batch-api: collect that first, then use --live")
        if not (batch_api or self.by_file):
            return None
        if folder is None:
            raise ConfigError("batches need a run that is kept: leave out --no-memory")
        if self.by_file:
            return batches.Files(out=self.batch_out, answered=self.batch_in, note=say)
        return batches.Sending(folder.path / batches.FOLDER, note=say)
