"""Pairs: the tokenizer's own conventions, cut fairly, in one language or two."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import processors

from isogloss.corpora.corpus import Corpus
from isogloss.corpora.formats import FORMATS
from isogloss.corpora.kinds.nli import NliPair, mixed_language
from isogloss.corpora.lab.laboratory import Laboratory
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.tasks import nli
from isogloss.tasks.texts import longest_first, pair_frame

Tiny = Callable[[str], LoadedModel]
LABELS = {"label": ("entailment", "neutral", "contradiction")}
PAIRS = Corpus(
    (
        NliPair("The cat sat on the mat.", "Le chat dort.", "neutral"),
        NliPair("我们 住在 海边。", "x", "contradiction"),
        NliPair("", "", "entailment"),
    ),
    "en",
    FORMATS["nli-tsv"],
)
TEMPLATES = {  # of one text and of two, as the published tokenizers have them
    "bert": ("[CLS] $A [SEP]", "[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1"),
    "xlm-roberta": ("<s> $A </s>", "<s> $A </s> </s> $B </s>"),
    "mt5": ("$A </s>", "$A </s> $B </s>"),
    "llama": ("<s> $A", "<s> $A <s>:1 $B:1"),
}


def with_pairs(model: LoadedModel, family: str) -> LoadedModel:
    """The model with a tokenizer that knows how its family joins two texts."""
    tokenizer, (single, pair) = copy.deepcopy(model.tokenizer), TEMPLATES[family]
    backend = tokenizer.backend_tokenizer
    marks = [(mark, backend.token_to_id(mark)) for mark in single.split() if mark != "$A"]
    backend.post_processor = processors.TemplateProcessing(single=single, pair=pair, special_tokens=marks)
    return replace(model, tokenizer=tokenizer)


@pytest.mark.parametrize("family", TEMPLATES)
def test_pairs_are_the_tokenizers_own(tiny: Tiny, family: str) -> None:
    model = with_pairs(tiny(family), family)
    texts = PAIRS[:2]  # the library takes an empty second text for none
    for pair, example in zip(texts, nli.encode(model, texts, LABELS), strict=True):
        own = model.tokenizer(pair.premise, pair.hypothesis, return_token_type_ids=True)
        assert example.windows[0].tolist() == own["input_ids"]
        assert [s.tolist() for s in example.segments] == ([own["token_type_ids"]] if family == "bert" else [])


@pytest.mark.parametrize("family", ["qwen2", "gemma3_text", "gpt_neox"])
def test_a_mark_stands_between_where_the_tokenizer_has_none(tiny: Tiny, family: str) -> None:
    model = tiny(family)
    assert pair_frame(model).between == (model.tokenizer.eos_token_id,)
    assert all(len(example.windows[0]) for example in nli.encode(model, PAIRS, LABELS))


@given(st.integers(0, 40), st.integers(0, 40), st.integers(1, 50))
def test_longest_first_by_brute_force(first: int, second: int, space: int) -> None:
    a, b = first, second
    while a + b > space:
        a, b = (a - 1, b) if a > b else (a, b - 1)
    assert longest_first(first, second, space) == (a, b)


def test_long_pairs_are_cut_and_counted(tiny: Tiny) -> None:
    model = replace(tiny("bert"), max_length=12)
    long = PAIRS.with_items([NliPair("cat " * 30, "mat sat", "neutral"), PAIRS[1]])
    with pytest.warns(UserWarning, match="1 of 2 pairs truncated to 12 tokens"):
        examples = nli.encode(model, long, LABELS)
    assert len(examples[0].windows[0]) == 12
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole = nli.encode(tiny("bert"), long[1:], LABELS)
    assert examples[1].windows[0].tolist() == whole[0].windows[0].tolist()
    (tail,) = nli.encode(tiny("bert"), PAIRS.with_items([NliPair("", "mat sat", None)]), LABELS)
    assert examples[0].windows[0].tolist()[-len(tail.windows[0]) + 2 :] == tail.windows[0].tolist()[2:], "kept whole"


def test_label_numbers_are_those_of_xnli(tiny: Tiny) -> None:
    assert nli.labels(PAIRS) == LABELS
    assert [int(e.arrays["label"][0]) for e in nli.encode(tiny("bert"), PAIRS, LABELS)] == [1, 2, 0]
    config = nli.network(tiny("bert"), LABELS).config
    assert config.id2label == {0: "entailment", 1: "neutral", 2: "contradiction"}  # type: ignore[union-attr]


def test_mixed_languages_are_pairs_like_any(tiny: Tiny) -> None:
    lab = Laboratory(seed=0)
    mixed = mixed_language(lab.nli("qlb", "dev", 5), lab.nli("qla", "dev", 5), seed=1)
    assert len(nli.encode(tiny("xlm-roberta"), mixed, LABELS)) == 5
