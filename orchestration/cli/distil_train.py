"""`spanjury distil train` and `export`: train a small model on a training set, and export it."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from threading import Event
from types import FrameType
from typing import Annotated, Any, Literal

import typer

from spanjury.judges.core import ConfigError
from spanjury.judges.core.lazy import lazily, require
from spanjury.orchestration.cli.command import Flag, Flags
from spanjury.orchestration.cli.exits import INTERRUPTED, say
from spanjury.orchestration.cli.flags.run import LogFlags, RandomSeed

with lazily():
    from spanjury.orchestration.cli import console, logging
    from spanjury.orchestration.services.training import token_set
    from spanjury.orchestration.services.training import train as service
    from spanjury.orchestration.studies.distillation.tokens import example
    from spanjury.orchestration.wiring import checking
    from spanjury.orchestration.wiring import training as wiring

_EVERY = 10.0  # seconds between two lines of progress
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class ModelFlags(Flags, title="Model"):
    """The flags that name examples, the base model, and the output folder."""

    data: Annotated[
        Path, typer.Argument(metavar="DATA_FOLDER", help="Folder that `distil build` wrote.")
    ]
    base: Annotated[
        str,
        Flag(
            "Model to train, in safetensors or GGUF format; for the token form an encoder, or with "
            "--checker guardian a chat model.",
            "FOLDER|FILE.gguf|HUB_ID|embedded|minilm",
        ),
    ]
    output: Annotated[
        Path, Flag("Folder for the model; the same command resumes from it.", "FOLDER", also="-o")
    ]
    checker: Annotated[
        Literal["pair", "token", "guardian"] | None,
        Flag(
            "For data of the token form: train a pair classifier or a token classifier for the "
            "judge 'checker', or an adapter of a GGUF model for the judge 'guardian'. By default, "
            "a model for the judge 'reader' is trained.",
        ),
    ] = None
    classes: Annotated[
        int,
        Flag(
            "With --checker pair: 3 classes separate claims that the source contradicts from "
            "claims that it lacks.",
            min=2,
            max=3,
            rare=True,
        ),
    ] = 2

    @property
    def form(self) -> "wiring.CheckerForm | None":
        """The form of the checker to train; None if none is to be trained."""
        if self.checker is None:
            return None
        return wiring.checker_form(self.checker, classes=self.classes)


class TrainingFlags(Flags, title="Training"):
    """The flags of the training; each is a field of `TrainingOptions`."""

    epochs: Annotated[int, Flag("Number of passes over the examples.", min=1)] = 1
    max_steps: Annotated[int | None, Flag("Stop after this many steps.", min=1)] = None
    batch_size: Annotated[int, Flag("Number of examples per step.", min=1)] = 16
    micro_batch_size: Annotated[
        int,
        Flag("Number of examples in memory at once; halved if memory is short.", min=1, rare=True),
    ] = 4
    learning_rate: Annotated[
        float | None,
        Flag(
            "Highest learning rate; 0.0002 by default, 0.0001 for the token form.", "RATE", min=0.0
        ),
    ] = None
    rank: Annotated[int, Flag("Rank of the LoRA matrices.", min=1, rare=True)] = 16
    alpha: Annotated[int, Flag("Scale of the LoRA matrices: alpha / rank.", min=1, rare=True)] = 32
    dropout: Annotated[
        float,
        Flag(
            "Dropout rate for the inputs of the LoRA matrices.",
            "SHARE",
            min=0.0,
            max=0.99,
            rare=True,
        ),
    ] = 0.0
    weight_decay: Annotated[float, Flag("Weight decay of AdamW.", "RATE", min=0.0, rare=True)] = (
        0.01
    )
    warmup: Annotated[
        float,
        Flag(
            "Share of the steps in which the learning rate rises.",
            "SHARE",
            min=0.0,
            max=0.99,
            rare=True,
        ),
    ] = 0.05
    explanation_weight: Annotated[
        float,
        Flag(
            "Weight of a token of an explanation; other tokens have weight 1.",
            "WEIGHT",
            min=0.0,
            max=1.0,
            rare=True,
        ),
    ] = 0.2
    max_gradient_norm: Annotated[
        float,
        Flag("Maximum norm of a gradient; longer ones are clipped.", "NORM", min=0.0, rare=True),
    ] = 1.0
    max_length: Annotated[
        int | None,
        Flag("Maximum tokens of an example; the model's limit by default.", min=1, rare=True),
    ] = None
    seed: RandomSeed = 1
    checkpoint_every: Annotated[int, Flag("Steps between two checkpoints.", min=1, rare=True)] = 50
    validate_every: Annotated[
        int | None, Flag("Steps between two validations; one epoch by default.", min=1, rare=True)
    ] = None
    device: Annotated[
        str, Flag("Device, as torch names it; 'auto' uses a GPU if there is one.")
    ] = "auto"
    attention: Annotated[
        Literal["auto", "eager", "sdpa", "xformers"],
        Flag("'auto' uses xformers on a GPU if it is installed, otherwise PyTorch.", rare=True),
    ] = "auto"

    def options(self) -> "wiring.TrainingOptions":
        """Return the options of the generative form."""
        given: dict[str, Any] = asdict(self)
        if self.learning_rate is None:
            del given["learning_rate"]
        return wiring.TrainingOptions(**given)


class TokenFlags(Flags, title="Training of the token form", are_rare=True):
    """The flags that only the token form has; each is a field of `TokenOptions`."""

    batch_tokens: Annotated[int, Flag("Number of word pieces per step.", min=1)] = 2600
    head_learning_rate: Annotated[
        float, Flag("Highest learning rate of the new layers.", "RATE", min=0.0)
    ] = 5e-4
    error_weight: Annotated[
        float, Flag("Weight of a word with an error; other words have weight 1.", "WEIGHT", min=0.0)
    ] = 2.0
    precision: Annotated[
        Literal["float32", "bfloat16"],
        Flag("Precision of matrix products; bfloat16 may halve the time."),
    ] = "float32"
    order_weight: Annotated[
        float,
        Flag(
            "Weight of the ranking loss (right above wrong sentences of the same source).",
            "WEIGHT",
            min=0.0,
        ),
    ] = 0.5
    kind_dropout: Annotated[
        float,
        Flag(
            "Share of sentences that are trained without lexical kinds.", "SHARE", min=0.0, max=0.99
        ),
    ] = 0.0
    patience: Annotated[
        int, Flag("Stop after this many validations without a lower loss.", min=1)
    ] = 3
    threads: Annotated[int | None, Flag("Number of processor threads.", min=1)] = None

    def options(self, training: TrainingFlags) -> "wiring.TokenOptions":
        """Return the options of the token form, including those shared with the generative form."""
        own, shared = asdict(self), asdict(training)
        names = {each.name for each in fields(wiring.TokenOptions)} - own.keys()
        given = {name: shared[name] for name in names if shared[name] is not None}
        return wiring.TokenOptions(**own, **given)


def train(
    *, model: ModelFlags, training: TrainingFlags, tokens: TokenFlags, show: LogFlags
) -> None:
    """Train a small model on data from `build`; after Ctrl-C the same command continues."""
    logging.log_to(show.log_file)
    require(wiring.training)
    reporter = _Reporter(quiet=show.no_progress)
    is_tokens = example.is_token_set(model.data)
    if model.checker is None and model.classes != 2:  # noqa: PLR2004
        raise ConfigError("--classes needs --checker pair")
    if model.checker is not None and not is_tokens:
        raise ConfigError(
            f"--checker needs data of the token form, and {model.data} is none: build it with "
            "--form tokens"
        )
    if model.checker is not None and tokens.kind_dropout:
        raise ConfigError("--kind-dropout is for readers: a checker knows no lexical kinds")
    train_form = _train_tokens if is_tokens else _train_generative
    try:
        with _stopping() as stop:
            trained = train_form(model, training, tokens, reporter=reporter, stop=stop)
    except ValueError as error:
        raise ConfigError(str(error)) from error
    if trained.cut or trained.skipped:
        say(f"too long: {trained.cut} sources cut, {trained.skipped} examples skipped")
    if not trained.finished:
        say(
            f"stopped after step {trained.progress.step} of {trained.steps}; run the same"
            " command to continue"
        )
        raise typer.Exit(INTERRUPTED)
    say(f"the model is in {model.output}; its card is {model.output / 'README.md'}")


def _train_generative(
    model: ModelFlags,
    training: TrainingFlags,
    _: TokenFlags,
    *,
    reporter: "_Reporter",
    stop: Event,
) -> "wiring.Trained":
    job = service.training_job(
        model.data, base=model.base, folder=model.output, options=training.options()
    )
    say(f"{len(job.pairs)} examples to learn from, {len(job.validation)} to validate on")
    if service.same_answers(job):
        say("all examples have the same answer: the model will learn to give only that one")
    return wiring.training.train(job, tell=reporter.report, stopped=stop.is_set)


def _train_tokens(
    model: ModelFlags,
    training: TrainingFlags,
    tokens: TokenFlags,
    *,
    reporter: "_Reporter",
    stop: Event,
) -> "wiring.Trained":
    job = token_set.token_training_job(
        model.data,
        base=model.base,
        folder=model.output,
        options=tokens.options(training),
        checker=model.form,
    )
    unit = "sentences" if job.checker is None else "pairs of passage and claim"
    say(f"{len(job.windows)} {unit} to learn from, {len(job.validation)} to validate on")
    trained = wiring.token_training.train(job, tell=reporter.report, stopped=stop.is_set)
    if trained.finished and job.checker is None:
        texts = token_set.fit_to_validation(model.data, model.output)
        say(f"the judge's constants were fitted to the model on {texts} texts")
    elif trained.finished and model.checker != "guardian":
        say("judging the texts for validation")
        console.print_report(token_set.fit_checker_to_validation(model.data, model.output))
    return trained


class _Reporter:
    """Prints progress periodically, and any other line at once."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._last = time.monotonic()

    def report(self, progress: "wiring.Progress", steps: int, line: str) -> None:
        if line:
            say(line)
            return
        ended = progress.step == steps
        if self._quiet or (time.monotonic() - self._last < _EVERY and not ended):
            return
        self._last = time.monotonic()
        pace = progress.seconds / progress.step
        say(
            f"step {progress.step}/{steps}: loss {progress.losses[-1][1]:.4f},"
            f" {progress.tokens / progress.seconds:.0f} tokens/s,"
            f" {(steps - progress.step) * pace:.0f} s to go"
        )


@contextmanager
def _stopping() -> Iterator[Event]:
    """Yield an event that a signal sets; a second signal has its default effect."""
    stop = Event()

    def receive(number: int, _: FrameType | None) -> None:
        stop.set()
        signal.signal(number, signal.default_int_handler)
        say("stopping after the current step; Ctrl-C again to stop at once")

    before = {number: signal.signal(number, receive) for number in _SIGNALS}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class ExportFlags(Flags, title="Export"):
    """The flags of an export."""

    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER", help="Folder of a checker, from `distil train` or from elsewhere."
        ),
    ]
    onnx: Annotated[bool, Flag("Write model.onnx, which runs without torch.")] = False
    int8: Annotated[
        bool,
        Flag("Round the weights to 8 bits: a quarter of the size, slightly different results."),
    ] = False
    output: Annotated[
        Path | None,
        Flag(
            "Folder for the exported checker; by default FOLDER, which then runs model.onnx.",
            "FOLDER",
            also="-o",
        ),
    ] = None


def export(*, flags: ExportFlags) -> None:
    """Export a checker for onnxruntime, and compare it with the original."""
    if not flags.onnx:
        raise ConfigError("name the format: --onnx")
    target = flags.output or flags.folder
    difference = checking.export_onnx(flags.folder, target, int8=flags.int8)
    size = (target / "model.onnx").stat().st_size / 1e6
    say(
        f"the checker is in {target}: model.onnx has {size:.0f} MB, and its probabilities differ"
        f" from torch's by {difference:.1g} at most on a few pairs"
    )
