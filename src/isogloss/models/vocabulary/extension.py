"""Vocabulary extension: sub-words for a language whose words a model's tokenizer cuts to pieces.

New pieces are learnt from text (`vocabulary_pieces.py`), the tokenizer takes them up (`vocabulary_tokenizers.py`), and
the model gets a vector for each. Training on the language's text should follow: the new vectors are a first guess.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name
from isogloss.core.seeds import derive_seed
from isogloss.corpora.kinds.lexicon import Entry, translations
from isogloss.models.loading.language_model_head import with_language_head
from isogloss.models.loading.load import load_model
from isogloss.models.loading.loaded_model import LoadedModel, clone
from isogloss.models.vocabulary.embeddings import lexicon_sources, resize, set_rows, token_tables
from isogloss.models.vocabulary.tokenizers import Grown, grow

INITIAL = ("mean", "random", "lexicon")
Initial = Literal["mean", "random", "lexicon"]


@dataclass(frozen=True)
class Extension:
    """What became of a vocabulary; figures are those of the text, its words being what spaces divide."""

    pieces: tuple[str, ...]
    subwords_before: float  # per word
    subwords_after: float
    unknown_before: float  # share of tokens
    unknown_after: float


def extend_vocabulary(
    model: LoadedModel | str | os.PathLike[str], text: Iterable[str], size: int, **options: Any
) -> LoadedModel:
    """The model with up to `size` new sub-words; the one handed in stays as it is. Options are those of `extension`."""
    return extension(model, text, size, **options)[0]


def extension(
    model: LoadedModel | str | os.PathLike[str],
    text: Iterable[str],
    size: int,
    *,
    initial: Initial = "mean",
    lexicon: Iterable[Entry] | None = None,
    seed: int = 0,
) -> tuple[LoadedModel, Extension]:
    """The model with up to `size` sub-words more, learnt from the text of a language, and what they change.

    `initial`: how a new vector begins: as the mean of the old pieces that the sub-word is made of (what has none, such
    as a new character, is drawn from the distribution of all), drawn at random, or, from a `lexicon` whose target
    language this is, as the mean of the pieces that translate the words it occurs in. A model that was loaded without
    its language-model head gets it back, if its files have one, so that it can be adapted.
    """
    check_name(initial, INITIAL, "initial vector")
    if (initial == "lexicon") != (lexicon is not None):
        raise UsageError("initial='lexicon' and a lexicon belong together")
    if not isinstance(size, int) or size < 1:
        raise UsageError(f"size: expected a whole number of new sub-words above 0, got {size!r}")
    if isinstance(text, str):
        raise UsageError("expected lines of text, got one string; put it in a list")
    lines = list(text)
    changed = _own(model)
    grown = grow(changed.tokenizer, lines, size)
    rows = len(changed.body.get_input_embeddings().get_parameter("weight"))
    last = grown.first + len(grown.parts)
    if last > rows:
        resize(changed.network, last)
    _set_vectors(changed, grown, min(rows, grown.first), _sources(grown, changed.tokenizer, initial, lexicon), seed)
    before, after = (_figures(tokenizer, lines) for tokenizer in (changed.tokenizer, grown.tokenizer))
    told = Extension(tuple(grown.parts), before[0], after[0], before[1], after[1])
    return replace(changed, tokenizer=grown.tokenizer), told


def _sources(grown: Grown, old: Any, initial: Initial, lexicon: Iterable[Entry] | None) -> Sequence[Sequence[int]]:
    """The ids of the old pieces from which each new vector is made."""
    if initial == "random":
        return [()] * len(grown.parts)
    numbers = old.get_vocab()
    new = {grown.first + i: [numbers[part] for part in parts] for i, parts in enumerate(grown.parts.values())}
    if lexicon is None:
        return list(new.values())
    backwards = translations(Entry(target, source) for source, target in lexicon)
    return lexicon_sources(grown.tokenizer, new, backwards, grown.first)


def _set_vectors(model: LoadedModel, grown: Grown, known: int, sources: Sequence[Sequence[int]], seed: int) -> None:
    generator = torch.Generator().manual_seed(derive_seed(seed, "vocabulary"))
    network: Any = model.network
    for table in token_tables(network):
        width = table.shape[1] if table.ndim > 1 else 1
        random = torch.randn(len(sources), width, generator=generator)
        set_rows(table.data, grown.first, known, sources, random)


def _own(model: LoadedModel | str | os.PathLike[str]) -> LoadedModel:
    """A copy, with its language-model head where there is one to be had."""
    loaded = model if isinstance(model, LoadedModel) else load_model(model)
    try:
        return replace(with_language_head(loaded), pooler=loaded.pooler)
    except UsageError:
        return clone(loaded)


def _figures(tokenizer: Any, lines: Sequence[str]) -> tuple[float, float]:
    """Tokens per word, and the share of unknown ones."""
    ids = [token for line in tokenizer(lines, add_special_tokens=False)["input_ids"] for token in line]
    words = sum(len(line.split()) for line in lines)
    unknown = sum(token == tokenizer.unk_token_id for token in ids)
    return len(ids) / max(1, words), unknown / max(1, len(ids))
