"""Aligned sentence pairs as examples of adjustment: tokens, the words they belong to, and the pairs of words.

The *units* of a sentence have one vector each: its words, and its first and last special token. An example has two
windows (source, target); its arrays give the unit of each token, the pairs of units, and which source units are
regularised (kept close to the original model).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from isogloss.core.errors import UsageError
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.kinds.bitext import AlignedPair
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.encoding import SPECIAL_TOKEN, Encoded, encode_pieces, encode_words
from isogloss.tasks.examples import IGNORE_INDEX, Example
from isogloss.text.alignment.link_filters import filter_links
from isogloss.training.adjustment.settings import PairedTokens, PairOptions

# name → whether words, the first special token and the last one are paired
TOKEN_CHOICES: dict[PairedTokens, tuple[bool, bool, bool]] = {
    "words+specials": (True, True, True),
    "words": (True, False, False),
    "cls": (False, True, False),
    "cls+sep": (False, True, True),
    "all": (True, True, True),  # what the paper's Table 7 calls words with special tokens
}
PIECES = "pieces"


def encode_pairs(
    model: LoadedModel, bitexts: Sequence[Corpus[AlignedPair]], options: PairOptions
) -> tuple[Example, ...]:
    """An example for each sentence pair with at least one pair of units, of all bitexts in order."""
    _check_inputs(model, bitexts, options)
    examples: list[Example] = []
    for number, bitext in enumerate(bitexts):
        pairs = filter_links(
            bitext, one_to_one=options.one_to_one, drop_identical=options.drop_identical, max_words=options.max_words
        )
        encode = encode_pieces if options.words == PIECES else encode_words
        sources, targets = [pair.source for pair in pairs], [pair.target for pair in pairs]
        encoded = zip(pairs, encode(model, sources), encode(model, targets), strict=True)
        candidates = (_example(model, (source, target), pair, number, options) for pair, source, target in encoded)
        examples += [example for example in candidates if example]
    if not examples:
        raise UsageError("nothing to adjust on: no sentence pair has a sure link that takes part")
    return tuple(examples)


@dataclass(frozen=True)
class _Units:
    """The units of one sentence: of each token, of its words, of its first and of its last special token."""

    of_token: npt.NDArray[np.int64]
    words: dict[int, int]
    cls: int | None
    sep: int | None

    @classmethod
    def of(cls, model: LoadedModel, text: Encoded, options: PairOptions) -> _Units:
        tokens = np.flatnonzero(text.word != SPECIAL_TOKEN)
        numbers, first, place, counts = np.unique(
            text.word[tokens], return_index=True, return_inverse=True, return_counts=True
        )
        of_token = np.full(len(text), IGNORE_INDEX, dtype=np.int64)
        if options.words in ("mean", PIECES):
            of_token[tokens] = place
        else:
            chosen = first if options.words == "first" else first + counts - 1
            of_token[tokens[chosen]] = np.arange(len(numbers))
        units = len(numbers)
        start, end = (units if model.prefix else None), (units + bool(model.prefix) if model.suffix else None)
        if start is not None:
            of_token[0] = start
        if end is not None:
            of_token[-1] = end
        return cls(of_token, dict(zip(numbers.tolist(), range(units), strict=True)), start, end)


def _example(
    model: LoadedModel, texts: tuple[Encoded, Encoded], pair: AlignedPair, bitext: int, options: PairOptions
) -> Example | None:
    """None if the sentence pair has no pair of units."""
    source, target = (_Units.of(model, text, options) for text in texts)
    pairs = _pairs(source, target, dict.fromkeys(pair.alignment.sure), options)
    if not pairs:
        return None
    _, cls, sep = TOKEN_CHOICES[options.tokens]
    released = options.regularise == "all"
    regularised = [1] * len(source.words)
    regularised += [] if source.cls is None else [int(cls or released)]
    regularised += [] if source.sep is None else [int(sep or released)]
    arrays = {
        "source_unit": source.of_token,
        "target_unit": target.of_token,
        "pair_source": np.array([s for s, _ in pairs]),
        "pair_target": np.array([t for _, t in pairs]),
        "regularised": np.array(regularised),  # by source unit
        "bitext": np.array([bitext]),
    }
    return Example((texts[0].ids, texts[1].ids), arrays=arrays)


def _pairs(
    source: _Units, target: _Units, links: Iterable[tuple[int, int]], options: PairOptions
) -> list[tuple[int, int]]:
    """Pairs of units; empty if words are paired and there are none."""
    words, cls, sep = TOKEN_CHOICES[options.tokens]
    pairs = [(source.words[s], target.words[t]) for s, t in links if s in source.words and t in target.words]
    if words and not pairs:
        return []
    pairs = pairs if words else []
    pairs += [(source.cls, target.cls)] if cls and source.cls is not None and target.cls is not None else []
    pairs += [(source.sep, target.sep)] if sep and source.sep is not None and target.sep is not None else []
    return pairs


def _check_inputs(model: LoadedModel, bitexts: Sequence[Corpus[AlignedPair]], options: PairOptions) -> None:
    """Raise an error if there is no bitext, or if the model lacks layers or special tokens."""
    if not bitexts:
        raise UsageError("nothing to adjust on: no bitext")
    for bitext in bitexts:
        if not isinstance(bitext, Corpus) or bitext.format.kind != "bitext":
            got = bitext.format.kind if isinstance(bitext, Corpus) else type(bitext).__name__
            raise UsageError(f"bitext: expected word-aligned sentence pairs (read_bitext), got {got}")
    if not model.family.blocks:
        raise UsageError(f"'{model.name}' has no pretrained layers to adjust")
    words, cls, sep = TOKEN_CHOICES[options.tokens]
    if not words and ((cls and not model.prefix) or (sep and not model.suffix)):
        side = "starts" if cls and not model.prefix else "ends"
        raise UsageError(f"tokens='{options.tokens}': no special token {side} the sentences of '{model.name}'")
