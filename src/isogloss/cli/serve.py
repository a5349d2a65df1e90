"""`isogloss serve STORE`: a local web page for the studies of a store."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from isogloss.cli.screen import out, print_note
from isogloss.core.errors import InputError, MissingExtra


def serve(
    store: Annotated[Path, Argument(help="Folder of the store.")],
    host: Annotated[
        str, Option(help="Address to listen on; any other than loopback makes the store readable for others.")
    ] = ("127.0.0.1"),
    port: Annotated[int, Option(min=0, max=65535, help="Port to listen on; 0 chooses a free one.")] = 8765,
    open_browser: Annotated[bool, Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Show a store in the browser: studies, live progress, comparisons, sentences and trees. Read-only."""
    try:
        import vl_convert  # noqa: F401  charts need it
        from werkzeug.serving import make_server

        from isogloss.explorer.app import create_app
        from isogloss.explorer.assets import bundle_in_background
        from isogloss.explorer.request_guard import is_loopback
    except ImportError as error:
        raise MissingExtra(error.name or "flask", "serve") from None

    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # no line for every request
    app = create_app(store, host)
    bundle_in_background()
    try:
        server = make_server(host, port, app, threaded=True)
    except (OSError, SystemExit) as error:
        raise InputError(
            f"{host}:{port}", "a free address to listen on", str(error), advice="give another --port"
        ) from None
    shown = f"http://{f'[{host}]' if ':' in host else host}:{server.server_port}/"
    if not is_loopback(host):
        print_note(f"everyone who can reach {host} can read this store; there is no password")
    out.print(f"{store}: {shown} (stop with Ctrl-C)", soft_wrap=True, markup=False)
    if open_browser:
        typer.launch(shown)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        out.print("stopped")
    finally:
        server.server_close()
