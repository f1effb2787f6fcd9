"""The list of the runs of a folder, and their pages, asked over HTTP as the page asks."""

import json
import shutil
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from aiohttp import web
from anyio import to_thread
from fakes.viewed_runs import TOKEN, judge, open_run, results, served_app, write_rows

from spanjury.judges.core import DataError
from spanjury.orchestration.report.view.page import runs_page
from spanjury.orchestration.servers.view.app import MOST_OPENED, create_runs_app
from spanjury.orchestration.services.viewing.runs import RunsView
from spanjury.orchestration.services.viewing.sources import folder_of_runs
from spanjury.orchestration.services.viewing.view import View


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of a run of rules, the same as if models had been asked, and broken ones."""
    folder = tmp_path_factory.mktemp("listed")
    write_rows(folder / "rows.jsonl")
    judge(folder, run="home/rules")
    home = folder / "home"
    for name in ("asked", "part", "broken", "empty"):
        shutil.copytree(home / "rules", home / name)
    _as_if_asked(home / "asked")
    part = home / "part"
    (part / "done").unlink()
    lines = (part / "results.jsonl").read_text().splitlines(keepends=True)
    (part / "results.jsonl.part").write_text("".join(lines[:2]) + lines[2][:20])
    (part / "results.jsonl").unlink()
    (home / "broken" / "run.json").write_text("{")
    (home / "empty" / "results.jsonl").unlink()
    return home


def _as_if_asked(run: Path) -> None:
    manifest = json.loads((run / "run.json").read_text())
    price = {"prompt": 1e-6, "completion": 2e-6}
    model = {"name": "openai-compatible/a", "price": price}
    manifest["job"]["panel"]["seats"] = [{"judge": "annotator", "name": "a", "model": model}]
    (run / "run.json").write_text(json.dumps(manifest))
    rows = results(run)
    for row in rows:
        usage = {"calls": 1, "prompt": 100, "cached": 0, "completion": 50, "reasoning": 0}
        seat = {"judge": "a", "outcome": "scored", "score": 2, "usage": usage}
        row.update(seats=[seat], score=2, decision="faulty")
    rows[0].update(score=None, outcome="timed_out", decision=None)
    (run / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture(scope="module")
def listed(home: Path) -> dict[str, dict[str, object]]:
    with RunsView(home) as runs:
        runs.wait()
        described = runs.described()
    assert described["counted"] == 5
    assert isinstance(described["runs"], list)
    return {run["name"]: run for run in described["runs"]}


def test_a_run_is_listed_with_its_scores_and_decisions(
    listed: dict[str, dict[str, object]], home: Path
) -> None:
    run = listed["rules"]
    assert (run["state"], run["rows"], run["data"]) == ("done", 8, "rows.jsonl")
    assert (run["judges"], run["calls"], run["dollars"]) == (["grounding", "form"], 0, 0.0)
    assert isinstance(run["aspects"], list)
    consistency, _ = run["aspects"]
    scores = [row["score"] for row in results(home / "rules") if row["aspect"] == "consistency"]
    assert consistency["mean"] == pytest.approx(sum(filter(None, scores)) / 4)  # type: ignore[arg-type]  # numbers
    assert (consistency["rows"], consistency["scored"]) == (4, 4)
    assert sum(consistency["shares"].values()) == pytest.approx(1)


def test_the_cost_of_a_run_is_that_of_its_tokens(listed: dict[str, dict[str, object]]) -> None:
    run = listed["asked"]
    assert (run["calls"], run["tokens"]) == (8, 1200)
    assert run["dollars"] == pytest.approx(8 * (100e-6 + 100e-6))
    assert isinstance(run["aspects"], list)
    consistency, _ = run["aspects"]
    assert (consistency["mean"], consistency["scored"], consistency["rows"]) == (2.0, 3, 4)
    assert consistency["shares"] == {"ok": 0.0, "unsure": 0.0, "faulty": 0.75}


def test_a_run_that_cannot_be_read_says_why(listed: dict[str, dict[str, object]]) -> None:
    assert "run.json cannot be read" in str(listed["broken"]["problem"])
    assert "has no results yet" in str(listed["empty"]["problem"])
    assert listed["empty"]["calls"] is None
    part = listed["part"]
    assert (part["state"], part["problem"]) == ("open", "")
    assert isinstance(part["aspects"], list)
    assert sum(aspect["rows"] for aspect in part["aspects"]) == 2


def test_a_folder_of_runs_is_no_run(home: Path, tmp_path: Path) -> None:
    assert folder_of_runs([home]) == home
    assert folder_of_runs([home / "rules"]) is None
    assert folder_of_runs([home, home / "rules"]) is None
    assert folder_of_runs([tmp_path]) is None
    shutil.copy(home / "rules/results.jsonl", tmp_path)
    shutil.copytree(home / "rules", tmp_path / "run")
    assert folder_of_runs([tmp_path]) is None  # as before: the results that lie in it are meant
    with pytest.raises(DataError, match="there is no run in"), RunsView(home / "rules"):
        pass


class _Opening:
    """Opens views as the command does, and notes which are open."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.routes: list[web.RouteDef] = []

    @contextmanager
    def __call__(self, named: Sequence[Path]) -> Iterator[tuple[View, list[web.RouteDef]]]:
        name = " ".join(path.name for path in named)
        with open_run(*named) as view:
            self.opened.append(name)
            yield view, self.routes
        self.opened.remove(name)


@contextmanager
def asking(home: Path, opening: _Opening) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with (
        RunsView(home) as runs,
        served_app(
            lambda: create_runs_app(runs, runs_page("runs"), token=TOKEN, open_runs=opening)
        ) as url,
        httpx.Client(base_url=url, headers=headers) as client,
    ):
        yield client


def test_a_run_and_two_runs_have_pages_of_their_own(home: Path) -> None:
    opening = _Opening()
    with asking(home, opening) as client:
        assert len(client.get("/api/runs", params={"counted": 0}).json()["runs"]) == 5
        assert "<title>rules</title>" in client.get("/run/rules/").text
        assert client.get("/run/rules/nowhere").status_code == 404
        assert opening.opened == []  # what needs no token opens nothing
        assert client.get("/run/rules/api/head").json()["title"] == "rules"
        assert client.get("/run/rules/api/rows", params={"numbers": "0"}).json()["rows"]
        head = client.get("/runs/rules/asked/api/head").json()
        assert [run["name"] for run in head["runs"]] == ["rules", "asked"]
        assert opening.opened == ["rules", "rules asked"]
        assert client.put("/run/rules/api/head").status_code == 404
        assert client.get("/run/rules/api/nowhere").status_code == 404
        problem = client.get("/run/empty/api/head")
        assert (problem.status_code, "has no results" in problem.json()["title"]) == (400, True)
    assert opening.opened == []


@pytest.mark.parametrize("path", ["/run/nowhere/api/head", "/run/..%2Fhome/api/head"])
def test_only_runs_of_the_folder_are_opened(home: Path, path: str) -> None:
    with asking(home, _Opening()) as client:
        assert client.get(path).json()["title"] == "there is no such run in the folder"


@pytest.mark.parametrize("path", ["/api/runs", "/run/rules/api/head", "/runs/rules/asked/api/rows"])
def test_nothing_but_empty_pages_is_given_without_the_token(home: Path, path: str) -> None:
    opening = _Opening()
    with asking(home, opening) as client:
        assert client.get(path, headers={"Authorization": "Bearer no"}).status_code == 401
    assert opening.opened == []


def test_only_some_views_are_open_at_once(home: Path) -> None:
    opening = _Opening()
    pairs = [("run", name) for name in ("rules", "asked", "part")]
    pairs += [("runs", f"{a}/{b}") for a in ("rules", "asked", "part") for b in ("rules", "asked")]
    with asking(home, opening) as client:
        for kind, names in pairs:
            assert client.get(f"/{kind}/{names}/api/head").status_code == 200
        assert len(opening.opened) == MOST_OPENED < len(pairs)
        assert "rules" not in opening.opened
        assert client.get("/run/rules/api/head").status_code == 200  # opened again
        for kind, names in pairs:
            assert client.get(f"/{kind}/{names}/api/head").status_code == 200
            assert client.get("/run/rules/api/head").status_code == 200
        assert "rules" in opening.opened  # used last


def test_a_view_stays_open_while_it_answers(home: Path) -> None:
    begun, may_end = threading.Event(), threading.Event()
    opening = _Opening()

    async def slow(request: web.Request) -> web.Response:
        begun.set()
        await to_thread.run_sync(may_end.wait, 30)
        return web.json_response({"is_open": request.match_info["first"] in opening.opened})

    opening.routes = [web.get("/api/slow", slow)]
    others = [f"{a}/{b}" for a in ("rules", "asked", "part") for b in ("rules", "asked", "part")]
    with asking(home, opening) as client, ThreadPoolExecutor(1) as pool:
        answer = pool.submit(client.get, "/run/rules/api/slow", timeout=60)
        assert begun.wait(30)
        for names in others:
            assert client.get(f"/runs/{names}/api/head").status_code == 200
        may_end.set()
        assert answer.result().json() == {"is_open": True}
