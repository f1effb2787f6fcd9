"""The commands and their flags.

Only what reads flags is imported here; what a command does is loaded when it is called, so
that ``--help`` and a mistyped flag answer at once.
"""

from pathlib import Path
from pkgutil import resolve_name
from typing import Annotated

import typer

from spanjury.judges.core import VERSION
from spanjury.orchestration.interfaces.cli.exits import exits

__all__ = ["app", "main"]

app = typer.Typer(
    name="spanjury",
    help="A jury of judges marks the error spans of generated texts, says why, and scores them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # help in plain text, at a third of the start-up time
    context_settings={"help_option_names": ["-h", "--help"]},
)

Names = list[str]
AspectsFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--aspects-file",
        envvar="SPANJURY_ASPECTS_FILE",
        help="TOML of tasks and aspects; repeatable.",
    ),
]
BaseUrls = Annotated[
    Names | None,
    typer.Option(
        envvar="SPANJURY_MODEL_BASE_URL",
        help="Where the model's server answers; repeatable for several servers of it.",
    ),
]
TaskName = Annotated[str | None, typer.Option(envvar="SPANJURY_TASK", help="Name of a task.")]


def main() -> None:
    """Run the command line; exits with 0 done, 1 error, 2 usage, 3 coverage, 130 Ctrl-C."""
    app()


@app.command()
def evaluate(  # noqa: PLR0913  a command's flags are its parameters
    *,
    data: Annotated[Path, typer.Argument(metavar="DATA", help="JSONL, CSV or TSV file, also .gz.")],
    task: TaskName = None,
    aspect: Annotated[
        Names | None,
        typer.Option(envvar="SPANJURY_ASPECT", help="Aspect to judge, or 'all'; repeatable."),
    ] = None,
    aspects_file: AspectsFiles = None,
    judge: Annotated[
        Names | None,
        typer.Option(envvar="SPANJURY_JUDGE", help="NAME or NAME:option=value,…; repeatable."),
    ] = None,
    panel: Annotated[
        Path | None, typer.Option(envvar="SPANJURY_PANEL", help="TOML file that names the seats.")
    ] = None,
    model: Annotated[
        Names | None,
        typer.Option(
            envvar="SPANJURY_MODEL",
            help="Any LiteLLM name (ollama/…, hosted_vllm/…, openai/…) or 'embedded'; repeatable.",
        ),
    ] = None,
    model_base_url: BaseUrls = None,
    requests_per_minute: Annotated[
        int | None,
        typer.Option(envvar="SPANJURY_REQUESTS_PER_MINUTE", min=1, help="Limit for each model."),
    ] = None,
    tokens_per_minute: Annotated[
        int | None,
        typer.Option(envvar="SPANJURY_TOKENS_PER_MINUTE", min=1, help="Limit for each model."),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(
            envvar="SPANJURY_TIMEOUT", min=0.1, help="Seconds a call may take; 120 by default."
        ),
    ] = None,
    connections: Annotated[
        int | None,
        typer.Option(
            envvar="SPANJURY_CONNECTIONS", min=1, help="Calls at once per server; 8 by default."
        ),
    ] = None,
    attempts: Annotated[
        int | None,
        typer.Option(
            envvar="SPANJURY_ATTEMPTS", min=1, help="Tries of a failing call; 4 by default."
        ),
    ] = None,
    aggregate: Annotated[
        str | None,
        typer.Option(
            envvar="SPANJURY_AGGREGATE", help="How seats' scores become one; mean by default."
        ),
    ] = None,
    consolidate: Annotated[
        str | None,
        typer.Option(
            envvar="SPANJURY_CONSOLIDATE", help="How seats' spans are merged; rules by default."
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(envvar="SPANJURY_LIMIT", min=1, help="Judge the first rows only.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            envvar="SPANJURY_OUTPUT",
            help="Where the results go; results.jsonl by default, here or in the run's folder.",
        ),
    ] = None,
    run_dir: Annotated[
        Path | None,
        typer.Option(
            envvar="SPANJURY_RUN_DIR",
            help="Folder for a run that can be resumed.",
        ),
    ] = None,
    json: Annotated[
        bool,
        typer.Option("--json", envvar="SPANJURY_JSON", help="Print result rows, not a report."),
    ] = False,
    no_progress: Annotated[
        bool, typer.Option("--no-progress", envvar="SPANJURY_NO_PROGRESS", help="No progress bar.")
    ] = False,
    seed: Annotated[
        int | None, typer.Option(envvar="SPANJURY_SEED", help="For judges that draw at random.")
    ] = None,
    skip_bad_rows: Annotated[
        bool,
        typer.Option(
            "--skip-bad-rows", envvar="SPANJURY_SKIP_BAD_ROWS", help="Judge the readable rows."
        ),
    ] = False,
    min_coverage: Annotated[
        float,
        typer.Option(
            envvar="SPANJURY_MIN_COVERAGE",
            min=0.0,
            max=1.0,
            help="Exit with 3 if a smaller share of assessments has a score.",
        ),
    ] = 0.0,
) -> None:
    """Judge every row of DATA and write the results.

    Without --judge and --model the offline judges are heard: no model, no key, no network.
    """
    _call("judging:judge_file", locals())


@app.command()
def resume(
    *,
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of the run.")],
    retry_failed: Annotated[
        bool,
        typer.Option(
            "--retry-failed", envvar="SPANJURY_RETRY_FAILED", help="Ask again where a seat failed."
        ),
    ] = False,
    aggregate: Annotated[
        str | None,
        typer.Option(envvar="SPANJURY_AGGREGATE", help="Another way to make one score."),
    ] = None,
    consolidate: Annotated[
        str | None,
        typer.Option(envvar="SPANJURY_CONSOLIDATE", help="Another way to merge spans."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Where the results go, if not to the run's folder."),
    ] = None,
    json: Annotated[
        bool,
        typer.Option("--json", envvar="SPANJURY_JSON", help="Print result rows, not a report."),
    ] = False,
    no_progress: Annotated[
        bool, typer.Option("--no-progress", envvar="SPANJURY_NO_PROGRESS", help="No progress bar.")
    ] = False,
    min_coverage: Annotated[
        float,
        typer.Option(
            envvar="SPANJURY_MIN_COVERAGE",
            min=0.0,
            max=1.0,
            help="Exit with 3 if a smaller share of assessments has a score.",
        ),
    ] = 0.0,
) -> None:
    """Go on with a run that broke off.

    Nobody is asked what was answered, and all results are written. A changed aggregation
    or consolidation makes new results of what the judges said.
    """
    _call("judging:resume_run", locals())


@app.command()
def runs(
    *,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where run folders lie.")],
) -> None:
    """List the runs in a folder."""
    _call("listings:print_runs", locals())


@app.command()
def judges() -> None:
    """List the judges and what they do."""
    _call("listings:print_judges", locals())


@app.command()
def aspects(*, task: TaskName = None, aspects_file: AspectsFiles = None) -> None:
    """List the aspects with their definitions."""
    _call("listings:print_aspects", locals())


@app.command()
def tasks(*, aspects_file: AspectsFiles = None) -> None:
    """List the tasks and their default aspects."""
    _call("listings:print_tasks", locals())


@app.command()
def plugins() -> None:
    """List the plugins and where they come from."""
    _call("listings:print_plugins", locals())


@app.command()
def doctor(
    *,
    model: Annotated[
        Names | None,
        typer.Option(envvar="SPANJURY_MODEL", help="Ask this model for a word; repeatable."),
    ] = None,
    model_base_url: BaseUrls = None,
    offline: Annotated[
        bool,
        typer.Option(
            "--offline",
            envvar="SPANJURY_OFFLINE",
            help="Load everything and judge a sample with the network forbidden.",
        ),
    ] = False,
) -> None:
    """Say what is installed, loads and answers.

    Exits with 1 if a plugin does not load, a model does not answer, or, with --offline,
    the network was touched.
    """
    _call("doctor:examine", locals())


def _show_version(wanted: bool) -> None:  # noqa: FBT001  a flag's callback is called so
    if wanted:
        typer.echo(f"spanjury {VERSION}")
        raise typer.Exit


@app.callback()
def _every_command(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    del version  # its callback has done the work


def _call(name: str, flags: dict[str, object]) -> None:
    """Call a command's function, ``module:function`` beside this file, with its flags."""
    with exits():
        function = resolve_name(f"{__package__}.{name}")
        function(**flags)
