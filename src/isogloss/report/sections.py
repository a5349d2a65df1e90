"""A short report, as Markdown and as one HTML page that needs nothing else: sections of sentences and tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from isogloss import __version__
from isogloss.report.chart_images import ChartImage
from isogloss.report.templating import isolated, shade_rules, text
from isogloss.results.tables.formats import html_table, markdown, markdown_text
from isogloss.results.tables.tables import Table

LONGEST = 2000  # characters of a sentence


@dataclass(frozen=True)
class Section:
    """Sentences, each a paragraph, then a picture (on pages alone), a table and commands to be typed, where there are
    some."""

    title: str
    sentences: tuple[str, ...] = ()
    table: Table | None = None
    commands: tuple[str, ...] = ()
    image: ChartImage | None = None


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
    for one in sections:
        blocks += [f"## {markdown_text(one.title)}", *map(markdown_text, one.sentences)]
        blocks += [markdown(one.table).strip()] if one.table else []
        blocks += ["```\n" + "\n".join(one.commands) + "\n```"] if one.commands else []
    return "\n\n".join(blocks) + "\n"


def sections_to_html(title: str, sections: Sequence[Section]) -> str:
    """The same as a page without scripts."""
    style = files("isogloss.report").joinpath("page.css").read_text(encoding="utf-8")
    body = "\n".join(f"<section>\n<h2>{text(one.title)}</h2>\n{section_body(one)}\n</section>" for one in sections)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="generator" content="isogloss {__version__}">
<title>{text(title)} · isogloss</title>
<style>
{style}{shade_rules()}
</style>
</head>
<body>
<header><h1>{isolated(title)}</h1></header>
<main>
{body}
</main>
</body>
</html>
"""


def section_body(section: Section) -> str:
    """All of a section but its title, as HTML."""
    sentences = "\n".join(f'<p dir="auto">{text(one, LONGEST)}</p>' for one in section.sentences)
    table = f'<div class="scroll" tabindex="0">\n{html_table(section.table)}</div>' if section.table else ""
    commands = f"<pre>{text(chr(10).join(section.commands), LONGEST)}</pre>" if section.commands else ""
    drawn = section.image
    label = f'role="img" aria-label="{text(drawn.alt, LONGEST)}"' if drawn else ""
    picture = f'<figure class="scroll" {label} tabindex="0">{drawn.svg}</figure>' if drawn else ""
    return f"{sentences}\n{picture}\n{table}\n{commands}"
