"""Rotation-based alignment: the best orthogonal map between the vectors of two languages; the model does not change.

What it does: y ↦ (y − μ_Y)·W + μ_X maps the states of *target-language* input into the source space, in one layer;
             source-language input is not mapped. Heads and later layers read the mapped states.
Formula:     W = argmin over orthogonal W of ‖(Y − μ_Y)·W − (X − μ_X)‖_F = U·Vᵀ, U·Σ·Vᵀ = (Y − μ_Y)ᵀ(X − μ_X),
             X and Y are the vectors of linked words, or of the two sides of dictionary entries.
Cost:        O(n·d²) and one SVD of d×d.
Reference:   Schönemann (1966); Mikolov, Le & Sutskever (2013); of contextual vectors: Schuster et al. (2019),
             Wang et al. (2019), Kulshreshtha et al. (2020). Cao et al. (2020) compare adjustment with it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from isogloss.analysis.aligned_vectors import aligned_vectors
from isogloss.core.errors import UsageError
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.kinds.bitext import AlignedPair
from isogloss.corpora.kinds.lexicon import Entry
from isogloss.indexes.vectors import Vectors, as_tensor, check_parallel
from isogloss.models.loading.loaded_model import FINAL, Layer, LayerOutput, LoadedModel
from isogloss.models.states.hidden_states import sentence_states
from isogloss.models.states.pooling import check_layers


@dataclass(frozen=True, eq=False)
class Rotation:
    """A map from the target space into the source space; calling it maps vectors `(…, unit)`."""

    matrix: Tensor
    source_mean: Tensor
    target_mean: Tensor
    layer: Layer

    def __call__(self, vectors: Tensor) -> Tensor:
        matrix, source, target = (part.to(vectors) for part in (self.matrix, self.source_mean, self.target_mean))
        return (vectors - target) @ matrix + source


def rotation(
    model: LoadedModel,
    data: Corpus[AlignedPair] | Corpus[Entry],
    *,
    layer: Layer = "last",
    words: str = "mean",
    centre: bool = True,
    links: int = 20_000,
    seed: int = 0,
) -> Rotation:
    """The rotation from the vectors of linked words in their sentences, or of isolated dictionary entries.

    Args:
        model: The model.
        data: A bitext with links, or a lexicon, whose entries are the mean of their sub-words.
        layer: A layer, or "last" for the input of heads.
        words: See `aligned_vectors`.
        centre: Subtract the means; otherwise the map is W only.
        links: See `aligned_vectors`.
        seed: See `aligned_vectors`.
    """
    resolved = check_layers(model, [model.last_layer if layer == "last" else layer])[0]
    if data.format.kind == "lexicon":
        sides = [[getattr(entry, side) for entry in data] for side in ("source", "target")]
        X, Y = (sentence_states(model, side, layers=[resolved]).collect()[0] for side in sides)
    elif data.format.kind == "bitext":
        X, Y = aligned_vectors(model, data, layer=resolved, words=words, links=links, seed=seed)  # type: ignore[arg-type]
    else:
        raise UsageError(f"rotation: expected a bitext or a lexicon, got a corpus of {data.format.kind}")
    return best_rotation(X, Y, layer=resolved, centre=centre)


def best_rotation(X: Vectors, Y: Vectors, *, layer: Layer, centre: bool = True) -> Rotation:
    """The rotation that maps the rows of Y to those of X.

    >>> X = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], dtype=torch.float64)
    >>> turned = X.flip(1) + 7
    >>> torch.allclose(best_rotation(X, turned, layer=1)(turned), X)
    True
    """
    check_parallel(X, Y)
    x, y = as_tensor(X, "X").double(), as_tensor(Y, "Y").double()
    means = [side.mean(0) if centre else torch.zeros_like(side[0]) for side in (x, y)]
    u, _, v = torch.linalg.svd((y - means[1]).T @ (x - means[0]))
    return Rotation(u @ v, means[0], means[1], layer)


@contextlib.contextmanager
def rotated(model: LoadedModel, change: Rotation) -> Iterator[LoadedModel]:
    """A context in which the states of a layer are mapped, for sentences of the target language only.

    For a fine-tuned network, pass its `encoder`: its head then reads mapped states.
    """
    if change.layer == 0:
        raise UsageError("embeddings (layer 0) cannot be rotated inside the model; map their states instead")
    layer = model.final_norm if change.layer == FINAL else model.blocks[int(change.layer) - 1]
    assert layer is not None

    def mapped(_module: nn.Module, _args: object, output: LayerOutput) -> LayerOutput:
        return (change(output[0]), *output[1:]) if isinstance(output, tuple) else change(output)

    # before all other hooks, so that they receive mapped states
    handle = layer.register_forward_hook(mapped, prepend=True)
    try:
        yield model
    finally:
        handle.remove()
