"""Scripts and styles: the report's own, and the little that the explorer adds. Their addresses change as they do."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from importlib.resources import files

from flask import Response, abort, url_for

from isogloss.report.page import page_script, resource
from isogloss.report.templating import shade_rules


def _own(name: str) -> str:
    return (files("isogloss.explorer") / "static" / name).read_text(encoding="utf-8")


ASSETS: dict[str, Callable[[], str]] = {
    "vega.js": lambda: _vega(),
    "page.js": page_script,
    "explorer.js": lambda: _own("explorer.js"),
    "page.css": lambda: resource("page.css") + shade_rules(),
    "explorer.css": lambda: _own("explorer.css"),
}


_ONE_AT_A_TIME = threading.Lock()


def _vega() -> str:
    with _ONE_AT_A_TIME:
        return _made_vega()


@cache
def _made_vega() -> str:
    """By a process of its own: it takes seconds, in which this one would answer nobody."""
    code = "import sys; from isogloss.report.page import vega; sys.stdout.buffer.write(vega().encode())"
    made = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return made.stdout.decode()


@cache
def _content(name: str) -> bytes:
    return ASSETS[name]().encode()


@cache
def _version(name: str) -> str:
    """Of Vega the number of what it comes with: a page need not wait until it is put together."""
    return version("vl-convert-python") if name == "vega.js" else hashlib.sha256(_content(name)).hexdigest()[:16]


def asset_address(name: str) -> str:
    return url_for("asset", name=name, v=_version(name))


def prepare() -> None:
    """Put Vega together meanwhile, so that the first chart need not wait for it."""
    threading.Thread(target=_content, args=["vega.js"], daemon=True).start()


def asset(name: str) -> Response:
    if name not in ASSETS:
        abort(404)
    kind = "text/css" if name.endswith(".css") else "text/javascript"
    kept = {"Cache-Control": "private, max-age=31536000, immutable"}
    return Response(_content(name), content_type=f"{kind}; charset=utf-8", headers=kept)
