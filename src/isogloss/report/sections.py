"""Sections of sentences, tables, charts and commands, as Markdown or as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isogloss import __version__
from isogloss.report.assets import page_style
from isogloss.report.templating import render
from isogloss.results.figures.vega import vega_converter
from isogloss.results.tables.formats import markdown, markdown_text
from isogloss.results.tables.tables import Table

if TYPE_CHECKING:
    import altair

NO_SCRIPTS = "default-src 'none'; style-src 'unsafe-inline'"  # content security policy


@dataclass(frozen=True)
class ChartImage:
    """An SVG element, inserted into the page unescaped, so it must be the rendering of a chart; `alt` describes it."""

    svg: str
    alt: str


@dataclass(frozen=True)
class Section:
    """Sentences (one paragraph each), then a chart (in HTML only), a table and shell commands, all optional."""

    title: str
    sentences: tuple[str, ...] = ()
    table: Table | None = None
    commands: tuple[str, ...] = ()
    image: ChartImage | None = None


def render_chart(chart: altair.TopLevelMixin | Mapping[str, object], alt: str) -> ChartImage:
    """The image of an Altair chart or of a Vega-Lite specification."""
    spec = chart if isinstance(chart, Mapping) else chart.to_dict()
    return ChartImage(vega_converter().vegalite_to_svg(spec), alt)


def sections_to_markdown(title: str, sections: Sequence[Section]) -> str:
    """
    >>> print(sections_to_markdown("A", [Section("B", ("C_d.",), commands=("ls",))]), end="")
    # A
    <BLANKLINE>
    ## B
    <BLANKLINE>
    C\\_d.
    <BLANKLINE>
    ```
    ls
    ```
    """
    blocks = [f"# {markdown_text(title)}"]
    for section in sections:
        blocks += [f"## {markdown_text(section.title)}", *map(markdown_text, section.sentences)]
        blocks += [markdown(section.table).strip()] if section.table else []
        blocks += ["```\n" + "\n".join(section.commands) + "\n```"] if section.commands else []
    return "\n\n".join(blocks) + "\n"


def sections_to_html(title: str, sections: Sequence[Section]) -> str:
    """A page without scripts."""
    return render(
        "sections.html", title=title, sections=sections, policy=NO_SCRIPTS, style=page_style(), version=__version__
    )
