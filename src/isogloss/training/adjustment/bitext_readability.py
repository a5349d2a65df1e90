"""How the tokenizer of a model splits both sides of bitexts, with a warning where the model cannot read one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from isogloss.corpora.corpus import Corpus
from isogloss.corpora.kinds.bitext import AlignedPair
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.readability import readability, warn_if_unreadable
from isogloss.results.rows.readability import Readability
from isogloss.training.language_modeling.model_files import RUN_FILE

PAIR_SEPARATOR = ">"  # of the language code of a bitext


def bitext_readability(model: LoadedModel, bitexts: Sequence[Corpus[AlignedPair]]) -> dict[str, Readability]:
    """The readability of each side of each bitext, by its languages and the side: "en>fr: fr"."""
    measured: dict[str, Readability] = {}
    for bitext in bitexts:
        languages = bitext.lang.split(PAIR_SEPARATOR) if PAIR_SEPARATOR in bitext.lang else ["source", "target"]
        sides = ([pair.source for pair in bitext], [pair.target for pair in bitext])
        for lang, sentences in zip(languages, sides, strict=True):
            text = readability(model, [" ".join(words) for words in sentences])
            warn_if_unreadable(model, text, f"{lang} ({bitext.origin})")
            if text:
                measured[f"{bitext.lang}: {lang}"] = text
    return measured


def read_bitext_readability(folder: Path) -> dict[str, Readability]:
    """The readability of the bitexts of a finished adjustment; empty for one of an older version."""
    stored = json.loads((folder / RUN_FILE).read_text(encoding="utf-8")).get("texts", {})
    return {name: Readability(**text) for name, text in stored.items()}
