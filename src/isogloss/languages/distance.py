"""How far apart two languages are, by descent, by script and, where URIEL is at hand, by syntax.

Descent comes from Glottolog's tree, script from CLDR (see `facts`). Syntax is the cosine distance of URIEL's
features (`syntax_knn`: what grammars state, gaps filled from related languages; Littell et al. 2017), which the
package `lang2vec` carries. Its data file is read directly: the package itself no longer imports, as it asks for
`pkg_resources`, which setuptools has dropped.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np

from isogloss.languages.facts import language


def language_distance(source: str, target: str) -> dict[str, float]:
    """Distances from 0 to 1: `genealogy`, `script`, and `syntax` where URIEL is installed and knows both.

    `genealogy` is the share of the source's line of descent that the target is no part of: seen from English,
    French and Russian are as far, however finely Glottolog divides their branches.

    >>> language_distance("en", "uig")["genealogy"], language_distance("en", "fr")["script"]
    (1.0, 0.0)
    """
    first, second = language(source), language(target)
    found = {
        "genealogy": _genealogy((*first.lineage, first.name), (*second.lineage, second.name)),
        "script": float(not set(first.scripts[:1]) & set(second.scripts[:1])),
    }
    vectors = [syntax_features().get(one.iso639_3) for one in (first, second)]
    if vectors[0] is not None and vectors[1] is not None:
        found["syntax"] = _cosine(vectors[0], vectors[1])
    return found


@cache
def syntax_features() -> dict[str, Any]:
    """URIEL's syntactic features by ISO 639-3 code; nothing where `lang2vec` is not installed."""
    spec = find_spec("lang2vec")
    folders = spec.submodule_search_locations if spec else None
    if not folders:
        return {}
    with np.load(Path(folders[0]) / "data" / "feature_predictions.npz", allow_pickle=False) as file:
        syntactic = np.char.startswith(file["feats"], "S_")
        return dict(zip(file["langs"].tolist(), file["data"][:, syntactic, 0].astype(np.float64), strict=True))


def _genealogy(source: tuple[str, ...], target: tuple[str, ...]) -> float:
    shared = (one == other for one, other in zip(source, target, strict=False))
    return 1 - sum(takewhile(bool, shared)) / len(source)


def _cosine(a: Any, b: Any) -> float:
    return float(max(0.0, 1 - a @ b / np.sqrt((a @ a) * (b @ b))))
