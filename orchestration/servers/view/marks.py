"""The routes of people's marks: read and store marks, and compare annotators."""

from collections.abc import Mapping
from functools import partial

import msgspec
from aiohttp import web
from anyio import CapacityLimiter, to_thread

from spanjury.judges.core import DataError
from spanjury.judges.core.json_text import require_unique_keys
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.servers.view.answers import (
    Refused,
    answer,
    number_of_query,
    text_of_query,
)
from spanjury.orchestration.services.people.marks.book import (
    ChangedMarkError,
    MarkBook,
    Text,
    UnknownKeyError,
    nothing_marked,
)
from spanjury.orchestration.services.people.marks.mark import annotator_name
from spanjury.orchestration.services.people.marks.marked_run import MarkedRun
from spanjury.orchestration.services.viewing.marking import RowKey
from spanjury.orchestration.services.viewing.view import View

with lazily():
    from spanjury.orchestration.report import html
    from spanjury.orchestration.services.people.marks import comparison, guideline
    from spanjury.orchestration.studies import estimates
    from spanjury.orchestration.studies.agreement import people

Routes = list[web.RouteDef]
_DRAWS = 200
"""Few draws, since a person waits for the result and requests it again after each mark."""


def mark_routes(view: View, book: MarkBook, run: MarkedRun) -> Routes:
    """Return the routes.

    `book` has the marks of `run`, the first run of `view`, whose annotators are compared. Work in a
    thread is never abandoned.
    """
    one_at_a_time = CapacityLimiter(1)

    async def marks(request: web.Request) -> web.Response:
        who = _annotator(request)
        return answer({"marked": await to_thread.run_sync(partial(_marked, view, book, who=who))})

    async def mark(request: web.Request) -> web.Response:
        who, number = _annotator(request), number_of_query(request, "number")
        return answer(
            await to_thread.run_sync(lambda: book.mark(who, _key(view, number)) or nothing_marked())
        )

    async def put(request: web.Request) -> web.Response:
        who, number = _annotator(request), number_of_query(request, "number")
        given = _object(await request.read())
        return answer(
            await to_thread.run_sync(lambda: _put(view, book, given, who=who, number=number))
        )

    async def agreement(request: web.Request) -> web.Response:
        del request
        quick = estimates.Settings(draws=_DRAWS)
        work = partial(comparison.people_agreement, run, settings=quick)
        agreed = await to_thread.run_sync(work, limiter=one_at_a_time)
        return answer({"aspects": people.people_json(agreed.aspects), "note": agreed.note})

    async def guide(request: web.Request) -> web.Response:
        del request
        return answer(await to_thread.run_sync(lambda: {"html": _guideline(run)}))

    return [
        web.get("/api/marks", marks),
        web.get("/api/mark", mark),
        web.put("/api/mark", put),
        web.get("/api/agreement", agreement),
        web.get("/api/guideline", guide),
    ]


def _guideline(run: MarkedRun) -> str:
    return html.report_fragment(guideline.guideline(run.aspects))


def _annotator(request: web.Request) -> str:
    return annotator_name(text_of_query(request, "annotator"))


def _object(body: bytes) -> Mapping[str, object]:
    try:
        require_unique_keys(body)
        given = msgspec.json.decode(body)
    except DataError as error:
        raise Refused(422, str(error)) from error
    except msgspec.DecodeError as error:
        raise Refused(400, f"the mark is not JSON: {error}") from error
    if not isinstance(given, dict):
        raise Refused(400, "the mark must be a JSON object")
    return given


def _marked(view: View, book: MarkBook, *, who: str) -> dict[str, object]:
    states = ((view.number_of(key), state) for key, state in book.marked(who).items())
    return {str(number): state for number, state in states if number is not None}


def _put(
    view: View, book: MarkBook, given: Mapping[str, object], *, who: str, number: int
) -> Mapping[str, object]:
    revision = given.get("revision")
    if not isinstance(revision, int) or isinstance(revision, bool) or revision < 0:
        raise Refused(400, "the mark must say which revision it is based on")
    key = _key(view, number)
    try:
        kept = book.put(who, key, given, revision=revision, text=_text(view, number, key))
    except UnknownKeyError as error:
        raise Refused(422, str(error)) from error
    except ChangedMarkError as error:
        raise Refused(409, str(error), mark=error.current) from error
    return {"revision": kept}


def _key(view: View, number: int) -> RowKey:
    key = view.row_key(number)
    if key is None:
        raise Refused(404, f"the text of row {number} is missing, so it cannot be marked")
    return key


def _text(view: View, number: int, key: RowKey) -> Text | None:
    segment = view.segment(number)
    if segment is None:
        return None
    low, high = view.scale(key.task, key.aspect)
    return Text(segment.output, low, high)
