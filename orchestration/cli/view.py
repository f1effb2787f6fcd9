"""`spanjury view`: show one run, two side by side, or a list of runs in a browser."""

import os
import sys
import webbrowser
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Thread
from typing import Annotated

import typer

from spanjury.judges.core import ConfigError, StoreError, counted
from spanjury.judges.core.lazy import lazily, require
from spanjury.orchestration.cli.command import Flag, Flags
from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.cli.flags.data import AspectsFiles, TextsFlag
from spanjury.orchestration.cli.runs import shown_size

with lazily():
    import msgspec

    from spanjury.orchestration.report import files
    from spanjury.orchestration.report.view import page as pages
    from spanjury.orchestration.servers.view import app as server
    from spanjury.orchestration.servers.view import marks
    from spanjury.orchestration.services.people import sampled
    from spanjury.orchestration.services.people.marks import book, marked_run
    from spanjury.orchestration.services.viewing import runs as lists
    from spanjury.orchestration.services.viewing import sources
    from spanjury.orchestration.services.viewing import view as views
    from spanjury.orchestration.wiring import marks as marks_files

_LARGE_FILE = 10_000_000
_MANY_ROWS = 5_000
"""Bytes and rows of a page above which a warning says that it opens slowly."""


class TextFlags(Flags, title="Texts"):
    """The flags that locate the judged texts if no run's folder does."""

    data: TextsFlag = None
    column: Annotated[
        tuple[str, ...],
        Flag(
            "Column of --data that holds a field, for example output=summary; repeatable.",
            "NAME=COLUMN",
        ),
    ] = ()
    rows: Annotated[
        Path | None,
        Flag(
            "Show only the texts that this file of 'spanjury sample' names, by id and system.",
            "FILE",
        ),
    ] = None
    aspects_file: AspectsFiles = ()


class ServerFlags(Flags, title="Server"):
    """The flags of a page that is served by this program."""

    port: Annotated[int, Flag("Port to listen on; any free port by default.", min=0)] = 0
    no_browser: Annotated[bool, Flag("Print the address without opening a browser.")] = False


class FileFlags(Flags, title="One file"):
    """The flags of a page that needs no server."""

    html: Annotated[Path | None, Flag("Write the page to this file, which needs no server.")] = None
    limit: Annotated[int | None, Flag("Put only the first N rows into the file.", min=1)] = None
    worst: Annotated[
        int | None, Flag("Put only the N rows with the lowest scores into the file.", min=1)
    ] = None


def view(
    *,
    runs: Annotated[
        tuple[Path, ...],
        typer.Argument(
            metavar="RUN",
            help="Folder or name of a run, folder of an exam, or file of results; one or two. A"
            " folder of runs, by default that in your user data folder, is shown as a list.",
        ),
    ] = (),
    title: Annotated[str, Flag("Title of the page; by default the names of the runs.")] = "",
    texts: TextFlags,
    serving: ServerFlags,
    file: FileFlags,
) -> None:
    """Show the texts of a run or an exam with their error spans, two side by side, or all runs.

    The page opens in a browser and is served to this machine only, until Ctrl-C; --html writes it
    to a file instead.
    """
    _check(file)
    if file.html is None:  # checked before a thread begins to read rows
        require(server)
    folder = sources.folder_of_runs(runs)
    if folder is not None:
        _view_list(folder, title=title, texts=texts, serving=serving, file=file)
        return
    with _view(runs, title=title, texts=texts) as opened:
        if file.html is not None:
            _write(opened, file.html, file)
            return
        page = pages.view_page(opened.title)
        with _marks_of(opened, texts) as routes:
            all_routes = [*server.view_routes(opened), *routes]
            _serve(lambda token: server.create_app(page, all_routes, token=token), serving)


def _view(runs: Sequence[Path], *, title: str, texts: TextFlags) -> "views.View":
    return views.View(
        sources.find_runs(runs, data=texts.data, columns=texts.column),
        title=title,
        aspects_files=texts.aspects_file,
        only=sampled.read_names(texts.rows) if texts.rows else None,
    )


def _view_list(
    folder: Path, *, title: str, texts: TextFlags, serving: ServerFlags, file: FileFlags
) -> None:
    """Show the list of runs in a folder, and the runs that a reader opens."""
    if texts.data or texts.column or texts.rows or file.limit or file.worst:
        raise ConfigError(
            f"--data, --column, --rows, --limit and --worst are for one run: {folder} holds several"
        )
    title = title or f"Runs in {folder.absolute().name}"

    @contextmanager
    def open_runs(named: Sequence[Path]) -> "Iterator[tuple[views.View, marks.Routes]]":
        with _view(named, title="", texts=texts) as opened, _marks_of(opened, texts) as routes:
            yield opened, routes

    with lists.RunsView(folder) as listed:
        if file.html is None:
            page = pages.runs_page(title)
            _serve(
                lambda token: server.create_runs_app(
                    listed, page, token=token, open_runs=open_runs
                ),
                serving,
            )
            return
        listed.wait()
        described = msgspec.json.encode(listed.described()).decode()
        data = pages.runs_page(title, runs=described).encode("utf-8", "replace")
        files.write_whole(file.html, data)
        say(f"{counted(len(listed), 'run is', 'runs are')} in {file.html}, {shown_size(len(data))}")


def _serve(create: "server.Create", serving: ServerFlags) -> None:
    def show(url: str) -> None:
        say(f"look at {url}")
        say("Ctrl-C ends it")
        if not serving.no_browser:
            _open_browser(url)

    server.serve_page(create, port=serving.port, opened=show)


@contextmanager
def _marks_of(opened: "views.View", texts: TextFlags) -> "Iterator[marks.Routes]":
    """Allow people to mark the first run, unless its texts or a usable marks file are missing."""
    run = opened.runs[0]
    marked = marked_run.MarkedRun(run.folder or run.results, data=texts.data, columns=texts.column)
    if run.texts is None:
        yield []
        return
    with ExitStack() as stack:
        try:
            store = stack.enter_context(marks_files.MarksStore(marked.marks))
        except StoreError as error:
            say(f"spanjury: texts cannot be marked: {error}")
            yield []
            return
        opened.marking = notebook = book.MarkBook(store)
        yield marks.mark_routes(opened, notebook, marked)


def _check(file: FileFlags) -> None:
    if file.html is None and (file.limit or file.worst):
        raise ConfigError("--limit and --worst need --html: they make its file smaller")
    if file.limit and file.worst:
        raise ConfigError("--limit and --worst exclude each other: choose one")
    if file.html is not None:
        files.check_page(file.html)


def _write(opened: "views.View", path: Path, file: FileFlags) -> None:
    numbers = _numbers(opened, file)
    blocks = views.page_blocks(opened, numbers=numbers)
    page = pages.view_page(opened.title, blocks=blocks)
    data = page.encode("utf-8", "replace")
    files.write_whole(path, data)
    rows = len(numbers)
    say(f"{rows} of {opened.rows} {opened.unit} are in {path}, {shown_size(len(data))}")
    for note in opened.notes():
        say(f"spanjury: {note}")
    if len(data) > _LARGE_FILE or rows > _MANY_ROWS:
        say(
            "a page of this size opens slowly: leave out --html to load it part by part, or make"
            " it smaller with --worst N or --limit N"
        )


def _numbers(opened: "views.View", file: FileFlags) -> Sequence[int]:
    opened.wait()
    if file.worst is not None:
        return sorted(opened.worst(file.worst))
    return range(min(opened.rows, file.limit or opened.rows))


def _open_browser(url: str) -> None:
    """Open a graphical browser, if there is one; text browsers would take over the terminal."""
    has_windows = sys.platform in {"darwin", "win32"} or any(
        map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY"))
    )
    if has_windows:  # in a thread, because some browsers block until they end
        Thread(target=webbrowser.open, args=(url,), daemon=True).start()
