"""Readability: whether a tokenizer can represent a text, as columns of result rows.

A text is unreadable for a model if too many of its tokens carry no character of the text: the unknown token, or
tokens that are a part of a character (byte pieces). Its scores and similarities are then no evidence about the
language, and no verdict rests on them.

The limits rest on measurements (docs/concepts.md, "Text that a model cannot read"). Unknown tokens: at most 0.1 % in
the languages of a model's pretraining, up to 10 % in languages of the same script, 19 % and more where letters of the
script are missing. Byte pieces: up to 59 % in scripts that a vocabulary has letters of, 81 % and more in others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import polars as pl

MAX_UNKNOWN_SHARE = 0.15  # of tokens
MAX_BYTE_PIECE_SHARE = 0.7  # of tokens
ADVICE = (
    "transliterate it (`isogloss transliterate`), extend the vocabulary and adapt the model (`isogloss extend`, "
    "`isogloss adapt`), or use another model"
)
READABILITY_COLUMNS: Mapping[str, type[pl.DataType]] = {
    **dict.fromkeys(["unknown", "byte_pieces", "characters_per_token", "bytes_per_token"], pl.Float64),
    "readable": pl.Boolean,
}


@dataclass(frozen=True)
class Readability:
    """How a tokenizer splits a text, special tokens excluded.

    `unknown`: share of tokens that are the unknown token. `byte_pieces`: share of tokens that are a part of a
    character. `readable`: whether both are within their limits; a tokenizer of single bytes has no limit on byte
    pieces.
    """

    unknown: float
    byte_pieces: float
    characters_per_token: float
    bytes_per_token: float
    readable: bool

    @property
    def problem(self) -> str:
        """Why the text is unreadable; empty if it is readable."""
        return unreadable_reason(**asdict(self))


def unreadable_reason(*, unknown: float, byte_pieces: float, readable: bool, **_: float) -> str:
    """
    >>> unreadable_reason(unknown=0.72, byte_pieces=0.0, readable=False)
    '72 % of the tokens are unknown'
    """
    if readable:
        return ""
    if unknown > MAX_UNKNOWN_SHARE:
        return f"{100 * unknown:.0f} % of the tokens are unknown"
    return f"{100 * byte_pieces:.0f} % of the tokens are parts of characters"
