"""Scripts and styles of the report, and the content security policy that allows these scripts only."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from isogloss.core.hashing import sha256
from isogloss.results.figures.vega import vega_converter
from isogloss.results.tables.cell_colours import SHADES


def page_style() -> str:
    """The style sheet, with the colours of table cells."""
    colours = (f".{name} {{ background: {shade.cell}; color: {shade.text}; }}" for name, shade in SHADES.items())
    return _read("page.css") + "\n".join(colours)


def page_script() -> str:
    """Sortable tables, charts, examples and dependency trees."""
    return _read("tree.js") + _read("page.js")


@cache
def vega_script() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script that sets `vegaEmbed`."""
    bundle = vega_converter().javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return bundle.replace("</script", "<\\/script")


def content_policy(scripts: Iterable[str]) -> str:
    """A content security policy that runs these inline scripts, identified by their hashes, and sends no requests."""
    allowed = " ".join(f"'sha256-{base64.b64encode(sha256(script.encode())).decode()}'" for script in scripts)
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:"


def _read(name: str) -> str:
    return files("isogloss.report").joinpath(name).read_text(encoding="utf-8")
