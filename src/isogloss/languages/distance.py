"""Distances between languages by genealogy, by script and, if URIEL is installed, by syntax.

Genealogy comes from the tree of Glottolog, script from CLDR (see `facts`). Syntax is the cosine distance of the
features of URIEL (`syntax_knn`: from grammars, missing values predicted from related languages; Littell et al. 2017),
which the package `lang2vec` contains. Its data file is read directly: the package itself cannot be imported any more,
because it requires `pkg_resources`, which setuptools has removed.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isogloss.languages.facts import language

FloatArray = NDArray[np.float64]


def language_distance(source: str, target: str) -> dict[str, float]:
    """Distances from 0 to 1: `genealogy`, `script`, and `syntax` if URIEL is installed and has both languages.

    `genealogy` is the share of the ancestors of the source that are not ancestors of the target: French and Russian
    have the same distance from English, however finely Glottolog divides their branches.

    >>> language_distance("en", "uig")["genealogy"], language_distance("en", "fr")["script"]
    (1.0, 0.0)
    """
    first, second = language(source), language(target)
    distances = {
        "genealogy": genealogy_distance((*first.lineage, first.name), (*second.lineage, second.name)),
        "script": float(not set(first.scripts[:1]) & set(second.scripts[:1])),
    }
    vectors = [syntax_features().get(entry.iso639_3) for entry in (first, second)]
    if vectors[0] is not None and vectors[1] is not None:
        a, b = vectors[0], vectors[1]
        distances["syntax"] = max(0.0, float(1 - a @ b / np.sqrt((a @ a) * (b @ b))))  # cosine distance
    return distances


@cache
def syntax_features() -> dict[str, FloatArray]:
    """The syntactic features of URIEL by ISO 639-3 code; empty if `lang2vec` is not installed."""
    spec = find_spec("lang2vec")
    folders = spec.submodule_search_locations if spec else None
    if not folders:
        return {}
    with np.load(Path(folders[0]) / "data" / "feature_predictions.npz", allow_pickle=False) as file:
        syntactic = np.char.startswith(file["feats"], "S_")
        return dict(zip(file["langs"].tolist(), file["data"][:, syntactic, 0].astype(np.float64), strict=True))


def genealogy_distance(source: tuple[str, ...], target: tuple[str, ...]) -> float:
    shared = (source_group == target_group for source_group, target_group in zip(source, target, strict=False))
    return 1 - sum(takewhile(bool, shared)) / len(source)
