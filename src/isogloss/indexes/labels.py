"""Names of indexes in titles of tables and figures."""

from __future__ import annotations

import re
from typing import Literal

Direction = Literal["forward", "backward", "both"]
DIRECTIONS: dict[Direction, str] = {
    "forward": "source → target",
    "backward": "target → source",
    "both": "mean of both directions",
}


def index_label(name: str) -> str:
    """The name of an index; sentence matching with its direction.

    >>> index_label("cka"), index_label("matching(centre)"), index_label("matching(both)")
    ('cka', 'matching(centre), source → target', 'matching(both), mean of both directions')
    """
    words = re.findall(r"\w+", name)
    if words[:1] != ["matching"]:
        return name
    direction = next((label for option, label in DIRECTIONS.items() if option in words), DIRECTIONS["forward"])
    return f"{name}, {direction}"
