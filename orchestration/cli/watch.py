"""`spanjury watch`: judge live traffic, and report changes."""

import json
from pathlib import Path
from typing import Annotated, Literal

import typer
from platformdirs import user_state_path

from spanjury.judges.core import ConfigError, counted, shown
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag, Flags
from spanjury.orchestration.cli.exits import GATE, say, standard_output
from spanjury.orchestration.cli.flags.data import Aspects, AspectsFiles, Columns, Task
from spanjury.orchestration.cli.flags.panel import PanelFlags
from spanjury.orchestration.cli.flags.run import HOST, PORT, LogFile

with lazily():
    from spanjury.orchestration.cli import logging
    from spanjury.orchestration.cli import session as sessions
    from spanjury.orchestration.engine import metering, stopping
    from spanjury.orchestration.servers import listening, otlp
    from spanjury.orchestration.services.serving import quotas
    from spanjury.orchestration.services.serving.watching import drift, sampling
    from spanjury.orchestration.services.serving.watching import watch as watching


_TABLES = (".csv", ".tsv", ".parquet")


class TrafficFlags(Flags, title="Traffic", have_env=True):
    """The flags about the source of traces, and which of them are judged."""

    source: Annotated[
        Path | None,
        typer.Argument(
            help="JSON Lines file to follow; without it, traces arrive by OTLP.", show_default=False
        ),
    ] = None
    once: Annotated[bool, Flag("Read the file to its end, judge everything, and stop.")] = False
    sample: Annotated[float, Flag("Share of the traces to judge.", "SHARE", min=0.0, max=1.0)] = 1.0
    always: Annotated[
        tuple[str, ...],
        Flag(
            "Traces to judge regardless of --sample: errors, 'length>CHARACTERS' or"
            " 'seconds>SECONDS'; repeatable.",
            "RULE",
        ),
    ] = ()
    task: Task = None
    aspect: Aspects = ()
    aspects_file: AspectsFiles = ()
    column: Columns = ()


class ReportFlags(Flags, title="Reports", have_env=True):
    """The flags about the receivers of scores and alerts."""

    sink: Annotated[
        tuple[str, ...],
        Flag(
            "Service that takes the scores: otlp, langfuse, phoenix, mlflow, opik, langsmith or a"
            " plugin, as NAME or NAME:url=…; repeatable."
        ),
    ] = ()
    output: Annotated[Path | None, Flag("Append result rows to this file.", "FILE", also="-o")] = (
        None
    )
    webhook: Annotated[str | None, Flag("Address to post alerts to, or env:VARIABLE.", "URL")] = (
        None
    )
    json: Annotated[bool, Flag("Print windows and alerts as JSON Lines.")] = False
    exit_on_alert: Annotated[bool, Flag("Stop and exit with 5 after an alert.")] = False
    log_file: LogFile = None


class DriftFlags(Flags, title="Alerts", have_env=True):
    """The flags of drift monitoring."""

    window: Annotated[int, Flag("Number of texts per window, for each aspect.", "TEXTS", min=2)] = (
        200
    )
    baseline: Annotated[
        int, Flag("Number of texts at the start that form the baseline.", "TEXTS", min=20)
    ] = 500
    texts_per_false_alert: Annotated[
        int,
        Flag("Minimum average number of texts between false alerts.", "TEXTS", min=1, rare=True),
    ] = 100_000

    def plan(self) -> "drift.DriftPlan":
        """Return the settings."""
        return drift.DriftPlan(
            window=self.window,
            baseline=self.baseline,
            texts_per_false_alert=self.texts_per_false_alert,
        )


class SpendingFlags(Flags, title="Budget"):
    """The flags that limit the judges' spending."""

    max_cost: Annotated[
        float | None,
        Flag("Maximum cost of models in a period; further traces wait.", "DOLLARS", min=1e-9),
    ] = None
    max_calls: Annotated[
        int | None, Flag("Maximum calls to models in a period; further traces wait.", min=1)
    ] = None
    per: Annotated[
        Literal["hour", "day", "all"],
        Flag("Period of --max-cost and --max-calls, in UTC.", rare=True),
    ] = "day"

    def quotas(self) -> "quotas.Quotas":
        """Return the budget."""
        return quotas.Quotas(
            calls=self.max_calls,
            dollars=self.max_cost,
            per=None if self.per == "all" else self.per,
        )


class KeepFlags(Flags, title="Service"):
    """The flags about the server and its storage."""

    host: Annotated[str, HOST] = "127.0.0.1"
    port: Annotated[int, PORT] = 4318
    token_file: Annotated[Path | None, Flag("File of TENANT:TOKEN lines.", rare=True)] = None
    state_dir: Annotated[
        Path | None,
        Flag(
            "Folder for received traces; by default in your user state folder.", "FOLDER", env=True
        ),
    ] = None
    settle: Annotated[
        float,
        Flag(
            "Time to wait for more spans after the root of a trace.",
            "SECONDS",
            min=0.0,
            rare=True,
        ),
    ] = 1.0
    longest: Annotated[
        float,
        Flag(
            "Time to wait after the last span of a trace without a root.",
            "SECONDS",
            min=0.0,
            rare=True,
        ),
    ] = 30.0
    keep_hours: Annotated[
        float,
        Flag("Time to keep traces that all sinks have received.", "HOURS", min=0.0, rare=True),
    ] = 24.0
    max_waiting: Annotated[
        int, Flag("Maximum traces that wait; senders then get 429.", min=1, rare=True)
    ] = 100_000


def watch(
    *,
    traffic: TrafficFlags,
    judges: PanelFlags,
    reports: ReportFlags,
    drifting: DriftFlags,
    spending: SpendingFlags,
    service: KeepFlags,
) -> None:
    """Judge live traffic: score traces, forward the scores, and report significant changes.

    Traces arrive by OTLP over HTTP (POST /v1/traces, JSON or protobuf), or are read from a growing
    file of JSON Lines. Accepted traces survive a crash. See docs/guides/watch.md.
    """
    if traffic.once and traffic.source is None:
        raise ConfigError("--once needs a file: without one, traces come until they are stopped")
    if traffic.source is not None and traffic.source.suffix in _TABLES:
        raise ConfigError(
            f"{traffic.source} is a table, and watch reads JSON Lines: judge it with 'spanjury"
            f" evaluate {traffic.source}'"
        )
    logging.log_to(reports.log_file)
    default = user_state_path("spanjury", appauthor=False) / "watch"
    plan = watching.WatchPlan(
        panel=judges.config(),
        folder=service.state_dir or default,
        task=traffic.task,
        aspects=traffic.aspect,
        aspects_files=traffic.aspects_file,
        columns=traffic.column,
        sampling=sampling.Sampling(
            rate=traffic.sample, always=tuple(map(sampling.parse_rule, traffic.always))
        ),
        drift=drifting.plan(),
        quotas=spending.quotas(),
        sinks=reports.sink,
        output=reports.output,
        webhook=reports.webhook,
        settle=service.settle,
        longest=service.longest,
        keep_hours=service.keep_hours,
        most_waiting=service.max_waiting,
    )
    printer = _Printer(exits_on_alert=reports.exit_on_alert, as_json=reports.json)
    session = sessions.Session(metering.Limits(), stop_token=printer.stop_token)

    async def work() -> None:
        opening = watching.open_watch(
            plan, emit=printer.emit, say=say, stop_token=printer.stop_token
        )
        async with opening as opened:
            await _watched(opened, printer.stop_token, traffic=traffic, service=service)
            say(_summary(opened))

    session.run(work)
    if printer.is_alert:
        raise typer.Exit(GATE)


class _Printer:
    """Prints windows and alerts; ends the watch after an alert if requested."""

    def __init__(self, *, exits_on_alert: bool, as_json: bool) -> None:
        self.stop_token = stopping.StopToken()
        self.is_alert = False
        self._exits_on_alert = exits_on_alert
        self._as_json = as_json

    def emit(self, report: "drift.Window | drift.Alert") -> None:
        """Print a window or an alert without buffering, since a reader may wait for it."""
        line = json.dumps(report.as_row(), ensure_ascii=False) if self._as_json else str(report)
        typer.echo(shown(line), file=standard_output())  # which flushes
        if isinstance(report, drift.Alert) and self._exits_on_alert:
            self.is_alert = True
            self.stop_token.request("an alert was given")


async def _watched(
    opened: "watching.Watch",
    stop_token: "stopping.StopToken",
    *,
    traffic: TrafficFlags,
    service: KeepFlags,
) -> None:
    """Judge incoming traces until a signal, an alert or the end of the file."""

    def is_due() -> bool:
        return stop_token.is_requested

    if traffic.source is not None:
        if not traffic.once:
            say(f"following {traffic.source}")
        await opened.run(is_due, file=traffic.source, once=traffic.once)
        return
    given = listening.access_to(service.host, service.token_file)
    serving = otlp.serving_traces(opened, host=service.host, port=service.port, tokens=given)
    async with serving as url:
        say(f"taking traces at {url}")
        await opened.run(is_due)


def _summary(opened: "watching.Watch") -> str:
    count, status = opened.count, opened.status()
    parts = [f"{counted(count.judged, 'trace')} judged"]
    if count.skipped:
        parts.append(f"{count.skipped} left out by the sample")
    if count.unreadable:
        parts.append(f"{count.unreadable} without a text that can be judged")
    parts.append(f"{status['waiting']} waiting")
    parts.append(counted(count.alerts, "alert"))
    unsent = [each.name for each in opened.deliveries if not each.is_done]
    if unsent:
        parts.append(f"not all is sent to {', '.join(unsent)}: it waits on disk")
    return "; ".join(parts)
