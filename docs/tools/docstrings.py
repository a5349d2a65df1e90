"""Griffe extension: fence doctests, because Markdown reads a bare `>>>` as nested quotations."""

from __future__ import annotations

import griffe


class FencedDoctests(griffe.Extension):
    """Put every doctest of a docstring between fences before it is rendered."""

    def on_instance(self, *, obj: griffe.Object, **_: object) -> None:
        if obj.docstring:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(text: str) -> str:
    """
    >>> fenced("One more.\\n>>> 1 + 1\\n2").splitlines()
    ['One more.', '', '```pycon', '>>> 1 + 1', '2', '```']
    """
    lines: list[str] = []
    inside = False
    for line in [*text.splitlines(), ""]:
        if not inside and line.startswith(">>>"):
            lines += ["", "```pycon"]
            inside = True
        elif inside and not line.strip():
            lines.append("```")
            inside = False
        lines.append(line)
    return "\n".join(lines).strip()
