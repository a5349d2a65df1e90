from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.core.errors import UsageError
from isogloss.results.tables.cell_colours import legend
from isogloss.results.tables.formats import LATEX_SPECIAL, comma_separated, latex, latex_text, markdown, write_table
from isogloss.results.tables.tables import Cell, Table

TABLE = Table(
    ("source-target", "REF", "Δ 1-2"),
    (
        (Cell("EN-EN"), Cell("88.98", True), Cell("-0.96", True, "below")),
        (Cell("EN-X"), Cell("53.23", True), Cell("-15.77*** (-15.70)", True, "farthest-below")),
    ),
    legend(),
)
printable = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1)


def one_cell(text: str) -> Table:
    return Table((text, "b"), ((Cell(text), Cell("1", True)),))


def test_markdown() -> None:
    assert markdown(TABLE) == (
        "| source-target | REF | Δ 1-2 |\n"
        "|:---|---:|---:|\n"
        "| EN-EN | 88.98 | −0.96 |\n"
        "| EN-X | 53.23 | −15.77\\*\\*\\* (−15.70) |\n"
    )


def test_latex() -> None:
    assert latex(TABLE) == (
        "\\begin{tabular}{lrr}\n\\toprule\nsource-target & REF & $\\Delta$ 1-2 \\\\\n\\midrule\n"
        "EN-EN & 88.98 & \\cellcolor[HTML]{FFF6E0}\\textcolor[HTML]{000000}{$-$0.96} \\\\\n"
        "EN-X & 53.23 & \\cellcolor[HTML]{A63603}\\textcolor[HTML]{FFFFFF}{$-$15.77*** ($-$15.70)} \\\\\n"
        "\\bottomrule\n\\end{tabular}\n"
    )
    whole = latex(TABLE, caption="Table 1 & more", label="tab:one").splitlines()
    assert whole[:2] == [r"\begin{table}", r"\centering"]
    assert whole[-3:] == [r"\caption{Table 1 \& more}", r"\label{tab:one}", r"\end{table}"]


def test_csv_reads_back() -> None:
    rows = list(csv.reader(io.StringIO(comma_separated(TABLE))))
    assert rows == [list(TABLE.head), *([cell.text for cell in row] for row in TABLE.body)]


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_markdown_has_one_line_per_row_and_only_its_own_bars(text: str) -> None:
    lines = markdown(one_cell(text)).split("\n")
    assert len(lines) == 4 and lines[3] == ""
    for line in (lines[0], lines[2]):
        assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 3


@given(printable)
def test_latex_text_can_be_read_back(text: str) -> None:
    """Commands and escapes undone by hand; nothing special may be left over."""
    escaped = latex_text(text)
    pattern = "|".join(sorted(map(re.escape, LATEX_SPECIAL.values()), key=len, reverse=True))
    assert not re.search(r"[\\{}$&#%_^~]", re.sub(pattern, "", escaped))
    backwards = {value: key for key, value in LATEX_SPECIAL.items()}
    assert re.sub(pattern, lambda match: backwards[match[0]], escaped) == text


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_csv_keeps_any_text(text: str) -> None:
    (head, row) = csv.reader(io.StringIO(comma_separated(one_cell(text)), newline=""))
    assert (head[0], row[0]) == (text, text)


@pytest.mark.parametrize("suffix", [".md", ".tex", ".csv"])
def test_the_suffix_chooses_the_format(tmp_path: Path, suffix: str) -> None:
    write_table(TABLE, tmp_path / f"table{suffix}")
    assert "53.23" in (tmp_path / f"table{suffix}").read_text(encoding="utf-8")


def test_other_suffixes_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"expected one of \.md, \.tex, \.csv, got '\.doc'"):
        write_table(TABLE, tmp_path / "table.doc")
