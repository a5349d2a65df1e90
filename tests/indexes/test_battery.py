from __future__ import annotations

import numpy as np
import pytest

import isogloss as ig
from isogloss.core.errors import UnknownName, UsageError
from isogloss.indexes import INDEXES, matching, svcca
from isogloss.indexes import moments as moments_module
from isogloss.indexes.battery import against, all_pairs, compare

LANGUAGES = ["en", "fr", "ru"]


def views(n: int = 150, d: int = 5) -> dict[str, np.ndarray]:
    random = np.random.default_rng(0)
    meaning = random.normal(size=(n, d))
    return {name: meaning @ random.normal(size=(d, d)) + random.normal(size=(n, d)) for name in LANGUAGES}


def test_equals_the_direct_calls() -> None:
    data = views()
    names = ["cka", "anc", "cca", "svcca", "pwcca", "matching"]
    functions = {"matching": ig.matching_accuracy} | {name: getattr(ig, name) for name in names[:-1]}
    rows = compare(data, against("en", LANGUAGES), names)
    assert [(r.source, r.target, r.index) for r in rows] == [("en", t, i) for t in ("fr", "ru") for i in names]
    for row in rows:
        assert row.value == pytest.approx(functions[row.index](data["en"], data[row.target]), abs=1e-12)
        assert row.n == 150


def test_all_against_all_shares_one_spectrum_per_language(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, eigh = [], moments_module.torch.linalg.eigh
    monkeypatch.setattr(moments_module.torch.linalg, "eigh", lambda matrix: calls.append(1) or eigh(matrix))
    rows = compare(views(), all_pairs(LANGUAGES), ["cca", "svcca", "pwcca"], bootstrap=0)
    assert len(rows) == 9
    assert len(calls) == 3


def test_replicates_are_joint() -> None:
    """The same weights everywhere: a language compared with a copy of another has the same replicates."""
    data = views()
    data["fr2"] = data["fr"] * 2
    one, other = compare(data, [("en", "fr"), ("en", "fr2")], ["cka"], bootstrap=20, seed=4)
    np.testing.assert_allclose(one.replicates, other.replicates, atol=1e-12)
    assert not np.allclose(one.replicates, compare(data, [("en", "fr")], ["cka"], bootstrap=20, seed=5)[0].replicates)


def test_without_bootstrap() -> None:
    row = compare(views(), [("en", "fr")], ["cka"], bootstrap=0)[0]
    assert (row.low, row.high, row.error, row.replicates) == (None, None, None, None)


def test_options_of_an_index() -> None:
    rows = compare(views(), [("en", "fr")], [svcca.index(keep=2), svcca.index(keep=3), matching.index("backward")])
    assert [row.index for row in rows] == ["svcca(keep=2)", "svcca(keep=3)", "matching(backward)"]
    assert rows[0].note == "kept 2 and 2 directions"
    assert rows[0].value == pytest.approx(ig.svcca(views()["en"], views()["fr"], keep=2))


def test_different_widths_where_the_index_allows_it() -> None:
    data = views()
    data["fr"] = data["fr"][:, :3]
    values = {r.index: r.value for r in compare(data, [("en", "fr")], ["cka", "cca", "svcca", "pwcca", "procrustes"])}
    assert values["cka"] == pytest.approx(ig.cka(data["en"], data["fr"]))


@pytest.mark.parametrize("level", [0.5, 0.99])
def test_confidence_widens(level: float) -> None:
    usual, other = (compare(views(), [("en", "fr")], ["cka"], confidence=c)[0] for c in (0.95, level))
    assert (other.high - other.low > usual.high - usual.low) == (level > 0.95)


def test_errors() -> None:
    data = views()
    with pytest.raises(UnknownName, match="did you mean 'cka'"):
        compare(data, [("en", "fr")], ["ckaa"])
    with pytest.raises(UsageError, match="layer 2, no vectors for et; there are vectors for en, fr, ru"):
        compare(data, [("en", "et")], where="layer 2")
    with pytest.raises(UsageError, match="at least one pair"):
        compare(data, [])
    with pytest.raises(UsageError, match="layer 2, en and layer 2, fr must be parallel, got 150 and 149"):
        compare(data | {"fr": data["fr"][:149]}, [("en", "fr")], where="layer 2")
    short = {"a": data["en"][:9], "b": data["en"][:9]}
    with pytest.raises(UsageError, match="the same sentences"):
        compare(data | short, [("en", "fr"), ("a", "b")])


def test_listing_indexes_loads_nothing() -> None:
    assert list(INDEXES)[:2] == ["cka", "rbf_cka"]
