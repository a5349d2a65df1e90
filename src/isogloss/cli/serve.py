"""`isogloss serve STORE`: a local web page over the studies of a store."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli.screen import out, print_note
from isogloss.core.errors import InputError, MissingExtra


def serve(
    store: Annotated[Path, typer.Argument(help="The store's folder.")],
    host: Annotated[str, typer.Option(help="Where to listen; another than loopback shows the store to others.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any that is free.")] = 8765,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Show a store in the browser: studies, live progress, comparisons, sentences and trees. It only reads."""
    try:
        import vl_convert  # noqa: F401  charts need it
        from werkzeug.serving import make_server

        from isogloss.explorer.app import create_app
        from isogloss.explorer.assets import bundle_in_background
        from isogloss.explorer.request_guard import is_loopback
    except ImportError as error:
        raise MissingExtra(error.name or "flask", "serve") from None

    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # a line for every request is of no use here
    app = create_app(store, host)
    bundle_in_background()
    try:
        server = make_server(host, port, app, threaded=True)
    except (OSError, SystemExit) as error:
        raise InputError(
            f"{host}:{port}", "an address to listen at", str(error), advice="name another --port"
        ) from None
    shown = f"http://{f'[{host}]' if ':' in host else host}:{server.server_port}/"
    if not is_loopback(host):
        print_note(f"whoever can reach {host} can read this store; there is no password")
    out.print(f"{store}: {shown} (Ctrl-C ends it)", soft_wrap=True, markup=False)
    if open_browser:
        typer.launch(shown)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        out.print("ended")
    finally:
        server.server_close()
