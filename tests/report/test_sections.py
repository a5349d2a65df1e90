"""The short report: the same content as Markdown and HTML, and nothing in it is read as markup."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st
from report_inputs import small

from isogloss.report.page import page
from isogloss.report.sections import ChartImage, Section, sections_to_html, sections_to_markdown
from isogloss.report.templating import environment
from isogloss.results.tables.cell_colours import SHADES, legend
from isogloss.results.tables.tables import Cell, Table

TABLE = Table(("system", "test"), ((Cell("a|b"), Cell("-1.5", True)),))


def test_sections_in_order() -> None:
    parts = [Section("One", ("First.", "Second.")), Section("Two", table=TABLE, commands=("isogloss ls",))]
    told = sections_to_markdown("Title", parts)
    assert told.index("First.") < told.index("Second.") < told.index("## Two") < told.index("| a\\|b | −1.5 |")
    page = sections_to_html("Title", parts)
    assert "<h1><bdi" in page and "<td" in page and "<pre>isogloss ls</pre>" in page


@given(st.text(st.sampled_from("<>&\"'`*_[]#|a \u202e"), max_size=30))
def test_text_stays_text(text: str) -> None:
    page = sections_to_html(text, [Section(text, (text,), Table((text,), ((Cell(text),),)), (text,))])
    plain = sections_to_html("", [Section("", ("",), Table(("",), ((Cell(""),),)), ("",))])
    assert page.count("<") == plain.count("<")
    assert "<script" not in page


def test_a_picture_says_what_it_shows() -> None:
    shown = Section("One", image=ChartImage("<svg></svg>", 'a "chart" <b>'))
    assert '<figure class="scroll" role="img" aria-label="a &#34;chart&#34; &lt;b&gt;" tabindex="0"><svg></svg>' in (
        sections_to_html("Title", [shown])
    )
    assert "svg" not in sections_to_markdown("Title", [shown])


def test_sections_stand_before_what_was_found() -> None:
    whole = page(small(), sections=[Section("Mine <1>", ("I say.",)), Section("Mine 2", ("I say more.",))])
    places = [whole.index(one) for one in ('<section id="part-1"', "I say.", '<section id="part-2"', "I say more.",
                                           '<section id="findings"')]  # fmt: skip
    assert places == sorted(places)
    assert '<li><a href="#part-1">Mine &lt;1&gt;</a></li>' in whole and "Mine <1>" not in whole


COLOURED = Table(
    ("source-target", "REF", "Δ 1-2"),
    ((Cell("EN-X"), Cell("53.23", True), Cell("-15.77*** (-15.70)", True, "farthest-below")),),
    legend(),
)


class Cells(HTMLParser):
    """The tags of a page, and the text of its cells."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.cells: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in {"td", "th"}:
            self.cells.append("")

    def handle_data(self, data: str) -> None:
        if self.cells and self.tags[-1][0] in {"td", "th"}:
            self.cells[-1] += data


def html_table(table: Table) -> str:
    macros = environment().get_template("macros.html").module
    return str(macros.plain_table(table))  # type: ignore[attr-defined]


def test_tables_have_colour_classes_and_a_legend() -> None:
    page = html_table(COLOURED)
    found = Cells(page)
    classes = [attributes["class"] for tag, attributes in found.tags if tag == "td"]
    assert classes == ["", "number ", "number farthest-below"]
    assert f".farthest-below {{ background: {SHADES['farthest-below'].cell};" in sections_to_html("", [])
    assert "≤ −5 points" in page and "≤ −2 points" not in page  # the legend of what is there
    assert "−15.77*** (−15.70)" in page


@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1))
def test_text_of_cells_stays_text(text: str) -> None:
    found = Cells(html_table(Table((text, "b"), ((Cell(text), Cell("1", True)),))))
    assert [tag for tag, _ in found.tags] == ["table", "thead", "tr", "th", "th", "tbody", "tr", "td", "td"]
    assert found.cells[0].strip() == text and found.cells[2].strip() == text
