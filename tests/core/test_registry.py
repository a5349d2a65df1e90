from __future__ import annotations

import pytest

from isogloss.core.errors import UnknownName
from isogloss.core.registry import Registry

SHAPES: Registry[type] = Registry("shape", {"ordered": "collections:OrderedDict", "counter": "collections:Counter"})


def test_members_load_on_first_use() -> None:
    from collections import Counter

    assert SHAPES["counter"] is Counter
    assert list(SHAPES) == ["ordered", "counter"]
    assert "counter" in SHAPES
    assert "count" not in SHAPES


def test_a_wrong_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"unknown shape 'countr'; did you mean 'counter'\?"):
        SHAPES["countr"]
    with pytest.raises(UnknownName, match="known: ordered, counter"):
        SHAPES["zzz"]
