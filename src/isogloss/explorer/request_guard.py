"""Which requests are answered, and the security headers of every response.

A page of another site can make a browser send requests to this server, and with a DNS name that points to this machine
(DNS rebinding) even read the responses. So only requests that address the server by an IP address or by its host name
are answered.
"""

from __future__ import annotations

import socket
from ipaddress import ip_address
from urllib.parse import urlsplit

from flask import Flask, Response, abort, request

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)  # Vega writes style elements
HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


def is_loopback(host: str) -> bool:
    """
    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    return host == "localhost" or (_is_address(host) and ip_address(host).is_loopback)


def names_this_server(header: str, host: str) -> bool:
    """Whether the Host header of a request names this server, which listens on `host`.

    >>> names_this_server("127.0.0.1:8000", "127.0.0.1"), names_this_server("[::1]:8000", "::1")
    (True, True)
    >>> names_this_server("evil.example:8000", "127.0.0.1"), names_this_server("10.0.0.7", "127.0.0.1")
    (False, False)
    """
    try:
        name = urlsplit(f"//{header}").hostname or ""
    except ValueError:
        return False
    if is_loopback(name) or name == host.lower():
        return True
    return not is_loopback(host) and (_is_address(name) or name == socket.gethostname().lower())


def guard(app: Flask, host: str) -> None:
    """Reject requests with another Host header, and add the headers above to every response."""

    @app.before_request
    def check_host() -> None:
        if not names_this_server(request.headers.get("Host", ""), host):
            abort(403, "this server answers only requests for its own address")

    @app.after_request
    def add_headers(response: Response) -> Response:
        response.headers.update(HEADERS)
        response.headers.setdefault("Cache-Control", "no-store")
        return response


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
