"""Documentation pages: examples run, commands parse, and names, options and links exist."""

from __future__ import annotations

import ast
import doctest
import inspect
import pkgutil
import re
import shlex
from collections.abc import Iterable
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
# options of other programs on the pages
FOREIGN_OPTIONS = {"--nproc-per-node", "--head", "--address", "--at", "--width", "--height"}
COMMAND_LINE: Any = typer.main.get_command(app)


def for_pages(names: Iterable[str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("name", sorted(names))


@pytest.mark.parametrize("name", [pytest.param(n, marks=SLOW if n in SLOW_SESSIONS else []) for n in SESSIONS])
def test_session_outputs_match_the_page(name: str, tmp_path: Path) -> None:
    """If outputs have changed, run `make docs-outputs` and review the difference."""
    for block in blocks(TEXTS[name], "console"):
        for shown in session(block):
            printed = run(shown.command, tmp_path)
            assert agrees(shown.output, printed), f"$ {shown.command}\n{printed}"


@for_pages(name for name, text in TEXTS.items() if blocks(text, "pycon"))
def test_doctests_pass(name: str) -> None:
    test = doctest.DocTestParser().get_doctest("\n".join(blocks(TEXTS[name], "pycon")), {}, name, name, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(test)
    assert runner.summarize().attempted
    assert not runner.summarize().failed


COMMANDS = sorted({(name, command) for name, text in TEXTS.items() for command in commands(text)})


@pytest.mark.parametrize(("name", "command"), COMMANDS)
def test_commands_parse(name: str, command: str) -> None:
    """With the parser of the command line; an … stands for values of the reader, so required options may be missing."""
    words = [word for word in shlex.split(command.partition(" > ")[0])[1:] if word != "…"]
    verb, *arguments = spread_lists(words, LIST_OPTIONS)
    assert verb in COMMAND_LINE.commands, f"{name}: no command '{verb}'"
    try:
        COMMAND_LINE.commands[verb].make_context(verb, arguments)
    except Exception as error:
        assert "…" in command and "issing" in str(error), f"{name}: {command}: {error}"


@for_pages(TEXTS)
def test_every_option_exists(name: str) -> None:
    known = {"--help", "--version", "--debug"} | FOREIGN_OPTIONS
    for parameter in (option for command in COMMAND_LINE.commands.values() for option in command.params):
        known |= {*parameter.opts, *parameter.secondary_opts}
    text = re.sub(r"<!--.*?-->|\]\([^)]*\)|^\|[-|]+$", "", TEXTS[name], flags=re.DOTALL | re.MULTILINE)
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) <= known


@for_pages(TEXTS)
def test_every_command_exists(name: str) -> None:
    assert set(re.findall(r"`isogloss ([a-z]+)\b", TEXTS[name])) <= set(COMMAND_LINE.commands)


def calls(code: str) -> list[tuple[str, list[str]]]:
    """The public functions that the code calls, with the names of their keyword arguments."""
    return [
        (node.func.attr, [keyword.arg for keyword in node.keywords if keyword.arg])
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if isinstance(node.func.value, ast.Name) and node.func.value.id == "ig"
    ]


@for_pages(name for name, text in TEXTS.items() if blocks(text, "python"))
def test_python_examples_use_public_functions_and_arguments(name: str) -> None:
    for code in blocks(TEXTS[name], "python"):
        for function, arguments in calls(code.replace("…", "...")):
            assert function in ig.PUBLIC, f"{name}: ig.{function}"
            parameters = inspect.signature(getattr(ig, function)).parameters
            if not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
                assert set(arguments) <= set(parameters), f"{name}: ig.{function}"


@for_pages(TEXTS)
def test_public_names_in_the_text_exist(name: str) -> None:
    assert set(re.findall(r"`ig\.(\w+)", TEXTS[name])) <= set(ig.PUBLIC)


@for_pages(TEXTS)
def test_modules_in_the_text_exist(name: str) -> None:
    for path in set(re.findall(r"`(isogloss(?:\.\w+)+)`", TEXTS[name])):
        try:
            pkgutil.resolve_name(path)
        except (ImportError, AttributeError):
            pytest.fail(f"{name}: no module or name {path}")


@for_pages(TEXTS)
def test_link_targets_exist(name: str) -> None:
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


def test_api_reference_is_complete() -> None:
    pages = "".join(text for name, text in TEXTS.items() if name.startswith("docs/api/"))
    documented = re.findall(r"^::: (\S+)", pages, re.MULTILINE)
    assert sorted(documented) == sorted(f"{module}.{name}" for name, module in ig.PUBLIC.items())
    rows = re.findall(r"^\| \[.*", TEXTS["docs/api/index.md"], re.MULTILINE)
    assert sorted(re.findall(r"`(\w+)`", "".join(rows))) == sorted(ig.PUBLIC)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_notebook_outputs_match(tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat", reason="needs the packages of the documentation")
    from doc_pages import execute_notebook

    saved = nbformat.read(DOCS / "notebooks" / "tour.ipynb", as_version=4)
    nbformat.write(saved, tmp_path / "tour.ipynb")
    execute_notebook(tmp_path / "tour.ipynb")
    for old, new in zip(saved.cells, nbformat.read(tmp_path / "tour.ipynb", as_version=4).cells, strict=True):
        for shown, printed in zip(old.get("outputs", []), new.get("outputs", []), strict=True):
            if "text/html" not in shown.data and "image/svg+xml" not in shown.data:
                assert agrees(shown.data["text/plain"], printed.data["text/plain"])
