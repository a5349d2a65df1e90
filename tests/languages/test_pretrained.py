"""The published pretraining lists, against facts known from elsewhere."""

from __future__ import annotations

import langcodes
import pytest

from isogloss.core.errors import UnknownName
from isogloss.languages.pretrained import PRETRAINING_LISTS, pretrained_in, pretraining_languages


@pytest.mark.parametrize(("model", "count"), [("mBERT", 104), ("XLM-R", 100), ("XGLM", 30)])
def test_as_many_as_published(model: str, count: int) -> None:
    codes = PRETRAINING_LISTS[model].split()
    assert len(codes) == len(set(codes)) == count
    assert all(map(langcodes.tag_is_valid, codes))


@pytest.mark.parametrize(
    ("code", "models"),
    [
        ("en", "XGLM XLM-R mBERT"), ("zh-Hant", "XGLM XLM-R mBERT"), ("et", "XGLM XLM-R mBERT"),
        ("ug", "XLM-R"), ("ku", "XLM-R"), ("kmr", "XLM-R"), ("am", "XLM-R"), ("sd", "XLM-R"), ("yi", "XLM-R"),
        ("br", "XLM-R mBERT"), ("no", "XLM-R mBERT"), ("nb", "XLM-R mBERT"), ("th", "XGLM XLM-R mBERT"),
        ("yo", "mBERT"), ("oc", "mBERT"), ("nn", "mBERT"), ("ba", "mBERT"), ("azb", "mBERT"), ("pms", "mBERT"),
        ("ht", "XGLM mBERT"), ("qu", "XGLM"),
        ("wo", ""), ("ckb", ""), ("mt", ""), ("fo", ""), ("bm", ""), ("pcm", ""), ("gsw", ""), ("xmf", ""),
        ("myv", ""), ("bxr", ""), ("olo", ""), ("kpv", ""), ("mhr", ""), ("aeb", ""),
    ],
)  # fmt: skip
def test_known_facts(code: str, models: str) -> None:
    assert pretrained_in(code) == set(models.split())


def test_variants_are_folded() -> None:
    assert len(pretraining_languages("XLM-R")) == 94  # five romanised, Zawgyi, one Chinese; Kurdish is Kurmanji, too
    assert len(pretraining_languages("mBERT")) == 102  # one Chinese; Serbo-Croatian counts as Serbian
    with pytest.raises(UnknownName, match="did you mean 'XLM-R'"):
        pretraining_languages("XLMR")
