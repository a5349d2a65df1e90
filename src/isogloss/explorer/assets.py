"""Scripts and styles: those of the report, and what the explorer adds. Their URLs contain a version."""

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

from isogloss.report.assets import page_script, page_style

CACHE_FOREVER = {"Cache-Control": "private, max-age=31536000, immutable"}
_VEGA_LOCK = threading.Lock()


def _static(name: str) -> str:
    return (files("isogloss.explorer") / "static" / name).read_text(encoding="utf-8")


ASSETS: dict[str, Callable[[], str]] = {
    "vega.js": lambda: _vega(),
    "page.js": page_script,
    "explorer.js": lambda: _static("explorer.js"),
    "page.css": page_style,
    "explorer.css": lambda: _static("explorer.css"),
}


def _vega() -> str:
    with _VEGA_LOCK:
        return _bundle_vega()


@cache
def _bundle_vega() -> str:
    """Bundled in a separate process: it takes seconds during which this one could not answer requests."""
    code = "import sys; from isogloss.report.assets import vega_script; sys.stdout.buffer.write(vega_script().encode())"
    command = [sys.executable, "-c", code]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()


@cache
def _content(name: str) -> bytes:
    return ASSETS[name]().encode()


@cache
def _version(name: str) -> str:
    """A hash of the content; for Vega the version of its package, so that pages need not wait for the bundle."""
    return version("vl-convert-python") if name == "vega.js" else hashlib.sha256(_content(name)).hexdigest()[:16]


def asset_url(name: str) -> str:
    return url_for("asset", name=name, v=_version(name))


def bundle_in_background() -> None:
    """Start bundling Vega, so that the first chart need not wait for it."""
    threading.Thread(target=_content, args=["vega.js"], daemon=True).start()


def asset(name: str) -> Response:
    if name not in ASSETS:
        abort(404)
    kind = "text/css" if name.endswith(".css") else "text/javascript"
    return Response(_content(name), content_type=f"{kind}; charset=utf-8", headers=CACHE_FOREVER)
