"""Scripts and styles: those of the report, and what the explorer adds. Their URLs contain a version."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from importlib.resources import files

from flask import Response, abort, url_for

from isogloss.core.hashing import hash_bytes
from isogloss.report.assets import page_script, page_style

CACHE_FOREVER = {"Cache-Control": "private, max-age=31536000, immutable"}


def _static(name: str) -> str:
    return (files("isogloss.explorer") / "static" / name).read_text(encoding="utf-8")


def _bundle_vega() -> str:
    """Bundled in a separate process: it takes seconds during which this one could not answer requests."""
    code = "import sys; from isogloss.report.assets import vega_script; sys.stdout.buffer.write(vega_script().encode())"
    command = [sys.executable, "-c", code]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()


ASSETS: dict[str, Callable[[], str]] = {
    "vega.js": _bundle_vega,
    "page.js": page_script,
    "explorer.js": lambda: _static("explorer.js"),
    "page.css": page_style,
    "explorer.css": lambda: _static("explorer.css"),
}
_LOCKS = {name: threading.Lock() for name in ASSETS}
_read = cache(lambda name: ASSETS[name]().encode())


def _content(name: str) -> bytes:
    with _LOCKS[name]:  # so that Vega is bundled once
        content: bytes = _read(name)
        return content


@cache
def _version(name: str) -> str:
    """A hash of the content; for Vega the version of its package, so that pages need not wait for the bundle."""
    return version("vl-convert-python") if name == "vega.js" else hash_bytes(_content(name), size=8).hex()


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
