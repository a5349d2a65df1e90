"""`ig.align`: word alignment of parallel text with the vectors of a model, with eflomal, or from Pharaoh files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

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

# method → its options
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
    """The sentence pairs with the word links of an alignment method; existing links are ignored.

    Args:
        bitext: Sentence pairs, or a parallel set of two languages.
        method: "embedding" (nearest neighbours by cosine in a layer of a model), "eflomal" (trained on these pairs) or
            "pharaoh" (links from files).
        symmetrise: How the two directions are combined: "intersection", "union", "grow-diag-final-and", or "itermax"
            for the method "embedding".
        model: The model for "embedding", or for the pieces of `unit="piece"`.
        layer: The layer for "embedding"; two thirds of the way up by default, "best" for the lowest error on `gold`.
        unit: "word"; "subword" links two words if any of their sub-words are linked; "piece" links the sub-words, which
            become the words of the pairs.
        subword: The vector of a word: "mean", "first" or "last" of its sub-words.
        centre: Subtract the mean of the sentence from every vector.
        gold: Gold links for `layer="best"`.
        priors: Priors for "eflomal".
        forward: A file of links for "pharaoh".
        reverse: A second file of links, source-target, too, for "pharaoh".
        base: The number of the first word in the files, 0 or 1; detected from sentence lengths by default.
        one_to_one: Keep only links of words that have one link.
        drop_identical: Drop links of identical words.
        max_words: Drop pairs with longer sentences.
        progress: Called with the sentences done and the total.
    """
    values = {"model": model, "layer": layer, "unit": unit, "subword": subword, "centre": centre, "gold": gold}
    values |= {"priors": priors, "forward": forward, "reverse": reverse, "base": base}
    _check_options(method, [name for name, value in values.items() if value is not None])
    symmetrisers = [*SYMMETRISERS, *([ITERMAX] if method == "embedding" else [])]
    check_name(symmetrise, symmetrisers, f"symmetrisation for the method '{method}'")
    pairs = without_links(bitext)
    if method != "embedding" and (model is not None or unit is not None):
        if unit != PIECE_UNIT or model is None:
            raise UsageError(f"the method '{method}' needs both unit='{PIECE_UNIT}' and model=, or neither")
        pairs = in_pieces(pairs, model if isinstance(model, LoadedModel) else load_model(model))
    if method != "pharaoh":  # files have a line for long pairs, too
        pairs = filter_links(pairs, max_words=max_words)
    if method == "embedding":
        aligned = _by_embedding(pairs, symmetrise, model, layer, unit or "word", subword, bool(centre), gold, progress)
    elif method == "eflomal":
        directions = eflomal_links(pairs, priors)
        aligned = with_links(pairs, [_symmetrise_pair(*both, symmetrise) for both in directions])
    else:
        aligned = _from_files(pairs, symmetrise, forward, reverse, base)
    return filter_links(aligned, one_to_one=one_to_one, drop_identical=drop_identical, max_words=max_words)


def score_layers(
    model: LoadedModel,
    gold: Corpus[AlignedPair],
    layers: Sequence[Layer] | None = None,
    *,
    symmetrisation: str = "intersection",
    unit: str = "word",
    subword: str = "mean",
    centre: bool = False,
) -> dict[Layer, LinkCounts]:
    """The score of each layer on the gold links, from one forward pass; the options are those of `embedding_links`."""
    layers = model.layer_names if layers is None else layers
    links = embedding_links(
        model, gold, layers=layers, symmetrisation=symmetrisation, unit=unit, subword=subword, centre=centre
    )
    return {layer: score_alignment(with_links(gold, layer_links), gold) for layer, layer_links in links.items()}


def without_links(bitext: ParallelSet | Corpus[AlignedPair]) -> Corpus[AlignedPair]:
    """The sentence pairs without links."""
    if isinstance(bitext, Corpus):
        return bitext.with_items(AlignedPair(pair.source, pair.target, Alignment()) for pair in bitext)
    if len(bitext.languages) != 2:
        raise UsageError(f"expected two languages, got {len(bitext.languages)}; choose them with .pair('en', 'fr')")
    source, target = bitext.languages
    words = zip(bitext.words(source), bitext.words(target), strict=True)
    pairs = tuple(AlignedPair(s, t, Alignment()) for s, t in words)
    return Corpus(pairs, pair_code(source, target), FORMAT, bitext.origin, bitext.repairs)


def with_links(pairs: Corpus[AlignedPair], links: Sequence[Sequence[Pair]]) -> Corpus[AlignedPair]:
    """The same sentence pairs with these links, all sure."""
    alignments = [Alignment(tuple(Link(s, t) for s, t in pair_links)) for pair_links in links]
    return pairs.with_items(AlignedPair(p.source, p.target, a) for p, a in zip(pairs, alignments, strict=True))


def in_pieces(pairs: Corpus[AlignedPair], model: LoadedModel) -> Corpus[AlignedPair]:
    """The sentence pairs as tokens of the tokenizer (`ch ##at`), without links, for `adjust(words="pieces")`."""
    sides = (
        [tuple(model.tokenizer.convert_ids_to_tokens(ids)) for ids, _ in word_tokens(model, sentences)]
        for sentences in ([pair.source for pair in pairs], [pair.target for pair in pairs])
    )
    both = zip(*sides, strict=True)
    return pairs.with_items(AlignedPair(source, target, Alignment()) for source, target in both)


def best_layer(scores: dict[Layer, LinkCounts]) -> Layer:
    """The layer with the lowest alignment error rate; of equal layers the lowest."""
    return min(scores, key=lambda layer: scores[layer].aer)


def _check_options(method: str, names: Sequence[str]) -> None:
    """Raise an error for an option that the method does not have."""
    check_name(method, METHOD_OPTIONS, "alignment method")
    for name in names:
        if name not in METHOD_OPTIONS[method]:
            owner = next(other_method for other_method, options in METHOD_OPTIONS.items() if name in options)
            raise UsageError(f"{name}= (--{name}) is for the method '{owner}', not for '{method}'")


def _by_embedding(
    pairs: Corpus[AlignedPair],
    symmetrise: str,
    model: LoadedModel | AnyPath | None,
    layer: Layer | None,
    unit: str,
    subword: str | None,
    centre: bool,
    gold: Corpus[AlignedPair] | None,
    progress: Progress | None,
) -> Corpus[AlignedPair]:
    if model is None:
        raise UsageError("the method 'embedding' needs model= (--model), whose vectors are compared")
    if (layer == BEST_LAYER) != (gold is not None):
        raise UsageError("layer='best' and gold= go together: the layer of lowest error on the gold links is taken")
    if unit != "word" and subword is not None:
        raise UsageError(
            f"subword= (--subword) makes one vector of a word's sub-words; unit='{unit}' compares them all"
        )
    if unit == PIECE_UNIT and gold is not None:
        raise UsageError(f"gold links are between words, unit='{PIECE_UNIT}' links sub-words: give the layer instead")
    loaded = model if isinstance(model, LoadedModel) else load_model(model)
    subword = subword or "mean"
    if gold is not None:
        scores = score_layers(loaded, gold, symmetrisation=symmetrise, unit=unit, subword=subword, centre=centre)
        layer = best_layer(scores)
    elif layer is None:
        layer = default_layer(loaded)
    links = embedding_links(
        loaded,
        pairs,
        layers=[layer],
        symmetrisation=symmetrise,
        unit=unit,
        subword=subword,
        centre=centre,
        progress=progress,
    )
    return with_links(in_pieces(pairs, loaded) if unit == PIECE_UNIT else pairs, links[layer])


def _from_files(
    pairs: Corpus[AlignedPair], symmetrise: str, forward: AnyPath | None, reverse: AnyPath | None, base: int | None
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
