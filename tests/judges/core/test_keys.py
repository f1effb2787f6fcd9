"""Keys outlast releases, and the digest of a judge's rules changes with them alone."""

import importlib
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
from fakes.judges import ASPECT, FixedJudge, segment
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import (
    VERSION,
    ChatRequest,
    Decoding,
    Message,
    Scale,
    ToolCall,
    ToolSpec,
    signature,
    stamped,
    unstamped,
)
from spanjury.judges.core import code_digest as module
from spanjury.judges.core import keys as keys_module
from spanjury.judges.core.code_digest import code_digest
from spanjury.judges.core.keys import asked_about, canonical, digest, report_key
from spanjury.judges.rules.form import FormJudge
from spanjury.judges.rules.grounding import GroundingJudge

REQUEST = ChatRequest(
    messages=(
        Message(role="user", content="Judge \udc00 this."),
        Message(
            role="assistant",
            content="",
            tool_calls=(ToolCall(call_id="1", name="look", arguments="{}"),),
        ),
        Message(role="tool", content="Nothing.", call_id="1"),
    ),
    prefix="Score:",
    decoding=Decoding(temperature=0.5, seed=7, max_tokens=77, grammar='root ::= "1"', logprobs=5),
    tools=(ToolSpec(name="look", description="Looks.", parameters={"type": "object"}),),
)
TEXTS = st.text() | st.text(alphabet='ab"\\\\\\n\\t\\x7f\\u2028\\ud800é', max_size=9)
CALLS = st.builds(ToolCall, call_id=TEXTS, name=TEXTS, arguments=TEXTS)
MESSAGES = st.builds(
    Message,
    role=st.sampled_from(["system", "user", "assistant", "tool"]),
    content=TEXTS,
    tool_calls=st.lists(CALLS, max_size=1).map(tuple),
    call_id=TEXTS,
)
DECODINGS = st.builds(
    Decoding,
    temperature=st.sampled_from([0, 0.0, 0.7, 1, 1.0]),
    seed=st.none() | st.integers(),
    max_tokens=st.integers(1, 9999),
    grammar=TEXTS,
)
FILES = {
    "rulebook/__init__.py": "NO_MODULE = 1\n",
    "rulebook/judge.py": (
        "from rulebook.table import COSTS\n"
        "from .words import WORDS\n"
        "from . import (\n    marks,  # (beside words)\n    costs as of,\n)\n"
        "from rulebook import NO_MODULE, names\n"
        "import json, rulebook.nested.inner as inner\n"
        "def later():\n    import rulebook.late\n"
        "from json import dumps\n"
        'PACKAGE = "rulebook.data"\n'
        'NO_PACKAGE = ("no.package", "rulebook.gone", "rulebook.table")\n'
    ),
    "rulebook/table.py": "COSTS = (1, 2)\n",
    "rulebook/words.py": "WORDS = ('a',)\n",
    **{
        f"rulebook/{name}.py": "ANY = 1\n"
        for name in ("marks", "costs", "names", "late", "nested/inner", "other")
    },
    "rulebook/nested/__init__.py": "",
    "rulebook/data/__init__.py": "",
    "rulebook/data/lists/words.txt": "one\n",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Later:
    """A type that no key held in the first release."""

    zeal: int = 1
    aim: str = ""
    tags: tuple[str, ...] = ()


def test_keys_are_what_they_were() -> None:
    # Do not change these digests: with another key every reply is paid for again.
    assert digest(canonical(REQUEST)) == "45a51a3f777121283dc82abbb52abe7a"
    assert digest(canonical(ChatRequest(messages=()))) == "a2273ce7275851b60d25185b0494aca2"
    assert digest(*asked_about(segment(), canonical(ASPECT))) == "efb8b6d6957e1336e1d82cb8c2efb24f"
    assert digest("a", "b") != digest("ab")


@given(
    request=st.builds(
        ChatRequest,
        messages=st.lists(MESSAGES, max_size=3).map(tuple),
        prefix=TEXTS,
        decoding=DECODINGS,
        forced=st.just("") | TEXTS,
    )
)
def test_a_plain_request_is_written_as_any_other_value(request: ChatRequest) -> None:
    assert canonical(request) == json.dumps(request, default=keys_module._plain).encode()


def test_no_field_of_a_plain_request_is_forgotten() -> None:
    # A field that is added later is to be written where it is not as by default.
    first_fields = {*keys_module._FIRST_FIELDS[ChatRequest], "forced"}
    first_fields |= {"variants", "logprobs_near"}  # one is sent instead; what of a reply is kept
    assert {field.name for field in fields(ChatRequest)} == first_fields
    message_fields = {*keys_module._FIRST_FIELDS[Message], "shared", "own"}  # the text is the same
    assert {field.name for field in fields(Message)} == message_fields


def test_a_field_that_came_later_is_written_where_it_is_not_as_by_default() -> None:
    def written(value: Later) -> bytes:
        return canonical(value)  # type: ignore[arg-type]  # as if it were a part of a request

    assert written(Later()) == b"{}"
    assert written(Later(zeal=2, aim="x")) == b'{"aim": "x", "zeal": 2}'
    assert written(Later(tags=("a",))) == b'{"tags": ["a"]}'


def test_the_first_fields_are_there_still() -> None:
    for kind, first in keys_module._FIRST_FIELDS.items():
        there = {field.name for field in fields(kind)}
        assert set(first) <= there, f"a field of {kind.__name__} that keys hold is gone"


def test_values_that_no_key_can_hold_are_refused() -> None:
    odd = ToolSpec(name="look", description="", parameters={"default": object()})
    with pytest.raises(TypeError, match="cannot hold object"):
        canonical(ChatRequest(messages=(), tools=(odd,)))


def test_the_version_is_shown_and_in_no_signature() -> None:
    bare = signature("form", max_spans=8)
    assert bare == "form|max_spans:8"
    assert stamped(bare) == f"form|max_spans:8|spanjury:{VERSION}"
    assert unstamped(stamped(bare)) == unstamped(bare) == bare
    assert unstamped("form|max_spans:8|spanjury:9.9.9") == bare


def test_a_sentence_is_another_one_behind_another_text() -> None:
    plain = FixedJudge(says=None)
    befores = (None, "", "Ann sings.")
    keys = {report_key(plain, replace(segment(), before=before), ASPECT) for before in befores}
    assert len(keys) == len(befores)


def test_a_judge_that_knows_what_it_depends_on_says_so_itself() -> None:
    class Keyed(FixedJudge):
        def report_key(self, segment: object, aspect: object) -> str:
            return "the same"

    keyed, plain = Keyed(says=None), FixedJudge(says=None)
    other = segment(output="Else.")
    assert report_key(keyed, segment(), ASPECT) == report_key(keyed, other, ASPECT)
    assert report_key(plain, segment(), ASPECT) != report_key(plain, other, ASPECT)
    assert Scale() == ASPECT.scale


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Lay out a package of rules that can be imported."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("rulebook.judge")
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] == "rulebook"]:
        del sys.modules[name]


def fresh(*modules: str) -> str:
    """Return the digest as a new process would."""
    module._spec.cache_clear()
    return code_digest.__wrapped__(*modules)


@pytest.mark.parametrize(
    "name", [name for name in FILES if "other" not in name and "__init__" not in name]
)
def test_a_change_of_anything_that_is_imported_or_read_counts(folder: Path, name: str) -> None:
    before = fresh("rulebook.judge")
    assert fresh("rulebook.judge") == before
    with (folder / name).open("a") as file:
        file.write("\n# or so\n")
    assert fresh("rulebook.judge") != before


def test_a_change_of_anything_else_does_not_count(folder: Path) -> None:
    before = fresh("rulebook.judge")
    (folder / "rulebook/other.py").write_text("OTHER = 2\n")
    (folder / "rulebook/notes.txt").write_text("two")
    assert fresh("rulebook.judge") == before


def test_without_source_the_version_is_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find: Callable[[str], ModuleSpec | None] = module._spec.__wrapped__

    def without_source(name: str) -> ModuleSpec | None:
        spec = find(name)
        return ModuleSpec(name, None) if spec and name == "rulebook.table" else spec

    monkeypatch.setattr(module, "_spec", cache(without_source))
    before = fresh("rulebook.table")
    monkeypatch.setattr(module, "VERSION", "9.9.9")
    assert fresh("rulebook.table") != before


def test_a_loader_without_a_way_to_the_source_changes_no_digest(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = fresh("rulebook.judge")
    find: Callable[[str], ModuleSpec | None] = module._spec.__wrapped__

    def rewriting(name: str) -> ModuleSpec | None:  # as pytest has one for plugins
        spec = find(name)
        if spec and spec.origin and name == "rulebook.table":
            other = ModuleSpec(name, None, origin=spec.origin)
            other.has_location = True
            return other
        return spec

    monkeypatch.setattr(module, "_spec", cache(rewriting))
    assert fresh("rulebook.judge") == before


def test_the_two_offline_judges_have_rules_of_their_own() -> None:
    digests = {judge.signature.rpartition(":")[2] for judge in (FormJudge(), GroundingJudge())}
    assert len(digests) == 2


def test_the_version_changes_no_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("spanjury.judges.rules.form", "spanjury.judges.rules.grounding")
    before = [fresh(name) for name in names]
    monkeypatch.setattr(module, "VERSION", "9.9.9")
    assert [fresh(name) for name in names] == before


def test_other_costs_make_another_form_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    before = FormJudge().signature
    monkeypatch.setattr("spanjury.judges.rules.form._COSTS", (0.0, 2.5, 10.0, 25.0, 50.0, 100.0))
    assert FormJudge().signature != before
