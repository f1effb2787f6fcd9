"""The commands.

Only what reads flags is imported here; what a command does is loaded when it is called, so
that ``--help`` and a mistyped flag answer at once.
"""

from pkgutil import resolve_name

import typer

from spanjury.orchestration.interfaces.cli import flags
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


def main() -> None:
    """Run the command line; exits with 0 done, 1 error, 2 usage, 3 coverage, 130 Ctrl-C."""
    app()


@app.command()
def evaluate(  # noqa: PLR0913  a command's flags are its parameters
    *,
    data: flags.Data,
    task: flags.TaskName = None,
    aspect: flags.AspectNames = None,
    aspects_file: flags.AspectsFiles = None,
    judge: flags.Judges = None,
    panel: flags.PanelFile = None,
    model: flags.Models = None,
    model_base_url: flags.BaseUrls = None,
    requests_per_minute: flags.RequestsPerMinute = None,
    tokens_per_minute: flags.TokensPerMinute = None,
    timeout: flags.Timeout = None,
    connections: flags.Connections = None,
    attempts: flags.Attempts = None,
    aggregate: flags.Aggregate = None,
    consolidate: flags.Consolidate = None,
    limit: flags.Limit = None,
    output: flags.Output = None,
    run_dir: flags.RunDir = None,
    json: flags.AsJson = False,
    no_progress: flags.NoProgress = False,
    seed: flags.Seed = None,
    skip_bad_rows: flags.SkipBadRows = False,
    min_coverage: flags.MinCoverage = 0.0,
) -> None:
    """Judge every row of DATA and write the results.

    Without --judge and --model the offline judges are heard: no model, no key, no network.
    """
    _call("judging:judge_file", locals())


@app.command()
def resume(
    *,
    run: flags.Run,
    retry_failed: flags.RetryFailed = False,
    aggregate: flags.OtherAggregate = None,
    consolidate: flags.OtherConsolidate = None,
    output: flags.OtherOutput = None,
    json: flags.AsJson = False,
    no_progress: flags.NoProgress = False,
    min_coverage: flags.MinCoverage = 0.0,
) -> None:
    """Go on with a run that broke off.

    Nobody is asked what was answered, and all results are written. A changed aggregation
    or consolidation makes new results of what the judges said.
    """
    _call("judging:resume_run", locals())


@app.command()
def runs(
    *,
    folder: flags.Folder,
) -> None:
    """List the runs in a folder."""
    _call("listings:print_runs", locals())


@app.command()
def judges() -> None:
    """List the judges and what they do."""
    _call("listings:print_judges", locals())


@app.command()
def aspects(*, task: flags.TaskName = None, aspects_file: flags.AspectsFiles = None) -> None:
    """List the aspects with their definitions."""
    _call("listings:print_aspects", locals())


@app.command()
def tasks(*, aspects_file: flags.AspectsFiles = None) -> None:
    """List the tasks and their default aspects."""
    _call("listings:print_tasks", locals())


@app.command()
def plugins() -> None:
    """List the plugins and where they come from."""
    _call("listings:print_plugins", locals())


@app.command()
def doctor(
    *,
    model: flags.AskedModels = None,
    model_base_url: flags.BaseUrls = None,
    offline: flags.Offline = False,
) -> None:
    """Say what is installed, loads and answers.

    Exits with 1 if a plugin does not load, a model does not answer, or, with --offline,
    the network was touched.
    """
    _call("doctor:examine", locals())


@app.callback()
def _every_command(
    *,
    version: flags.Version = False,
) -> None:
    del version  # its callback has done the work


def _call(name: str, told: dict[str, object]) -> None:
    """Call a command's function, ``module:function`` beside this file, with its flags."""
    with exits():
        function = resolve_name(f"{__package__}.{name}")
        function(**told)
