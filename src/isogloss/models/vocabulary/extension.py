"""Vocabulary extension: new sub-words for a language that the tokenizer splits into many pieces.

New pieces are learned from text (`merges.py`) and added to the tokenizer (`tokenizers.py`), and the model gets a vector
for each (`embeddings.py`). Language-model training should follow: the new vectors are only an initialisation.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import torch
from transformers import PreTrainedTokenizerBase

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name
from isogloss.core.seeds import derive_seed
from isogloss.corpora.kinds.lexicon import Entry, translations
from isogloss.models.loading.language_model_head import with_lm_head
from isogloss.models.loading.load import load_model
from isogloss.models.loading.loaded_model import LoadedModel, clone
from isogloss.models.vocabulary.embeddings import lexicon_sources, resize_embeddings, set_rows, token_tables
from isogloss.models.vocabulary.tokenizers import ExtendedTokenizer, extend_tokenizer

INITIAL = ("mean", "random", "lexicon")
Initial = Literal["mean", "random", "lexicon"]


@dataclass(frozen=True)
class ExtensionStatistics:
    """The new pieces and their effect on the text, whose words are separated by spaces."""

    pieces: tuple[str, ...]
    subwords_before: float  # per word
    unknown_before: float  # share of tokens
    subwords_after: float
    unknown_after: float


def extend_vocabulary(
    model: LoadedModel | str | os.PathLike[str],
    text: Iterable[str],
    size: int,
    *,
    initial: Initial = "mean",
    lexicon: Iterable[Entry] | None = None,
    seed: int = 0,
) -> LoadedModel:
    """A copy of the model with new sub-words for a language.

    If the model was loaded without its language-model head, the head is read from its files if possible, so that the
    model can be adapted.

    Args:
        model: The model, which does not change.
        text: Lines of text in the language.
        size: The maximum number of new sub-words.
        initial: The initial vector of a sub-word: "mean" of the old pieces it consists of (random if there are none,
            such as for a new character), "random", or "lexicon" (the mean of the pieces of the translations of the
            words it occurs in).
        lexicon: A lexicon whose target language is that of the text, for `initial="lexicon"`.
        seed: The seed of random vectors.
    """
    check_name(initial, INITIAL, "initial vector")
    if (initial == "lexicon") != (lexicon is not None):
        raise UsageError("initial='lexicon' and lexicon= must be passed together")
    if not isinstance(size, int) or size < 1:
        raise UsageError(f"size: expected a whole number of new sub-words above 0, got {size!r}")
    if isinstance(text, str):
        raise UsageError("expected lines of text, got one string; put it in a list")
    lines = list(text)
    changed = _copy_with_head(model)
    extended = extend_tokenizer(changed.tokenizer, lines, size)
    rows = len(changed.body.get_input_embeddings().get_parameter("weight"))
    last = extended.first + len(extended.parts)
    if last > rows:
        resize_embeddings(changed.network, last)
    sources = _sources(extended, changed.tokenizer, initial, lexicon)
    generator = torch.Generator().manual_seed(derive_seed(seed, "vocabulary"))
    for table in token_tables(changed.network):
        random = torch.randn(len(sources), table.shape[1] if table.ndim > 1 else 1, generator=generator)
        set_rows(table.data, extended.first, min(rows, extended.first), sources, random)
    return replace(changed, tokenizer=extended.tokenizer)


def extension_statistics(before: LoadedModel, after: LoadedModel, lines: Sequence[str]) -> ExtensionStatistics:
    """The effect of `extend_vocabulary` on lines of text."""
    last, ids = max(before.tokenizer.get_vocab().values()), after.tokenizer.get_vocab()
    pieces = sorted((piece for piece in ids if ids[piece] > last), key=ids.__getitem__)
    return ExtensionStatistics(tuple(pieces), *_figures(before.tokenizer, lines), *_figures(after.tokenizer, lines))


def _sources(
    extended: ExtendedTokenizer, old: PreTrainedTokenizerBase, initial: Initial, lexicon: Iterable[Entry] | None
) -> Sequence[Sequence[int]]:
    """The ids of the old pieces whose vectors initialise each new vector."""
    if initial == "random":
        return [()] * len(extended.parts)
    numbers = old.get_vocab()
    new = {extended.first + i: [numbers[part] for part in parts] for i, parts in enumerate(extended.parts.values())}
    if lexicon is None:
        return list(new.values())
    backwards = translations(Entry(target, source) for source, target in lexicon)
    return lexicon_sources(extended.tokenizer, new, backwards, extended.first)


def _copy_with_head(model: LoadedModel | str | os.PathLike[str]) -> LoadedModel:
    """A copy of the model, with its language-model head if it has one."""
    loaded = model if isinstance(model, LoadedModel) else load_model(model)
    try:
        return replace(with_lm_head(loaded), pooler=loaded.pooler)
    except UsageError:
        return clone(loaded)


def _figures(tokenizer: PreTrainedTokenizerBase, lines: Sequence[str]) -> tuple[float, float]:
    """Tokens per word, and the share of unknown tokens."""
    ids = [token for line in tokenizer(lines, add_special_tokens=False)["input_ids"] for token in line]
    words = sum(len(line.split()) for line in lines)
    unknown = sum(token == tokenizer.unk_token_id for token in ids)
    return len(ids) / max(1, words), unknown / max(1, len(ids))
