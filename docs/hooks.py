"""Hooks of the site: pages made of the code, pages from outside this folder, links to both.

`mkdocs.yml` names this file. The pages of commands, Python and HTTP exist only in the built site.
"""

import html
import importlib
import inspect
import posixpath
import re
import textwrap
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from spanjury.orchestration.cli.app import app
from spanjury.orchestration.servers.http.app import unguarded_app
from spanjury.orchestration.servers.http.pages import describe
from spanjury.orchestration.servers.http.service import Service
from spanjury.orchestration.servers.http.settings import ServiceSettings
from spanjury.orchestration.services.serving.batches.batch import BatchPlan

ROOT = Path(__file__).parents[1]
FROM_ROOT = {
    "ARCHITECTURE.md": "ARCHITECTURE.md",
    "CHANGELOG.md": "CHANGELOG.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "README.md": "index.md",
}
"""Files of the root that are pages, and their names in the site."""
FACES = (
    "spanjury",
    "spanjury.exams",
    "spanjury.agents",
    "spanjury.judges.core",
    "spanjury.perturbations",
    "spanjury.stats",
)
_FENCED = re.compile(r"(^ *```.*?^ *```)", re.DOTALL | re.MULTILINE)
_NAMED_PAGE = re.compile(r"(?<![\[`])`{1,2}docs/([\w./-]+\.md)`{1,2}")
_LINK_UP = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+[^)#]*)(#[^)]*)?\)")
_LINK_DOWN = re.compile(r"\]\((?!https?:|#)")
_PATH_OF_TYPE = re.compile(r"\b(?:\w+\.)+(?=[A-Za-z]\w*\b)")
_FOREIGN = re.compile(
    r"<(?:script|img|iframe|link)\b[^>]*\b(?:src|href)=[\"']?(?:https?:)?//[^>]*>"
)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages of commands and of packages where the navigation names their folders."""
    pages = {
        "reference/commands": [f"reference/commands/{name}.md" for name in _commands()],
        "reference/python": [f"reference/python/{name}.md" for name in FACES],
    }
    for section in config.nav or ():
        for entries in section.values():
            for entry in entries:
                for title, target in entry.items() if isinstance(entry, dict) else ():
                    entry[title] = pages.get(target, target) if isinstance(target, str) else target
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that no file of this folder holds."""
    pages = {
        name: _outside_code((ROOT / path).read_text("utf-8"), _as_from_docs)
        for path, name in FROM_ROOT.items()
    }
    pages |= {f"reference/commands/{name}.md": text for name, text in _commands().items()}
    pages |= {f"reference/python/{name}.md": python_page(name) for name in FACES}
    pages["reference/http.md"] = http_page()
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(
    markdown: str,
    *,
    page: Page,
    config: MkDocsConfig,  # noqa: ARG001  MkDocs passes all four by name
    files: Files,
) -> str:
    """Link the pages that a text names by their paths; name files that are no pages."""
    here = page.file.src_uri

    def named(match: re.Match[str]) -> str:
        target = files.get_file_from_path(match[1])
        return match[0] if target is None else f"[{match[1]}]({_between(here, match[1])})"

    def upward(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(here), match[2]))
        if path.startswith("docs/"):
            return match[0]
        if path in FROM_ROOT:
            return f"[{match[1]}]({_between(here, FROM_ROOT[path])}{match[3] or ''})"
        return f"{match[1]} (`{path}` in the repository)"

    return _outside_code(markdown, lambda part: _LINK_UP.sub(upward, _NAMED_PAGE.sub(named, part)))


def on_post_page(
    output: str,
    *,
    page: Page,
    config: MkDocsConfig,  # noqa: ARG001  as above
) -> str:
    """Return the page; raise if it loads anything from another host."""
    if match := _FOREIGN.search(output):
        raise PluginError(f"{page.file.src_uri} loads {match[0]}: pages must work from disk")
    return output


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    parts = _FENCED.split(text)
    parts[::2] = map(change, parts[::2])
    return "".join(parts)


def _as_from_docs(text: str) -> str:
    """Return a text of the root with its links as they would be if it were in this folder."""
    return _LINK_DOWN.sub("](../", text).replace("](../docs/", "](")


def _between(here: str, there: str) -> str:
    return posixpath.relpath(there, posixpath.dirname(here) or ".")


# Commands


def _commands() -> dict[str, str]:
    """Return a page of each command of the first level, by name."""
    group = typer.main.get_command(app)
    context = group.make_context("spanjury", [], resilient_parsing=True)
    return {
        name: "\n".join(_command_lines(group.get_command(context, name), context, level=1))
        for name in group.list_commands(context)
    }


def _command_lines(
    listed: Any,  # noqa: ANN401  typer names no type of its commands
    parent: Any,  # noqa: ANN401  nor of their contexts
    *,
    level: int,
) -> Iterator[str]:
    """Yield the lines about a command and those below it."""
    own = listed.expanded() if hasattr(listed, "expanded") else listed
    context = own.make_context(own.name, [], parent=parent, resilient_parsing=True)
    yield from (f"{'#' * level} {context.command_path}", "", _prose(own.help or ""), "")
    if hasattr(own, "list_commands"):
        for name in own.list_commands(context):
            yield from _command_lines(own.get_command(context, name), context, level=level + 1)
        return
    yield from ("```text", own.get_usage(context).removeprefix("Usage: "), "```", "")
    sections: defaultdict[str, list[str]] = defaultdict(list)
    for flag in sorted(own.get_params(context), key=lambda each: each.param_type_name):
        row = flag.get_help_record(context)
        if row is None:
            continue
        names = flag.envvar if isinstance(flag.envvar, list | tuple) else [flag.envvar]
        variables = " ".join(f"`{name}`" for name in names if name)
        title = (getattr(flag, "rich_help_panel", None) or "Help").removesuffix(", more")
        sections[title].append(f"| `{row[0].partition(' <')[0]}` | {_cell(row[1])} | {variables} |")
    for title, rows in sections.items():
        yield from (f"**{title}**", "", "| flag | meaning | variable |", "|---|---|---|", *rows, "")


# Python


def python_page(face: str) -> str:
    """Return the page of a public package: every name that it lists, with its docstring."""
    module = importlib.import_module(face)
    lines = [f"# {face}", "", docstring(module), ""]
    for name in module.__all__:
        lines += _member_lines(name, getattr(module, name))
    return "\n".join(lines)


def _member_lines(name: str, value: object) -> Iterator[str]:
    yield from (f"## `{name}`", "")
    if not (inspect.isclass(value) or callable(value)):
        yield from (f"`{_short(repr(value))}`", "")
        return
    yield from ("```python", f"{name}{_signature(value)}", "```", "", docstring(value), "")
    for part, member in vars(value).items() if inspect.isclass(value) else ():
        if part.startswith("_"):
            continue
        if isinstance(member, property):
            yield f"- `.{part}`: {_first_sentence(member)}"
        elif inspect.isfunction(member) or isinstance(member, classmethod | staticmethod):
            taken = getattr(value, part)
            yield f"- `.{part}{_signature(taken)}`: {_first_sentence(taken)}"
    yield ""


def _signature(value: object, *, most: int = 70) -> str:
    """Return parameters and result without the paths of types, one a line if they are long."""
    try:
        signature = inspect.signature(value)  # type: ignore[arg-type]  # a callable
    except (TypeError, ValueError):
        return ""
    text = _PATH_OF_TYPE.sub("", str(signature))
    if len(text) <= most or not signature.parameters:
        return text
    lines = [_PATH_OF_TYPE.sub("", str(each)) for each in signature.parameters.values()]
    kinds = [each.kind for each in signature.parameters.values()]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        lines.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    _, arrow, returned = text.rpartition(") -> ")
    return (
        "(\n"
        + "".join(f"    {line},\n" for line in lines)
        + (arrow or ")")
        + returned * bool(arrow)
    )


def _short(text: str, most: int = 200) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


def _first_sentence(value: object) -> str:
    return _prose((inspect.getdoc(value) or "").partition("\n\n")[0].replace("\n", " "))


def docstring(value: object) -> str:
    """Return a docstring as Markdown: the sections of numpydoc as bold headings and lists."""
    text = inspect.getdoc(value) or ""
    if inspect.isclass(value) and value.__doc__ and value.__doc__.startswith(f"{value.__name__}("):
        return ""  # the signature that a dataclass without a docstring is given
    head, *rest = re.split(r"^(\w[\w ]*)\n-{3,}\n", text, flags=re.MULTILINE)
    parts = [_paragraphs(head)]
    for title, body in zip(rest[::2], rest[1::2], strict=True):
        is_text = title in {"Examples", "Notes"}
        parts += [f"**{title}**", _paragraphs(body) if is_text else _items(body)]
    return "\n\n".join(parts)


def _paragraphs(text: str) -> str:
    """Return paragraphs, examples of the interpreter as code."""
    return "\n\n".join(
        f"```python\n{part.strip()}\n```" if part.lstrip().startswith(">>>") else _prose(part)
        for part in text.split("\n\n")
    )


def _items(body: str) -> str:
    """Return the entries of a section as a list: a name, and what is said of it, indented below."""
    lines: list[str] = []
    for block in re.split(r"\n(?=\S)", body.strip()):
        name, _, about = block.partition("\n")
        name = re.sub(r"^\.\. (\[\d+\]) ?", r"\1 ", name)
        lines.append(f"- {_prose(name)}: {_flat(about)}" if about else f"- {_prose(name)}")
    return "\n".join(lines)


def _flat(text: str) -> str:
    return _prose(" ".join(textwrap.dedent(text).split()))


# HTTP


def http_page() -> str:
    """Return the page of the service, made of its OpenAPI document."""
    settings = ServiceSettings(batches=BatchPlan(panels={}), state=Path())
    document = describe(unguarded_app(Service(settings)))
    lines = ["# HTTP", "", document["info"]["description"], ""]
    for path, methods in document["paths"].items():
        for method, route in methods.items():
            lines += _route_lines(f"{method.upper()} {path}", route)
    lines += ["## Objects", ""]
    for name, schema in sorted(document["components"]["schemas"].items()):
        lines += _schema_lines(name, schema)
    return "\n".join(lines)


def _route_lines(heading: str, route: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"## {heading}", "", route.get("description") or route.get("summary", ""), "")
    if parameters := route.get("parameters"):
        yield from ("| parameter | in | type | |", "|---|---|---|---|")
        for each in parameters:
            kind = _kind(each.get("schema", {}))
            meaning = _cell(each.get("description", ""))
            yield f"| `{each['name']}` | {each['in']} | {kind} | {meaning} |"
        yield ""
    if body := route.get("requestBody"):
        for media, content in body["content"].items():
            yield from (f"Body: `{media}`, {_kind(content.get('schema', {}))}", "")
    yield from ("| status | |", "|---|---|")
    for status, answer in route["responses"].items():
        kinds = {_kind(content.get("schema", {})) for content in answer.get("content", {}).values()}
        kinds.discard("any")
        yield f"| {status} | {_cell(answer['description'])} {' '.join(sorted(kinds))} |"
    yield ""


def _schema_lines(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"### {name}", "", _prose(schema.get("description", "")), "")
    if "enum" in schema:
        yield from (", ".join(f"`{value}`" for value in schema["enum"]), "")
    if properties := schema.get("properties"):
        needed = schema.get("required", ())
        yield from ("| key | type | |", "|---|---|---|")
        for key, value in properties.items():
            note = "" if key in needed else "optional. "
            yield f"| `{key}` | {_kind(value)} | {note}{_cell(value.get('description', ''))} |"
        yield ""


def _kind(schema: Mapping[str, Any]) -> str:
    """Return the type of a value in a few words, with links to the objects."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return " or ".join(_kind(each) for each in schema[several])
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    return str(schema.get("const", schema.get("type", "any")))


# Words


def _prose(text: str) -> str:
    """Return a text as Markdown that shows it literally, but for its code spans and paragraphs."""
    pieces = re.split(r"(``.+?``|`[^`]+`)", text, flags=re.DOTALL)
    pieces[::2] = [
        re.sub(r"([*\[\]])", r"\\\1", html.escape(each, quote=False)) for each in pieces[::2]
    ]
    return "".join(pieces)


def _cell(text: str) -> str:
    return _prose(" ".join(text.split())).replace("|", "\\|")
