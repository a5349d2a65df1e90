"""The Flask application: each route and the view that answers it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from urllib.parse import urlencode

from flask import Flask, Response, request
from jinja2 import BaseLoader, ChoiceLoader
from werkzeug.exceptions import HTTPException

from isogloss import __version__
from isogloss.core.errors import IsoglossError, UnknownName
from isogloss.explorer.assets import asset, asset_url
from isogloss.explorer.request_guard import guard
from isogloss.explorer.store_index import StoreIndex
from isogloss.explorer.views import Views, render_page
from isogloss.report.templating import TEMPLATES, add_filters
from isogloss.results.tables.points import points, signed_points


def create_app(folder: str | os.PathLike[str], host: str = "127.0.0.1") -> Flask:
    """The application for a store; `host` is the address it will listen on."""
    index = StoreIndex(folder)
    index.now()
    app = Flask("isogloss.explorer", static_folder=None)
    _configure_templates(app, index.store.folder)
    for path, view in _routes(Views(index)).items():
        app.add_url_rule(path, view.__name__, view, methods=["GET"])
    app.register_error_handler(IsoglossError, _usage_error)
    app.register_error_handler(HTTPException, _http_error)
    guard(app, host)
    return app


def _routes(views: Views) -> dict[str, Callable[..., Response]]:
    return {
        "/": views.studies,
        "/study": views.study,
        "/scores": views.scores,
        "/run": views.run,
        "/compare": views.compare,
        "/sentences": views.sentences,
        "/progress": views.progress,
        "/chart-data": views.chart_data,
        "/test": views.test,
        "/marks": views.marks,
        "/download/<table>.<suffix>": views.download,
        "/assets/<name>": asset,
    }


def _configure_templates(app: Flask, store: Path) -> None:
    """The explorer's templates and the report's, compiled at start so that no request waits for it."""
    loaders: list[BaseLoader] = [app.jinja_loader] if app.jinja_loader else []
    app.jinja_loader = ChoiceLoader([*loaders, TEMPLATES])
    environment = app.jinja_env
    add_filters(environment)
    two_decimals = {"points": partial(points, decimals=2), "signed": partial(signed_points, decimals=2)}
    environment.filters.update(two_decimals, date=_date)
    environment.globals.update(version=__version__, store=_store_name(store), asset=asset_url, same_page=_same_page)
    for name in environment.list_templates(extensions=["html"]):
        environment.get_template(name)


def _store_name(folder: Path) -> str:
    """The last two parts of a store's path: the last one is often just "store".

    >>> _store_name(Path("/home/me/demo/store"))
    'demo/store'
    """
    return "/".join(folder.parts[-2:]).lstrip("/")


def _date(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def _same_page(**arguments: object) -> str:
    """The URL of this page with other query arguments: a list, a text, or None to remove one."""
    merged: dict[str, object] = {**request.args.to_dict(flat=False), **arguments}
    query = urlencode({name: value for name, value in merged.items() if value is not None}, doseq=True)
    return f"{request.path}?{query}"


def _usage_error(error: IsoglossError) -> tuple[Response, int]:
    return render_page("error.html", message=str(error)), 404 if isinstance(error, UnknownName) else 400


def _http_error(error: HTTPException) -> tuple[Response, int]:
    return render_page("error.html", message=error.description or error.name), error.code or 500
