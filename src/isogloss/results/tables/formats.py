"""Tables as Markdown, LaTeX and CSV; special characters in cells are escaped."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from isogloss.core.errors import UsageError
from isogloss.core.files import atomic_write
from isogloss.results.tables.cell_colours import SHADES
from isogloss.results.tables.tables import Cell, Table

MARKDOWN_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$&])")
LATEX_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"$<$", ">": r"$>$", "|": r"$|$",
    **{digit: f"$^{number}$" for number, digit in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
    "Δ": r"$\Delta$", "−": r"$-$", "≥": r"$\geq$", "≤": r"$\leq$", "ρ": r"$\rho$",
}  # fmt: skip


def markdown(table: Table) -> str:
    """A pipe table, with numbers right-aligned, and its footnotes. Markdown has no colours.

    >>> print(markdown(Table(("pair", "REF"), ((Cell("en_a-X"), Cell("-1.5*", True)),))), end="")
    | pair | REF |
    |:---|---:|
    | en\\_a-X | −1.5\\* |
    """
    alignments = ["---:" if numeric else ":---" for numeric in _numeric_columns(table)]
    lines = [
        "| " + " | ".join(map(markdown_text, table.head)) + " |",
        "|" + "|".join(alignments) + "|",
        *("| " + " | ".join(markdown_text(_with_minus(table, cell)) for cell in row) + " |" for row in table.body),
        *(f"\n{markdown_text(note)}" for note in table.footnotes),
    ]
    return "\n".join(lines) + "\n"


def latex(table: Table, *, caption: str = "", label: str = "") -> str:
    """A booktabs table; coloured cells need `\\usepackage[table]{xcolor}`. Without a caption, only the tabular.

    Footnotes end the caption; without a caption they are comments.
    """
    columns = "".join("r" if numeric else "l" for numeric in _numeric_columns(table))
    rows = [" & ".join(_latex_cell(table, cell) for cell in row) + r" \\" for row in table.body]
    head = " & ".join(map(latex_text, table.head)) + r" \\"
    tabular = [f"\\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule", *rows, r"\bottomrule"]
    lines = [*tabular, r"\end{tabular}"]
    if caption:
        text = " ".join([caption, *table.footnotes])
        captions = [f"\\caption{{{latex_text(text)}}}", *([f"\\label{{{label}}}"] if label else [])]
        lines = [r"\begin{table}", r"\centering", *lines, *captions, r"\end{table}"]
    else:
        lines += [f"% {latex_text(note)}" for note in table.footnotes]
    return "\n".join(lines) + "\n"


def comma_separated(table: Table) -> str:
    """CSV according to RFC 4180; a published value that is not comparable has its reason beside it."""
    rows = [table.head, *([_with_reason(cell) for cell in row] for row in table.body)]
    has_returns = any("\r" in cell for row in rows for cell in row)  # not quoted by Python before 3.13
    text = io.StringIO()
    csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL if has_returns else csv.QUOTE_MINIMAL).writerows(rows)
    return text.getvalue()


FORMATS: dict[str, Callable[[Table], str]] = {".md": markdown, ".tex": latex, ".csv": comma_separated}


def write_table(table: Table, path: str | os.PathLike[str]) -> None:
    """Write the table in the format of the suffix: `.md`, `.tex` or `.csv`."""
    suffix = Path(path).suffix
    if suffix not in FORMATS:
        raise UsageError(f"{os.fspath(path)}: expected one of {', '.join(FORMATS)}, got '{suffix}'")
    with atomic_write(path) as file:
        file.write(FORMATS[suffix](table))


def latex_text(text: str) -> str:
    """Text with LaTeX's special characters escaped, on one line.

    >>> latex_text("50% of R&D_x")
    '50\\\\% of R\\\\&D\\\\_x'
    """
    return "".join(LATEX_SPECIAL.get(char, char) for char in " ".join(text.split()))


def _latex_cell(table: Table, cell: Cell) -> str:
    text = latex_text(_with_minus(table, cell))
    if cell.mismatch:
        measured = latex_text(_with_minus(table, Cell(cell.text if cell.published else "", cell.number)))
        text = f"{measured}\\textcolor{{gray}}{{{text.removeprefix(measured)}}}"
    if not cell.shade:
        return text
    shade = SHADES[cell.shade]
    return f"\\cellcolor[HTML]{{{shade.cell[1:]}}}\\textcolor[HTML]{{{shade.text[1:]}}}{{{text}}}"


def markdown_text(text: str) -> str:
    return MARKDOWN_SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _with_minus(table: Table, cell: Cell) -> str:
    """The text and the published value, numbers with a true minus sign."""
    line = table.line(cell)
    return line.replace("-", "−") if cell.number else line


def _with_reason(cell: Cell) -> str:
    """
    >>> _with_reason(Cell("62.00", published="79.37", mismatch="mean of 16 languages; yours has 3"))
    '62.00 (79.37: mean of 16 languages; yours has 3)'
    """
    reason = f": {cell.mismatch}" if cell.mismatch else ""
    return f"{cell.text} ({cell.published}{reason})" if cell.published else f"{cell.text}{reason}"


def _numeric_columns(table: Table) -> Sequence[bool]:
    """For each column, whether all its cells are numbers."""
    return [all(row[column].number for row in table.body) for column in range(len(table.head))]
