"""Console sessions, commands and code blocks of the documentation pages.

A `console` block is a session. Its `$ …` lines run one after the other in an empty folder per page, and the lines below
each are its output; a line that is only … stands for omitted lines. Commands in other blocks need files of the reader
(data, a model, a GPU), so they are parsed, not run.

`python docs/tools/doc_pages.py PAGE …` runs the sessions of pages and writes their current outputs; a notebook is
executed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
TERMINAL_COLUMNS = 100
OMITTED = "…"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"(?<![\w.])[-+−]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)")


@dataclass(frozen=True)
class SessionCommand:
    """A command of a session and the output shown on the page."""

    command: str
    output: str


def pages() -> list[Path]:
    """The README and every page of docs/."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(text: str, *kinds: str) -> list[str]:
    """The fenced blocks of some kinds.

    >>> blocks("```sh\\nls\\n```\\n\\n```python\\n1\\n```\\n", "sh")
    ['ls\\n']
    """
    return [body for kind, body in BLOCK.findall(text) if kind in kinds]


def session(block: str) -> list[SessionCommand]:
    """
    >>> session("$ echo a \\\\\\n    b\\na b\\n$ true\\n")
    [SessionCommand(command='echo a \\\\\\n    b', output='a b'), SessionCommand(command='true', output='')]
    """
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    matches = [re.match(r"((?:[^\n]*\\\n)*[^\n]*)\n?(.*)", part, re.DOTALL) for part in parts]
    return [SessionCommand(match[1], match[2].rstrip("\n")) for match in matches if match]


def commands(text: str) -> Iterator[str]:
    """Every line of every block that begins with `isogloss`, continued lines joined, without comments."""
    for block in blocks(text, "", "sh", "bash", "console"):
        for line in re.sub(r"\\\n\s*", "", block).splitlines():
            command = re.sub(r"\s+#.*", "", line.removeprefix("$ ")).strip()
            if command.startswith("isogloss "):
                yield command


def run(command: str, folder: Path) -> str:
    """The output of a command with one thread and a fixed terminal width; an error if the command fails."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    terminal = {"COLUMNS": str(TERMINAL_COLUMNS), "NO_COLOR": "1", "TERM": "dumb"}
    environment = {**os.environ, **terminal, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "PATH": path}
    process = subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True)
    if process.returncode:
        raise RuntimeError(f"$ {command}\nfailed with exit code {process.returncode}: {process.stdout}{process.stderr}")
    return "\n".join(line.rstrip() for line in process.stdout.rstrip().splitlines())


def agrees(shown: str, printed: str) -> bool:
    """Whether the output on a page matches the current one: the same words, and numbers within a tenth.

    The order of summation differs between processors, so scores after training differ slightly.

    >>> agrees("layer 4  0.84\\n…\\nwritten: a.html", "layer 4   0.842\\nlayer 5   0.8\\nwritten: a.html")
    True
    >>> agrees("layer 4  0.84", "layer 4  0.32"), agrees("layer 4", "level 4")
    (False, False)
    """
    parts = [part.split() for part in re.split(rf"^{OMITTED}$", shown, flags=re.MULTILINE)]
    words = printed.split()
    if len(parts) == 1:
        return _same_words(parts[0], words)
    first, last = parts[0], parts[-1]
    return _same_words(first, words[: len(first)]) and _same_words(last, words[len(words) - len(last) :])


def _same_words(shown: list[str], printed: list[str]) -> bool:
    return len(shown) == len(printed) and all(map(_same_word, shown, printed))


def _same_word(shown: str, printed: str) -> bool:
    if NUMBER.sub("#", shown) != NUMBER.sub("#", printed):
        return set(shown) == set(printed) == {"─"}  # the length of a rule depends on the table below it
    pairs = zip(*([_value(number) for number in NUMBER.findall(word)] for word in (shown, printed)), strict=True)
    return all(abs(a - b) <= max(0.1, 0.1 * abs(a)) for a, b in pairs)


def _value(number: str) -> float:
    return float(number.replace(",", "").replace("−", "-"))


def refreshed(text: str, folder: Path) -> str:
    """A page with the current outputs of its sessions; omitted lines stay omitted."""

    def refresh_block(block: re.Match[str]) -> str:
        if block[1] != "console":
            return block[0]
        current = [_refresh_command(entry, folder) for entry in session(block[2])]
        lines = [line for entry in current for line in (f"$ {entry.command}", entry.output) if line]
        return "\n".join(["```console", *lines, "```"])

    return BLOCK.sub(refresh_block, text)


def _refresh_command(entry: SessionCommand, folder: Path) -> SessionCommand:
    printed, shown = run(entry.command, folder).splitlines(), entry.output.splitlines()
    if OMITTED in shown:
        first = shown.index(OMITTED)
        printed = [*printed[:first], OMITTED, *printed[len(printed) - (len(shown) - first - 1) :]]
    return SessionCommand(entry.command, "\n".join(printed))


def execute_notebook(path: Path) -> None:
    """Execute a notebook and save its outputs."""
    import nbclient
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times of execution would differ in every version
        if "outputs" in cell:  # without warnings of libraries
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"], "language_info": {"name": "python"}}
    nbformat.write(notebook, path)


def main(names: list[str]) -> None:
    for path in map(Path, names):
        if path.suffix == ".ipynb":
            execute_notebook(path)
            continue
        with tempfile.TemporaryDirectory() as folder:
            path.write_text(refreshed(path.read_text(encoding="utf-8"), Path(folder)), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
