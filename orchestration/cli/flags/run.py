"""The flags that end a run early, and that say what it prints and who sends its batches."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from spanjury.judges.core import ConfigError
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag, Flags
from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.cli.shown import Shown

with lazily():
    from spanjury.orchestration.engine import metering, stopping
    from spanjury.orchestration.services.judging import batches
    from spanjury.orchestration.wiring import runs as run_folders


_NO_PROGRESS = Flag("Do not show progress.", env=True)
HOST = Flag(
    "Address to listen on; any but a loopback address needs a token, in SPANJURY_SERVE_TOKEN or"
    " --token-file.",
    "ADDRESS",
)
PORT = Flag("Port to listen on; 0 for any free port.", min=0)
Html = Annotated[
    Path | None, Flag("Write the whole report as one page, to a file that ends in .html.")
]
NoProgress = Annotated[bool, _NO_PROGRESS]
TableAsJson = Annotated[bool, Flag("Print JSON instead of a table.")]
RandomSeed = Annotated[int, Flag("Random seed.", min=0)]
LogFile = Annotated[Path | None, Flag("Write a JSON log to this file.", env=True, rare=True)]
MaxCost = Annotated[
    float | None,
    Flag("Stop and exit with 4 after spending this much.", "DOLLARS", min=1e-9, env=True),
]
MaxSeconds = Annotated[
    float | None, Flag("Stop and exit with 4 after this time.", "SECONDS", min=0.1, env=True)
]


class LimitFlags(Flags, title="Limits", have_env=True):
    """The flags that end a run early."""

    max_cost: MaxCost = None
    max_calls: Annotated[
        int | None, Flag("Stop and exit with 4 after this many calls to models.", min=1, rare=True)
    ] = None
    max_tokens_total: Annotated[
        int | None,
        Flag(
            "Stop and exit with 4 after this many tokens of prompts and replies.", min=1, rare=True
        ),
    ] = None
    max_seconds: MaxSeconds = None
    max_outage: Annotated[
        float | None,
        Flag(
            "Stop and exit with 1 if a model has not answered for this long; 60 by default.",
            "SECONDS",
            min=0.0,
            rare=True,
        ),
    ] = None
    min_usable: Annotated[
        float | None,
        Flag(
            "Stop and exit with 1 if less than this share of a model's recent rows has a usable"
            " reply; 0.1 by default.",
            "SHARE",
            min=0.0,
            max=1.0,
            rare=True,
        ),
    ] = None
    usable_window: Annotated[
        int | None,
        Flag(
            "Number of recent rows that --min-usable looks at; 50 by default.",
            "ROWS",
            min=1,
            rare=True,
        ),
    ] = None
    no_preflight: Annotated[
        bool, Flag("Do not send each model a short test question first.", rare=True)
    ] = False

    def limits(self, before: "metering.Limits | None" = None) -> "metering.Limits":
        """Return the limits of one run of the command: `before`, changed by the given flags."""
        before = before or metering.Limits()
        return metering.Limits(
            max_cost=self.max_cost or before.max_cost,
            max_calls=self.max_calls or before.max_calls,
            max_tokens=self.max_tokens_total or before.max_tokens,
            max_seconds=self.max_seconds or before.max_seconds,
        )

    def failures(self, before: "stopping.FailurePolicy | None" = None) -> "stopping.FailurePolicy":
        """Return the policy for failing models: `before`, changed by the given flags."""
        before = before or stopping.FailurePolicy()
        return stopping.FailurePolicy(
            preflight=before.preflight and not self.no_preflight,
            max_outage=before.max_outage if self.max_outage is None else self.max_outage,
            min_usable=before.min_usable if self.min_usable is None else self.min_usable,
            usable_window=self.usable_window or before.usable_window,
        )


class LogFlags(Flags, title="Output"):
    """The flags about progress and logs."""

    no_progress: Annotated[bool, replace(_NO_PROGRESS, rare=True)] = False
    log_file: LogFile = None


class ShowFlags(LogFlags, have_env=True):
    """The flags about the report of a run, and the share of it that must have a score."""

    json: Annotated[bool, Flag("Print result rows as JSON Lines instead of a report.")] = False
    show: Annotated[
        str, Flag("Texts to print: first:N, worst:N, failures, all or none.", "WHICH")
    ] = "first:3"
    min_coverage: Annotated[
        float,
        Flag(
            "Exit with 3 if less than this share of the assessments has a score.",
            "SHARE",
            min=0.0,
            max=1.0,
        ),
    ] = 0.0

    def __post_init__(self) -> None:
        Shown.parse(self.show)  # finds an invalid flag before the run begins


class BatchFlags(Flags, title="Batches", are_rare=True, have_env=True):
    """The flags that say who sends batches, and where their files are.

    Raises `ConfigError` if the provider should receive them and files are named, too.
    """

    batch_api: Annotated[
        bool, Flag("Use the provider's batch API: half the price, replies within 24 hours.")
    ] = False
    batch_out: Annotated[
        Path | None, Flag("Write unanswered requests to this file, and send none.")
    ] = None
    batch_in: Annotated[
        Path | None, Flag("Read replies from this batch output, and send no request.")
    ] = None

    def __post_init__(self) -> None:
        if self.batch_api and self.by_file:
            raise ConfigError("--batch-api cannot be combined with --batch-out and --batch-in")

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
                "--live cannot be combined with a batch that is sent or under way: resume the run"
                " without it first, or give the batch up by deleting"
                f" {folder.path / batches.FOLDER}"
            )

    def batches(
        self, *, batch_api: bool, folder: "run_folders.RunFolder | None"
    ) -> "batches.Batches | None":
        """Return the batches of a run in `folder`; None to call the models directly.

        Raise `ConfigError` if the run has no folder, or its requests go to the provider and files
        are named.
        """
        if batch_api and self.by_file:
            raise ConfigError(
                "the run waits for a batch: collect its replies first, then use --live"
            )
        if not (batch_api or self.by_file):
            return None
        if folder is None:
            raise ConfigError("batches need a run that is kept: leave out --no-memory")
        if self.by_file:
            return batches.Files(out=self.batch_out, answered=self.batch_in, note=say)
        return batches.Sending(folder.path / batches.FOLDER, note=say)
