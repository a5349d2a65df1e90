"""`ig.align`: the word links of parallel text, by a model's own vectors, by eflomal, or from files of any tool."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from isogloss.analysis.embedding_alignment import ITERMAX, PIECE_UNIT, default_layer, embedding_links
from isogloss.core.errors import UsageError
from isogloss.core.files import Repairs
from isogloss.core.registry import check_name
from isogloss.corpora.bitext_files import join_links
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.formats.aligned_jsonl import FORMAT
from isogloss.corpora.kinds.alignment import Alignment, Link
from isogloss.corpora.kinds.bitext import AlignedPair
from isogloss.corpora.parallel import ParallelSet
from isogloss.languages.codes import pair_code
from isogloss.metrics.alignment import LinkCounts
from isogloss.models.loading.load import load_model
from isogloss.models.loading.loaded_model import Layer, LoadedModel
from isogloss.models.states.pooling import Progress
from isogloss.models.tokenization.encoding import word_tokens
from isogloss.text.alignment.eflomal import eflomal_links
from isogloss.text.alignment.link_filters import filter_links
from isogloss.text.alignment.scoring import score_alignment
from isogloss.text.alignment.symmetrise import SYMMETRISERS, Pair
from isogloss.text.alignment.symmetrise import symmetrise as symmetrised

# method → the options that are its own
METHOD_OPTIONS = {
    "embedding": ("model", "layer", "unit", "subword", "centre", "gold"),
    "eflomal": ("priors", "model", "unit"),
    "pharaoh": ("forward", "reverse", "base", "model", "unit"),
}
BEST_LAYER = "best"
AnyPath = str | os.PathLike[str]


def align(
    bitext: ParallelSet | Corpus[AlignedPair],
    method: str = "embedding",
    *,
    symmetrise: str = "intersection",
    model: LoadedModel | AnyPath | None = None,
    layer: Layer | None = None,
    unit: str | None = None,
    subword: str | None = None,
    centre: bool | None = None,
    gold: Corpus[AlignedPair] | None = None,
    priors: AnyPath | None = None,
    forward: AnyPath | None = None,
    reverse: AnyPath | None = None,
    base: int | None = None,
    one_to_one: bool = False,
    drop_identical: bool = False,
    max_words: int | None = None,
    progress: Progress | None = None,
) -> Corpus[AlignedPair]:
    """The sentence pairs with the word links that a method finds; links that they had before play no part.

    `embedding`: words of `model` whose vectors in `layer` are each other's nearest by cosine ("intersection"), with
    more links for words left over ("itermax"), or the two directions joined otherwise. The layer is two thirds of
    the way up unless given; "best" takes the one of lowest error on `gold`. `unit="subword"` links two words if any
    of their sub-words are linked; `unit="piece"` links the sub-words themselves, and these are then the words of the
    pairs (by any method, with `model` whose sub-words they are); `subword` is what a word's vector is made of (mean,
    first or last);
    `centre` takes the sentence's mean from every vector. `eflomal`: learnt from these very pairs, perhaps with
    `priors`. `pharaoh`: the links of the file `forward`, or of it and `reverse` (both source-target), words counted
    from `base` (0 or 1; 0 unless given). The filters are those of `filter_links`.
    """
    values = {"model": model, "layer": layer, "unit": unit, "subword": subword, "centre": centre, "gold": gold}
    values |= {"priors": priors, "forward": forward, "reverse": reverse, "base": base}
    options = _check_options(method, {name: value for name, value in values.items() if value is not None})
    symmetrisers = [*SYMMETRISERS, *([ITERMAX] if method == "embedding" else [])]
    check_name(symmetrise, symmetrisers, f"symmetrisation for the method '{method}'")
    pairs = without_links(bitext)
    if method != "embedding" and ("model" in options or "unit" in options):
        pairs = _split_words(pairs, method, options.pop("model", None), options.pop("unit", None))
    if method == "pharaoh":
        aligned = _from_files(pairs, symmetrise, **options)
    else:
        pairs = filter_links(pairs, max_words=max_words)  # not above: files have a line for long pairs too
        aligned = (_by_eflomal if method == "eflomal" else _by_embedding)(pairs, symmetrise, progress, **options)
    return filter_links(aligned, one_to_one=one_to_one, drop_identical=drop_identical, max_words=max_words)


def score_layers(
    model: LoadedModel, gold: Corpus[AlignedPair], layers: Sequence[Layer] | None = None, **options: Any
) -> dict[Layer, LinkCounts]:
    """How well each layer of a model finds the gold links; all of them from one pass. Options of `embedding_links`."""
    links = embedding_links(model, gold, layers=model.layer_names if layers is None else layers, **options)
    return {layer: score_alignment(with_links(gold, layer_links), gold) for layer, layer_links in links.items()}


def without_links(bitext: ParallelSet | Corpus[AlignedPair]) -> Corpus[AlignedPair]:
    """The sentence pairs alone."""
    if isinstance(bitext, Corpus):
        return bitext.with_items(AlignedPair(pair.source, pair.target, Alignment()) for pair in bitext)
    if len(bitext.languages) != 2:
        raise UsageError(f"a bitext has two languages, not {len(bitext.languages)}; choose with .pair('en', 'fr')")
    source, target = bitext.languages
    words = zip(bitext.words(source), bitext.words(target), strict=True)
    pairs = tuple(AlignedPair(s, t, Alignment()) for s, t in words)
    return Corpus(pairs, pair_code(source, target), FORMAT, bitext.origin, bitext.repairs)


def with_links(pairs: Corpus[AlignedPair], links: Sequence[Sequence[Pair]]) -> Corpus[AlignedPair]:
    """The same sentence pairs with these links, all sure."""
    alignments = [Alignment(tuple(Link(s, t) for s, t in pair_links)) for pair_links in links]
    return pairs.with_items(AlignedPair(p.source, p.target, a) for p, a in zip(pairs, alignments, strict=True))


def in_pieces(pairs: Corpus[AlignedPair], model: LoadedModel) -> Corpus[AlignedPair]:
    """The sentence pairs as the tokenizer's own tokens (`ch ##at`), without links: what `adjust(words="pieces")` reads
    once they are aligned."""
    sides = [pair.source for pair in pairs], [pair.target for pair in pairs]
    both = zip(*(_pieces(model, side) for side in sides), strict=True)
    return pairs.with_items(AlignedPair(source, target, Alignment()) for source, target in both)


def _pieces(model: LoadedModel, sentences: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    return [tuple(model.tokenizer.convert_ids_to_tokens(ids)) for ids, _ in word_tokens(model, sentences)]


def _check_options(method: str, values: dict[str, Any]) -> dict[str, Any]:
    """The options given, each of which the method must know: one that has no effect would mislead."""
    check_name(method, METHOD_OPTIONS, "alignment method")
    for name in values:
        if name not in METHOD_OPTIONS[method]:
            owner = next(other_method for other_method, options in METHOD_OPTIONS.items() if name in options)
            raise UsageError(f"{name}= (--{name}) is for the method '{owner}', not for '{method}'")
    return values


def _split_words(
    pairs: Corpus[AlignedPair], method: str, model: LoadedModel | AnyPath | None, unit: str | None
) -> Corpus[AlignedPair]:
    """Sub-words in place of words, for a method that does not ask the model for more."""
    if unit != PIECE_UNIT or model is None:
        raise UsageError(
            f"the method '{method}' takes unit='{PIECE_UNIT}' and model=, whose sub-words they are, or neither"
        )
    return in_pieces(pairs, model if isinstance(model, LoadedModel) else load_model(model))


def _by_embedding(
    pairs: Corpus[AlignedPair],
    symmetrise: str,
    progress: Progress | None,
    *,
    model: LoadedModel | AnyPath | None = None,
    layer: Layer | None = None,
    gold: Corpus[AlignedPair] | None = None,
    **options: Any,
) -> Corpus[AlignedPair]:
    if model is None:
        raise UsageError("the method 'embedding' needs model= (--model), whose vectors are compared")
    if (layer == BEST_LAYER) != (gold is not None):
        raise UsageError("layer='best' and gold= go together: the layer of lowest error on the gold links is taken")
    unit = options.get("unit", "word")
    if unit != "word" and "subword" in options:
        raise UsageError(
            f"subword= (--subword) makes one vector of a word's sub-words; unit='{unit}' compares them all"
        )
    if unit == PIECE_UNIT and gold is not None:
        raise UsageError(f"gold links are between words, unit='{PIECE_UNIT}' links sub-words: give the layer instead")
    loaded = model if isinstance(model, LoadedModel) else load_model(model)
    options["symmetrisation"] = symmetrise
    if gold is not None:
        layer = best_layer(score_layers(loaded, gold, **options))
    elif layer is None:
        layer = default_layer(loaded)
    links = embedding_links(loaded, pairs, layers=[layer], progress=progress, **options)
    return with_links(in_pieces(pairs, loaded) if unit == PIECE_UNIT else pairs, links[layer])


def _by_eflomal(
    pairs: Corpus[AlignedPair], symmetrise: str, progress: Progress | None, *, priors: AnyPath | None = None
) -> Corpus[AlignedPair]:
    """In one go, of which nothing can be told on the way."""
    return with_links(
        pairs, [_symmetrise_pair(forward, reverse, symmetrise) for forward, reverse in eflomal_links(pairs, priors)]
    )


def best_layer(scores: dict[Layer, LinkCounts]) -> Layer:
    """The layer of lowest alignment error, the lowest of equals."""
    return min(scores, key=lambda layer: scores[layer].aer)


def _from_files(
    pairs: Corpus[AlignedPair],
    symmetrise: str,
    *,
    forward: AnyPath | None = None,
    reverse: AnyPath | None = None,
    base: int = 0,
) -> Corpus[AlignedPair]:
    if forward is None:
        raise UsageError("the method 'pharaoh' needs forward= (--forward), a file of links")
    words = [(pair.source, pair.target) for pair in pairs]
    forward_pairs = list(join_links(words, Path(forward), base, Repairs()))
    if reverse is None:
        return pairs.with_items(forward_pairs)
    reverse_pairs = join_links(words, Path(reverse), base, Repairs())
    both = zip(forward_pairs, reverse_pairs, strict=True)
    return with_links(pairs, [_symmetrise_pair(a.alignment, b.alignment, symmetrise) for a, b in both])


def _symmetrise_pair(forward: Alignment, reverse: Alignment, method: str) -> list[Pair]:
    return symmetrised(forward.sure + forward.possible, reverse.sure + reverse.possible, method)
