"""The Jinja2 environment of the report: every value is escaped, and nothing in data is ever read as markup."""

from __future__ import annotations

import json
import re
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from isogloss.results.tables.tables import Table

MAX_NAME_CHARACTERS = 120
TEMPLATES = PackageLoader("isogloss.report")
# "-1.20** [-1.50, -0.90]": the interval goes on a line below; the layer in "0.69 (5)" does not
NUMBER_PARTS = re.compile(r"^([^ ]+)( \[[^\]]*\])?$")


def shorten(value: object, limit: int = MAX_NAME_CHARACTERS) -> str:
    """The text of a value, cut after `limit` characters.

    >>> shorten("layer", 3), shorten(12)
    ('lay…', '12')
    """
    text = str(value)
    return text if len(text) <= limit else text[:limit] + "…"


def isolated(value: object) -> Markup:
    """Text in a `<bdi>` element, so that right-to-left text does not reorder the text around it.

    >>> isolated("<b>")
    Markup('<bdi dir="auto">&lt;b&gt;</bdi>')
    """
    return Markup('<bdi dir="auto">{}</bdi>').format(shorten(value))


def script_json(data: object) -> Markup:
    """JSON for a `<script type="application/json">` element: no `<` is left that could end the element.

    >>> script_json("</script>")
    Markup('"\\\\u003c/script\\\\u003e"')
    """
    content = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for char in "<>&\u2028\u2029":
        content = content.replace(char, f"\\u{ord(char):04x}")
    return Markup(content)


def number_lines(text: str) -> list[str]:
    """A number with its stars, then its interval, with true minus signs.

    >>> number_lines("-1.20** [-1.50, -0.90]")
    ['−1.20**', '[−1.50, −0.90]']
    """
    match = NUMBER_PARTS.match(text)
    parts = [part.strip() for part in match.groups() if part] if match else [text]
    return [part.replace("-", "−") for part in parts]


def sort_value(text: str) -> str:
    """The number by which a cell sorts.

    >>> sort_value("-1.20** [-1.50, -0.90]")
    '-1.20'
    """
    return text.partition(" ")[0].rstrip("*")


def number_columns(table: Table) -> list[bool]:
    """For each column, whether it contains numbers."""
    return [any(row[column].number for row in table.body) for column in range(len(table.head))]


def add_filters(environment: Environment) -> None:
    """The filters of the shared templates, for the environments of the report and of the explorer."""
    environment.undefined = StrictUndefined
    environment.filters.update(
        isolated=isolated, shorten=shorten, script_json=script_json, number_lines=number_lines, sort_value=sort_value,
        number_columns=number_columns,
    )  # fmt: skip


@cache
def environment() -> Environment:
    created = Environment(loader=TEMPLATES, autoescape=True)
    add_filters(created)
    return created


def render(template: str, **values: object) -> str:
    return environment().get_template(template).render(values)
