"""The short report: the same content as Markdown and HTML, and nothing in it is read as markup."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from report_inputs import small

from isogloss.report.chart_images import ChartImage
from isogloss.report.page import page
from isogloss.report.sections import Section, sections_to_html, sections_to_markdown
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
    assert '<figure class="scroll" role="img" aria-label="a &quot;chart&quot; &lt;b&gt;" tabindex="0"><svg></svg>' in (
        sections_to_html("Title", [shown])
    )
    assert "svg" not in sections_to_markdown("Title", [shown])


def test_sections_stand_before_what_was_found() -> None:
    whole = page(small(), sections=[Section("Mine <1>", ("I say.",)), Section("Mine 2", ("I say more.",))])
    places = [whole.index(one) for one in ('<section id="part-1"', "I say.", '<section id="part-2"', "I say more.",
                                           '<section id="findings"')]  # fmt: skip
    assert places == sorted(places)
    assert '<li><a href="#part-1">Mine &lt;1&gt;</a></li>' in whole and "Mine <1>" not in whole
