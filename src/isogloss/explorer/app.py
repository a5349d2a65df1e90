"""The web application: each address, and the view that answers it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

from flask import Flask, Response, render_template, request
from jinja2 import StrictUndefined
from markupsafe import Markup
from werkzeug.exceptions import HTTPException

from isogloss import __version__
from isogloss.core.errors import IsoglossError, UnknownName
from isogloss.explorer.assets import asset, asset_address
from isogloss.explorer.request_guard import guard
from isogloss.explorer.store_index import StoreIndex
from isogloss.explorer.views import Views
from isogloss.report.templating import isolated, text
from isogloss.results.tables.tables import POINTS_PER_UNIT


def create_app(folder: str | os.PathLike[str], host: str = "127.0.0.1") -> Flask:
    """The application over a store; `host` is where it will listen."""
    index = StoreIndex(folder)
    index.now()
    views = Views(index)
    app = Flask("isogloss.explorer", static_folder=None)
    app.jinja_env.undefined = StrictUndefined
    app.jinja_env.filters.update(isolated=_isolated, long=_long, points=points, signed=signed, when=_when)
    app.jinja_env.globals.update(
        version=__version__, store=_called(index.store.folder), asset=asset_address, again=again
    )
    routes: dict[str, Callable[..., Response]] = {
        "/": views.studies,
        "/study": views.study,
        "/scores": views.scores,
        "/run": views.run,
        "/compare": views.compare,
        "/sentences": views.sentences,
        "/now": views.now,
        "/chart-data": views.chart_data,
        "/test": views.test,
        "/download/<what>.<form>": views.download,
        "/assets/<name>": asset,
    }
    for name in app.jinja_env.list_templates():
        app.jinja_env.get_template(name)  # read now, so that no view waits for it
    for path, view in routes.items():
        app.add_url_rule(path, view.__name__, view, methods=["GET"])
    app.register_error_handler(IsoglossError, _explained)
    app.register_error_handler(HTTPException, _refused)
    guard(app, host)
    return app


def _called(folder: Path) -> str:
    """A store by the last two parts of its path: the last alone is often just "store".

    >>> _called(Path("/home/me/demo/store"))
    'demo/store'
    """
    return "/".join(folder.parts[-2:]).lstrip("/")


def points(value: float | None) -> str:
    """A score in hundredths.

    >>> points(0.98765), points(None)
    ('98.77', '')
    """
    return "" if value is None else f"{round(value * POINTS_PER_UNIT, 2) + 0.0:.2f}".replace("-", "−")


def signed(value: float | None) -> str:
    """
    >>> signed(0.05), signed(-0.01234)
    ('+5.00', '−1.23')
    """
    return "" if value is None else ("+" if round(value * POINTS_PER_UNIT, 2) > 0 else "") + points(value)


def again(**changes: object) -> str:
    """This page with other choices: a list, a text, or None to leave one out."""
    chosen: dict[str, object] = {**request.args.to_dict(flat=False), **changes}
    return (
        f"{request.path}?{urlencode({name: value for name, value in chosen.items() if value is not None}, doseq=True)}"
    )


def _isolated(value: object) -> Markup:
    return Markup(isolated(value))


def _long(value: object, limit: int = 5000) -> Markup:
    return Markup(text(value, limit))


def _when(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def _explained(error: IsoglossError) -> tuple[Response, int]:
    return _told(str(error)), 404 if isinstance(error, UnknownName) else 400


def _refused(error: HTTPException) -> tuple[Response, int]:
    return _told(error.description or error.name), error.code or 500


def _told(message: str) -> Response:
    page = render_template("error.html", message=message)
    return Response(page.encode("utf-8", "replace"), mimetype="text/html")
