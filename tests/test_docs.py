"""The pages keep their word: examples run, commands parse, names, options and links exist."""

from __future__ import annotations

import ast
import doctest
import inspect
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer
from doc_pages import ROOT, agrees, blocks, commands, pages, run, session

import isogloss as ig
from isogloss.cli.arguments import spread_lists
from isogloss.cli.main import LIST_OPTIONS, app

DOCS = ROOT / "docs"
TEXTS = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in pages()}
SESSIONS = [name for name, text in TEXTS.items() if blocks(text, "console")]
SLOW_SESSIONS = {"docs/tour.md"}
SLOW = [pytest.mark.slow, pytest.mark.timeout(1200)]
# options of other programs that the pages name
FOREIGN_OPTIONS = {"--nproc-per-node", "--head", "--address", "--at", "--width", "--height"}
PARSER: Any = typer.main.get_command(app)


def named(names: Any) -> Any:
    return pytest.mark.parametrize("name", sorted(names))


@pytest.mark.parametrize("name", [pytest.param(n, marks=SLOW if n in SLOW_SESSIONS else []) for n in SESSIONS])
def test_sessions_print_what_the_page_shows(name: str, tmp_path: Path) -> None:
    """If this fails because outputs have changed: `make docs-outputs`, and look at what is new."""
    for block in blocks(TEXTS[name], "console"):
        for shown in session(block):
            printed = run(shown.command, tmp_path)
            assert agrees(shown.output, printed), f"$ {shown.command}\n{printed}"


@named(name for name, text in TEXTS.items() if blocks(text, "pycon"))
def test_examples_give_what_they_show(name: str) -> None:
    test = doctest.DocTestParser().get_doctest("\n".join(blocks(TEXTS[name], "pycon")), {}, name, name, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(test)
    assert runner.summarize().attempted
    assert not runner.summarize().failed


COMMANDS = sorted({(name, command) for name, text in TEXTS.items() for command in commands(text)})


@pytest.mark.parametrize(("name", "command"), COMMANDS)
def test_commands_parse(name: str, command: str) -> None:
    """With the command line's own parser; an … stands for what the reader knows, so that something may be missing."""
    words = [word for word in shlex.split(command.partition(" > ")[0])[1:] if word != "…"]
    verb, *arguments = spread_lists(words, LIST_OPTIONS)
    assert verb in PARSER.commands, f"{name}: no command '{verb}'"
    try:
        PARSER.commands[verb].make_context(verb, arguments)
    except Exception as error:
        assert "…" in command and "issing" in str(error), f"{name}: {command}: {error}"


@named(TEXTS)
def test_every_option_exists(name: str) -> None:
    known = {"--help", "--version", "--debug"} | FOREIGN_OPTIONS
    for parameter in (one for command in PARSER.commands.values() for one in command.params):
        known |= {*parameter.opts, *parameter.secondary_opts}
    text = re.sub(r"<!--.*?-->|\]\([^)]*\)|^\|[-|]+$", "", TEXTS[name], flags=re.DOTALL | re.MULTILINE)
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) <= known


@named(TEXTS)
def test_every_command_exists(name: str) -> None:
    assert set(re.findall(r"`isogloss ([a-z]+)\b", TEXTS[name])) <= set(PARSER.commands)


def calls(code: str) -> list[tuple[str, list[str]]]:
    """The public functions that a piece of Python calls, with the names of the arguments given by name."""
    found = [n for n in ast.walk(ast.parse(code)) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]
    ours = [n for n in found if isinstance(n.func.value, ast.Name) and n.func.value.id == "ig"]  # type: ignore[attr-defined]
    return [(n.func.attr, [k.arg for k in n.keywords if k.arg]) for n in ours]  # type: ignore[attr-defined]


@named(name for name, text in TEXTS.items() if blocks(text, "python"))
def test_python_names_public_functions_and_their_arguments(name: str) -> None:
    for code in blocks(TEXTS[name], "python"):
        for function, arguments in calls(code.replace("…", "...")):
            assert function in ig.PUBLIC, f"{name}: ig.{function}"
            parameters = inspect.signature(getattr(ig, function)).parameters
            if not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
                assert set(arguments) <= set(parameters), f"{name}: ig.{function}"


@named(TEXTS)
def test_public_names_in_the_text_exist(name: str) -> None:
    assert set(re.findall(r"`ig\.(\w+)", TEXTS[name])) <= set(ig.PUBLIC)


@named(TEXTS)
def test_links_lead_somewhere(name: str) -> None:
    text = re.sub(r"```.*?```", "", TEXTS[name], flags=re.DOTALL)
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)]*))?\)", text):
        if target.startswith(("http:", "https:")):
            continue
        path = (ROOT / name).parent / target if target else ROOT / name
        assert path.exists(), f"{name}: {target}"
        if anchor:
            assert anchor in anchors(path.read_text(encoding="utf-8")), f"{name}: {target}#{anchor}"


def anchors(text: str) -> set[str]:
    """
    >>> anchors("# One seed says +1.5 points. Is that a result?")
    {'one-seed-says-15-points-is-that-a-result'}
    """
    heads = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", head.lower()).strip()) for head in heads}


def test_the_reference_has_every_public_name() -> None:
    pages = "".join(text for name, text in TEXTS.items() if name.startswith("docs/api/"))
    described = re.findall(r"^::: (\S+)", pages, re.MULTILINE)
    assert sorted(described) == sorted(f"{module}.{name}" for name, module in ig.PUBLIC.items())
    rows = re.findall(r"^\| \[.*", TEXTS["docs/api/index.md"], re.MULTILINE)
    assert sorted(re.findall(r"`(\w+)`", "".join(rows))) == sorted(ig.PUBLIC)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_notebook_runs_and_shows_what_it_holds(tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat", reason="the documentation's packages are not here")
    from doc_pages import execute_notebook

    held = nbformat.read(DOCS / "notebooks" / "tour.ipynb", as_version=4)
    nbformat.write(held, tmp_path / "tour.ipynb")
    execute_notebook(tmp_path / "tour.ipynb")
    for old, new in zip(held.cells, nbformat.read(tmp_path / "tour.ipynb", as_version=4).cells, strict=True):
        for shown, printed in zip(old.get("outputs", []), new.get("outputs", []), strict=True):
            if "text/html" not in shown.data and "image/svg+xml" not in shown.data:
                assert agrees(shown.data["text/plain"], printed.data["text/plain"])
