"""The flags for judging: panels, models, and calls to models."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from spanjury.judges.core import ConfigError
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag, Flags
from spanjury.orchestration.cli.exits import say

with lazily():
    from spanjury.orchestration.services.people.marks import exporting
    from spanjury.orchestration.wiring import config as configs
    from spanjury.orchestration.wiring import examples, panel_files, specs

ModelBaseUrls = Annotated[
    tuple[str, ...],
    Flag("URL of the model's server, or env:VARIABLE; repeatable.", "URL", env=True),
]
Tokenizer = Annotated[
    Path | None,
    Flag(
        "File or folder that lists the model's special tokens; by default they come from its"
        " server.",
        "PATH",
        env=True,
        rare=True,
    ),
]
Seed = Annotated[int | None, Flag("Random seed.", env=True)]
Workers = Annotated[
    str | None,
    Flag(
        "Number of processes for judges without a model, or auto for one per core.",
        "N|auto",
        env=True,
        rare=True,
    ),
]


class CallFlags(Flags, title="Calls to models", are_rare=True, have_env=True):
    """The flags about calls to models."""

    client: Annotated[
        Literal["lean"] | None,
        Flag("'lean' uses less CPU, but needs a server with OpenAI's interface."),
    ] = None
    via: Annotated[
        Literal["fast"] | None, Flag("Old spelling of '--client lean'.", hidden=True)
    ] = None
    max_connections: Annotated[
        int | None, Flag("Maximum concurrent calls to each server; 8 by default.", min=1)
    ] = None
    min_connections: Annotated[
        int | None, Flag("Minimum concurrent calls to an overloaded server; 1 by default.", min=1)
    ] = None
    requests_per_minute: Annotated[
        int | None, Flag("Maximum calls to each model per minute.", min=1)
    ] = None
    tokens_per_minute: Annotated[
        int | None, Flag("Maximum tokens of each model per minute.", min=1)
    ] = None
    tokenizer: Tokenizer = None
    timeout: Annotated[
        float | None, Flag("Time limit for one call; 120 by default.", "SECONDS", min=0.1)
    ] = None
    attempts: Annotated[
        int | None,
        Flag(
            "Maximum attempts for a failing call; 4 by default. A timeout is retried once.", min=1
        ),
    ] = None

    def applied(
        self, model: "configs.ModelConfig | str", *, base_url: tuple[str, ...]
    ) -> "configs.ModelConfig | str":
        """Return `model` with the flags applied, at `base_url` if given."""
        if self == CallFlags() and not base_url:
            return model
        named = configs.ModelConfig.of(model)
        return replace(
            named,
            base_url=base_url or named.base_url,
            client="lean" if self.client or self.via else named.client,
            max_connections=self.max_connections or named.max_connections,
            min_connections=self.min_connections or named.min_connections,
            requests_per_minute=self.requests_per_minute or named.requests_per_minute,
            tokens_per_minute=self.tokens_per_minute or named.tokens_per_minute,
            timeout=self.timeout or named.timeout,
            attempts=self.attempts or named.attempts,
            tokenizer=self.tokenizer.absolute() if self.tokenizer else named.tokenizer,
        )


class ScoringFlags(Flags, title="Scores and spans of the panel", are_rare=True, have_env=True):
    """The flags that say how the judges' reports are combined."""

    aggregate: Annotated[
        str | None, Flag("How to combine the judges' scores; mean by default.")
    ] = None
    consolidate: Annotated[
        str | None, Flag("How to merge the judges' spans: by rules, the default, or by an agent.")
    ] = None
    score: Annotated[
        str | None,
        Flag(
            "How to score with the panel: aggregate, the default, or from-spans[:option=value,…]."
        ),
    ] = None
    calibration: Annotated[
        Path | None, Flag("Calibration file that 'spanjury calibrate' wrote for this panel.")
    ] = None
    cascade: Annotated[
        Path | None,
        Flag("TOML file of a cascade: which judges to ask first, and when to ask the others."),
    ] = None

    def applied(self, panel: "configs.PanelConfig") -> "configs.PanelConfig":
        """Return `panel` with the flags applied."""
        return replace(
            panel,
            aggregate=self.aggregate or panel.aggregate,
            consolidate=self.consolidate or panel.consolidate,
            score=self.score or panel.score,
            calibration=self.calibration.absolute() if self.calibration else panel.calibration,
            cascade=panel_files.read_cascade_file(self.cascade) if self.cascade else panel.cascade,
        )


def with_workers(panel: "configs.PanelConfig", workers: str | None) -> "configs.PanelConfig":
    """Return the panel with the processes of ``--workers``; None changes nothing."""
    if workers is None or workers == "auto":
        return panel.with_workers(None if workers is None else "auto")
    if not workers.isdecimal():
        raise ConfigError(f"--workers {workers}: expected a number, or auto for one per core")
    return panel.with_workers(int(workers))


class PanelFlags(Flags, title="Judges"):
    """The flags that name judges and models."""

    judge: Annotated[
        tuple[str, ...], Flag("Judge to use: NAME or NAME:option=value,…; repeatable.", env=True)
    ] = ()
    panel: Annotated[
        Path | None, Flag("TOML file of the panel; 'best' and 'tuned' add a checker.", env=True)
    ] = None
    model: Annotated[
        tuple[str, ...],
        Flag("LiteLLM name of a model (ollama/…), or embedded/FILE.gguf; repeatable.", env=True),
    ] = ()
    model_base_url: ModelBaseUrls = ()
    budget: Annotated[
        str | None,
        Flag(
            "Maximum cost of a cascade, in dollars (5), calls (300calls) or tokens (2e5tokens).",
            "AMOUNT",
            env=True,
            rare=True,
        ),
    ] = None
    workers: Workers = None
    seed: Seed = None
    calls: CallFlags = CallFlags()
    scoring: ScoringFlags = ScoringFlags()

    def config(self, before: "configs.PanelConfig | None" = None) -> "configs.PanelConfig":
        """Return the panel of `described`; print the seats of a panel that has a name."""
        if self.panel is not None and (named := panel_files.named_panel(self.panel)):
            say(f"--panel {self.panel}: {named.reason}")
        return self.described(before)

    def described(self, before: "configs.PanelConfig | None" = None) -> "configs.PanelConfig":
        """Return the panel of the run `before`, or a new one, with the flags applied.

        Raise `ConfigError` if flags contradict each other, or a panel file cannot be read.
        """
        judging = self._with_judges(before or configs.PanelConfig())
        judging = replace(judging, seats=tuple(map(_with_marks, judging.seats)))
        panel = self._within_budget(self.scoring.applied(judging))
        called = replace(
            panel,
            models=tuple(
                self.calls.applied(model, base_url=self.model_base_url) for model in panel.models
            ),
            seed=panel.seed if self.seed is None else self.seed,
        )
        return with_workers(called, self.workers)

    def _within_budget(self, panel: "configs.PanelConfig") -> "configs.PanelConfig":
        if self.budget is None:
            return panel
        if panel.cascade is None:
            raise ConfigError(
                "--budget needs a cascade: name one with --cascade or in a panel file, or limit the"
                " whole run with --max-cost, --max-calls or --max-tokens-total"
            )
        return replace(panel, cascade=replace(panel.cascade, budget=self.budget))

    def _with_judges(self, before: "configs.PanelConfig") -> "configs.PanelConfig":
        if self.panel is None:
            seats = tuple(map(specs.parse_seat, self.judge))
            return replace(before, seats=seats or before.seats, models=self.model or before.models)
        if self.judge or self.model:
            raise ConfigError("--panel names judges and models; leave out --judge and --model")
        return panel_files.read_panel_file(self.panel)


def _with_marks(seat: "configs.SeatConfig") -> "configs.SeatConfig":
    """Return `seat` with people's marks in place of the name of the run that has them."""
    given = seat.options.get("examples")
    if not isinstance(given, str) or not given.startswith(examples.MARKS):
        return seat
    rows = exporting.example_rows(Path(given.removeprefix(examples.MARKS)))
    return replace(seat, options={**seat.options, examples.EXAMPLES: rows})


class WriterFlags(Flags, title="Generated perturbations"):
    """The flags that name the model that writes perturbed texts or explanations."""

    writer: Annotated[
        str | None,
        Flag(
            "Model for perturbations that rules cannot make; none by default.",
            also="--damage-model",
            env=("SPANJURY_WRITER", "SPANJURY_DAMAGE_MODEL"),
        ),
    ] = None
    writer_base_url: Annotated[
        tuple[str, ...],
        Flag(
            "URL of that model's server; repeatable.",
            "URL",
            also="--damage-model-base-url",
            env=("SPANJURY_WRITER_BASE_URL", "SPANJURY_DAMAGE_MODEL_BASE_URL"),
            rare=True,
        ),
    ] = ()

    def config(self, *, judging: PanelFlags | None = None) -> "configs.ModelConfig | None":
        """Return the model that writes, or None if the flags name none.

        The panel's flags, `judging`, set the limits of calls, and the address of a model that also
        judges. Raise `ConfigError` if an address is given without a name, or a panel file cannot be
        read.
        """
        if self.writer is None:
            if self.writer_base_url:
                raise ConfigError("--writer-base-url needs a model: name one with --writer")
            return None
        if judging is None:
            return configs.ModelConfig(name=self.writer, base_url=self.writer_base_url or None)
        configured = () if self.writer_base_url else judging.described().models
        calls = replace(judging.calls, client=None, via=None)
        alone = calls.applied(self.writer, base_url=self.writer_base_url)
        models = map(configs.ModelConfig.of, (*configured, alone))
        return next(model for model in models if model.name == self.writer)
