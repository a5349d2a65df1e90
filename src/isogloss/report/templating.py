"""Text into HTML and data into a script element, so that nothing in it is ever read as markup."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from typing import Any

from isogloss.results.tables.cell_colours import SHADES
from isogloss.results.tables.tables import Cell, Table

LONGEST = 120  # characters of a cell or a name
# -1.20** [-1.50, -0.90] (-1.33): interval and published value go below; the number of a layer, as in 0.69 (5), does not
PARTS = re.compile(r"^([^ ]+)( \[[^\]]*\])?( \([^).]*\.[^)]*\))?$")


def text(value: object, limit: int = LONGEST) -> str:
    """
    >>> text("<b>&")
    '&lt;b&gt;&amp;'
    """
    shown = str(value)
    return html.escape(shown if len(shown) <= limit else shown[:limit] + "…")


def isolated(value: object) -> str:
    """Text that may be written from right to left, kept apart from what stands around it."""
    return f'<bdi dir="auto">{text(value)}</bdi>'


def json_element(id: str, data: Any) -> str:
    """Data for the page's script: no `<` is left that could end the element.

    >>> json_element("x", "</script>")
    '<script type="application/json" id="x">"\\\\u003c/script\\\\u003e"</script>'
    """
    content = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for char in "<>&\u2028\u2029":
        content = content.replace(char, f"\\u{ord(char):04x}")
    return f'<script type="application/json" id="{id}">{content}</script>'


def script_hash(script: str) -> str:
    """What a content security policy calls a script that may run."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def table_html(table: Table, title: str, cells: int = 1200) -> str:
    """A table whose columns sort, in a frame that scrolls; of a long one the first rows, up to so many cells."""
    most = max(10, cells // max(1, len(table.head)))
    head = "".join(_heading(name, any(row[i].number for row in table.body)) for i, name in enumerate(table.head))
    rows = "\n".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in table.body[:most])
    more = ""
    if len(table.body) > most:
        more = f'<p class="note">The first {most} of {len(table.body):,} rows; --export writes all.</p>'
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{text(title)}">\n<table class="sortable">'
        f"\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>\n{_legend(table)}{more}"
    )


def _heading(name: str, number: bool) -> str:
    kind = ' class="number"' if number else ""
    return f'<th scope="col" aria-sort="none"{kind}><button type="button" class="sort">{isolated(name)}</button></th>'


def _cell(cell: Cell) -> str:
    if not cell.number:
        return f"<td>{isolated(cell.text)}</td>"
    shade = f" {cell.shade}" if cell.shade else ""
    parts = PARTS.match(cell.text)
    first, *small = [part.strip() for part in parts.groups() if part] if parts else [cell.text]
    shown = text(first) + "".join(f"<small>{text(one)}</small>" for one in small)
    value = first.partition(" ")[0].rstrip("*")
    return f'<td class="number{shade}" data-value="{text(value)}">{shown.replace("-", "−")}</td>'


def _legend(table: Table) -> str:
    used = {cell.shade for row in table.body for cell in row}
    shown = [f'<span class="{name}">{text(table.legend[name])}</span>' for name in table.legend if name in used]
    return f'<p class="legend">{" ".join(shown)}</p>\n' if shown else ""


def shade_rules() -> str:
    """The colours of cells as style rules."""
    return "\n".join(f".{name} {{ background: {one.cell}; color: {one.text}; }}" for name, one in SHADES.items())
