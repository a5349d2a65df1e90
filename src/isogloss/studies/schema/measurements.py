"""The measurements of a study file: similarity of sentences, and distances of words."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from isogloss.indexes import INDEXES
from isogloss.studies.schema.references import Bitexts, Parallel, Part, known_name

Positive = Annotated[int, Field(ge=1)]


class Measurement(Part):
    """`when`: before fine-tuning (after interventions), after it, or both. `changes` and `seeds`: the conditions and
    seeds that are measured; all conditions and the first seed by default."""

    when: tuple[Literal["before", "after"], ...] = ("before", "after")
    changes: tuple[str, ...] | None = None
    seeds: tuple[int, ...] | Literal["all"] | None = None


class Measure(Measurement):
    """Similarity of parallel sentences, layer by layer.

    `source` is the language that others are compared with; the run's source language by default. `bootstrap`: number
    of replicates for intervals, 0 for none. `control`: compare curves with `control_draws` untrained networks; by
    default if the model is small enough, as in `ig.similarity`. `keep_repeats`: measure sentences that repeat another
    in every language, too.
    """

    parallel: Parallel
    source: str | None = None
    indexes: tuple[str, ...] = ("cka", "anc", "matching")
    pool: Literal["mean", "cls", "last", "max"] = "mean"
    specials: bool = False
    sentences: Positive | None = None
    keep_repeats: bool = False
    bootstrap: int = Field(100, ge=0)
    control: bool | None = None
    control_draws: int = Field(5, ge=2)

    @field_validator("indexes")
    @classmethod
    def _known_indexes(cls, indexes: tuple[str, ...]) -> tuple[str, ...]:
        """Options in brackets after the name are checked when the index is used."""
        for index in indexes:
            known_name(index.partition("(")[0].strip(), INDEXES, "index")
        return indexes


class WordDistances(Measurement):
    """Distances of related and unrelated words, as in `ig.word_distances`.

    `bitext`: one or several language pairs, measured separately, of which the first `sentences` are read.
    """

    bitext: Bitexts
    sentences: Positive | None = None
    layer: int | Literal["last"] = "last"
    words: Literal["mean", "first", "last"] = "mean"
    metrics: tuple[Literal["l2", "cosine"], ...] = Field(("l2", "cosine"), min_length=1)
    top: tuple[Positive, ...] = (10, 100)
    links: Positive = 10_000
    bins: Positive = 50
    seed: int = Field(0, ge=0)
