"""How the tokenizers of the models split the text of every language, and which texts they cannot read."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from isogloss.report.inputs import ReportInputs
from isogloss.results.rows.curves import TEXT_COLUMNS
from isogloss.results.rows.readability import ADVICE, READABILITY_COLUMNS, unreadable_reason
from isogloss.results.tables.tables import Cell, Table

UNREADABLE_TITLE = "Text that a model cannot read"
READABILITY_NOTE = (
    "Share of tokens that are unknown, or parts of characters (byte pieces), and characters and bytes per token. "
    "Scores and similarities of unreadable text are no evidence about a language."
)


def text_rows(inputs: ReportInputs) -> pl.DataFrame:
    """One row per model and language (or test set), unreadable text first; conditions may differ in their tokenizer."""
    scored = inputs.results.tests.select("model", "changes", pl.col("target").alias("language"), *READABILITY_COLUMNS)
    compared = inputs.results.curves.texts
    changes = pl.col("changes") if "changes" in compared.columns else pl.lit("")
    compared = compared.select("model", changes.fill_null("").alias("changes"), "language", *READABILITY_COLUMNS)
    rows = pl.concat([scored, compared], how="vertical_relaxed").filter(pl.col("unknown").is_not_null())
    shares = [*READABILITY_COLUMNS]
    rows = rows.unique(["model", "language", *shares], keep="first", maintain_order=True)
    return rows.sort("readable", "unknown", descending=[False, True], maintain_order=True)


def unreadable_texts(inputs: ReportInputs) -> pl.DataFrame:
    """The rows of `TEXT_COLUMNS` whose text is unreadable, one per model and language."""
    rows = text_rows(inputs).filter(~pl.col("readable"))
    return rows.unique(["model", "language"], keep="first", maintain_order=True).select(*TEXT_COLUMNS)


def unreadable_sentences(inputs: ReportInputs) -> Iterator[str]:
    """A sentence for each text that a model cannot read."""
    for row in unreadable_texts(inputs).iter_rows(named=True):
        reason = unreadable_reason(**{name: row[name] for name in READABILITY_COLUMNS})
        yield (
            f"{row['language']} for {row['model']}: {reason}. Its scores and similarities are no evidence about the "
            f"language and are left out of the sentences below; {ADVICE}."
        )


def readability_table(inputs: ReportInputs) -> Table | None:
    """Unknown tokens, byte pieces, characters and bytes per token; None for rows of older versions."""
    rows = text_rows(inputs)
    if rows.is_empty():
        return None
    several = [name for name in ("model", "changes") if rows[name].n_unique() > 1]
    body = [
        (
            *(Cell(row[name] or "") for name in several),
            Cell(row["language"]),
            *(Cell(f"{100 * row[name]:.1f} %", number=True) for name in ("unknown", "byte_pieces")),
            *(Cell(f"{row[name]:.2f}", number=True) for name in ("characters_per_token", "bytes_per_token")),
            Cell("yes" if row["readable"] else "no"),
        )
        for row in rows.iter_rows(named=True)
    ]
    head = ("text", "unknown tokens", "byte pieces", "characters per token", "bytes per token", "readable")
    return Table((*several, *head), tuple(body))
