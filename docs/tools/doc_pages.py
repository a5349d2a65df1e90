"""What stands in the pages: commands that are run as they are, commands that are only parsed, and the outputs shown.

A `console` block is a session: its `$ …` lines are run in the page's own empty folder, one after the other, and the
lines below each are what it printed; a line with nothing but … stands for lines left out. Commands in other blocks
need what the reader brings (data, a model, a GPU), so that they are parsed, not run.

`python docs/tools/doc_pages.py PAGE …` runs the sessions of pages again and writes what they print now; a notebook is
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
COLUMNS = 100  # how wide the terminal of a session is
OMITTED = "…"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"(?<![\w.])[-+−]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)")


@dataclass(frozen=True)
class Shown:
    """A command of a session, as it stands on the page, and what stands below it."""

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


def session(block: str) -> list[Shown]:
    """
    >>> session("$ echo a \\\\\\n    b\\na b\\n$ true\\n")
    [Shown(command='echo a \\\\\\n    b', output='a b'), Shown(command='true', output='')]
    """
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    found = [re.match(r"((?:[^\n]*\\\n)*[^\n]*)\n?(.*)", part, re.DOTALL) for part in parts]
    return [Shown(one[1], one[2].rstrip("\n")) for one in found if one]


def commands(text: str) -> Iterator[str]:
    """Every line of every block that begins with `isogloss`, continued lines joined, without comments."""
    for block in blocks(text, "", "sh", "bash", "console"):
        for line in re.sub(r"\\\n\s*", "", block).splitlines():
            bare = re.sub(r"\s+#.*", "", line.removeprefix("$ ")).strip()
            if bare.startswith("isogloss "):
                yield bare


def run(command: str, folder: Path) -> str:
    """What a command prints in a terminal of its own, on one processor; an error unless it succeeds."""
    own = {"COLUMNS": str(COLUMNS), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "NO_COLOR": "1", "TERM": "dumb"}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command, shell=True, cwd=folder, env={**os.environ, **own, "PATH": path}, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"$ {command}\nended with {done.returncode}: {done.stdout}{done.stderr}")
    return "\n".join(line.rstrip() for line in done.stdout.rstrip().splitlines())


def agrees(shown: str, printed: str) -> bool:
    """Whether a page still shows what a command prints: the same words, and numbers up to a tenth.

    Another processor sums in another order, and after a training scores differ by a little.

    >>> agrees("layer 4  0.84\\n…\\nwritten: a.html", "layer 4   0.842\\nlayer 5   0.8\\nwritten: a.html")
    True
    >>> agrees("layer 4  0.84", "layer 4  0.32"), agrees("layer 4", "level 4")
    (False, False)
    """
    parts = [part.split() for part in re.split(rf"^{OMITTED}$", shown, flags=re.MULTILINE)]
    words = printed.split()
    if len(parts) == 1:
        return _alike(parts[0], words)
    first, last = parts[0], parts[-1]
    return _alike(first, words[: len(first)]) and _alike(last, words[len(words) - len(last) :])


def _alike(shown: list[str], printed: list[str]) -> bool:
    return len(shown) == len(printed) and all(map(_same_word, shown, printed))


def _same_word(one: str, other: str) -> bool:
    if NUMBER.sub("#", one) != NUMBER.sub("#", other):
        return set(one) == set(other) == {"─"}  # rules are as long as what stands below them
    pairs = zip(*([_value(number) for number in NUMBER.findall(word)] for word in (one, other)), strict=True)
    return all(abs(a - b) <= max(0.1, 0.1 * abs(a)) for a, b in pairs)


def _value(number: str) -> float:
    return float(number.replace(",", "").replace("−", "-"))


def refreshed(text: str, folder: Path) -> str:
    """A page with what its sessions print now; of an output with lines left out, as many are shown as before."""

    def again(block: re.Match[str]) -> str:
        if block[1] != "console":
            return block[0]
        shown = [_again(one, folder) for one in session(block[2])]
        lines = [line for one in shown for line in (f"$ {one.command}", one.output) if line]
        return "\n".join(["```console", *lines, "```"])

    return BLOCK.sub(again, text)


def _again(one: Shown, folder: Path) -> Shown:
    printed, before = run(one.command, folder).splitlines(), one.output.splitlines()
    if OMITTED in before:
        first = before.index(OMITTED)
        printed = [*printed[:first], OMITTED, *printed[len(printed) - (len(before) - first - 1) :]]
    return Shown(one.command, "\n".join(printed))


def execute_notebook(path: Path) -> None:
    """Runs a notebook from its beginning and keeps what it shows."""
    import nbclient
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        place = {"metadata": {"path": folder}}
        nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3", resources=place).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # when each cell was run is no one's concern
        if "outputs" in cell:  # nor what libraries say on the side
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
