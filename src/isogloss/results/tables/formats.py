"""Tables as Markdown, LaTeX, CSV and HTML; whatever stands in a cell comes out as that text and nothing else."""

from __future__ import annotations

import csv
import html
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
    "Δ": r"$\Delta$", "−": r"$-$", "≥": r"$\geq$", "≤": r"$\leq$", "ρ": r"$\rho$",
}  # fmt: skip


def markdown(table: Table) -> str:
    """A pipe table, numbers to the right. Markdown has no colours.

    >>> print(markdown(Table(("pair", "REF"), ((Cell("en_a-X"), Cell("-1.5*", True)),))), end="")
    | pair | REF |
    |:---|---:|
    | en\\_a-X | −1.5\\* |
    """
    marks = ["---:" if right else ":---" for right in _numeric(table)]
    lines = [
        "| " + " | ".join(map(markdown_text, table.head)) + " |",
        "|" + "|".join(marks) + "|",
        *("| " + " | ".join(markdown_text(_minus(cell)) for cell in row) + " |" for row in table.body),
    ]
    return "\n".join(lines) + "\n"


def latex(table: Table, *, caption: str = "", label: str = "") -> str:
    """A booktabs table; coloured cells need `\\usepackage[table]{xcolor}`. Without a caption, the tabular alone."""
    spec = "".join("r" if right else "l" for right in _numeric(table))
    rows = [" & ".join(map(_latex_cell, row)) + r" \\" for row in table.body]
    head = " & ".join(map(latex_text, table.head)) + r" \\"
    tabular = [f"\\begin{{tabular}}{{{spec}}}", r"\toprule", head, r"\midrule", *rows, r"\bottomrule"]
    lines = [*tabular, r"\end{tabular}"]
    if caption:
        named = [f"\\label{{{label}}}"] if label else []
        lines = [r"\begin{table}", r"\centering", *lines, f"\\caption{{{latex_text(caption)}}}", *named, r"\end{table}"]
    return "\n".join(lines) + "\n"


def comma_separated(table: Table) -> str:
    """CSV as RFC 4180 has it, cells as they are printed."""
    rows = [table.head, *([cell.text for cell in row] for row in table.body)]
    odd = any("\r" in cell for row in rows for cell in row)  # which Python does not quote by itself before 3.13
    text = io.StringIO()
    csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL if odd else csv.QUOTE_MINIMAL).writerows(rows)
    return text.getvalue()


def html_table(table: Table) -> str:
    """A `<table>`, its coloured cells styled in place and classed by name; the legend is its caption."""
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in table.head)
    body = "\n".join("<tr>" + "".join(map(_html_cell, row)) + "</tr>" for row in table.body)
    used = {cell.shade for row in table.body for cell in row}
    legend = "".join(
        f" <span{_html_style(name)}>{html.escape(table.legend[name])}</span>" for name in table.legend if name in used
    )
    caption = f"<caption>{legend.strip()}</caption>" if legend else ""
    return f"<table>{caption}\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n"


FORMATS: dict[str, Callable[[Table], str]] = {
    ".md": markdown,
    ".tex": latex,
    ".csv": comma_separated,
    ".html": html_table,
}


def write_table(table: Table, path: str | os.PathLike[str]) -> None:
    """The table as the file's suffix says: `.md`, `.tex`, `.csv` or `.html`."""
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


def _latex_cell(cell: Cell) -> str:
    text = latex_text(_minus(cell))
    if not cell.shade:
        return text
    shade = SHADES[cell.shade]
    return f"\\cellcolor[HTML]{{{shade.cell[1:]}}}\\textcolor[HTML]{{{shade.text[1:]}}}{{{text}}}"


def markdown_text(text: str) -> str:
    return MARKDOWN_SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _html_cell(cell: Cell) -> str:
    return f'<td dir="auto"{_html_style(cell.shade, right=cell.number)}>{html.escape(_minus(cell))}</td>'


def _html_style(shade: str, right: bool = False) -> str:
    """Attributes of a cell: class and style."""
    styles = ["text-align: right"] if right else []
    if shade:
        styles += [f"background-color: {SHADES[shade].cell}", f"color: {SHADES[shade].text}"]
    name = f' class="{shade}"' if shade else ""
    return name + (f' style="{"; ".join(styles)}"' if styles else "")


def _minus(cell: Cell) -> str:
    """Numbers with a true minus sign."""
    return cell.text.replace("-", "−") if cell.number else cell.text


def _numeric(table: Table) -> Sequence[bool]:
    """Which columns hold numbers alone."""
    return [all(row[i].number for row in table.body) for i in range(len(table.head))]
