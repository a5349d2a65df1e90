"""Vocabulary extension: the pieces against a slow oracle, tokenizers of every kind, vectors, heads, files."""

from __future__ import annotations

import copy
import lzma
from collections import Counter
from collections.abc import Callable
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_data import shared
from tiny_models import CONFIGS, LISTED, SENTENCES, build_masked, build_scheme, tokenizer_of
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoTokenizer,
    BertTokenizer,
    XLMRobertaTokenizer,
)

from isogloss.core.errors import UnknownName, UsageError
from isogloss.corpora.kinds.lexicon import Entry
from isogloss.models.loading.load import load_model
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.states.hidden_states import sentence_states
from isogloss.models.tokenization.training import train_tokenizer
from isogloss.models.vocabulary.embeddings import token_tables
from isogloss.models.vocabulary.extension import extend_vocabulary, extension_statistics
from isogloss.models.vocabulary.merges import frequent_pairs
from isogloss.models.vocabulary.tokenizers import extend_tokenizer

OLD = SENTENCES * 3
NEW = ["мы ходим в лес и ходим в поле", "лес и поле, поле и лес", "qarğa qarğaya qarğalar", "ходим qarğa лес"] * 4
KINDS = ("wordpiece", "bpe", "unigram")
CAUSAL = ("llama", "qwen2", "gemma3_text", "xglm")


@pytest.fixture(scope="module")
def trained() -> Callable[[str], Any]:
    made = {kind: train_tokenizer(OLD, kind, 420) for kind in KINDS}
    return made.__getitem__


def slow_pairs(words: dict[tuple[str, ...], int], most: int) -> list[tuple[tuple[str, str], str]]:
    """Byte-pair encoding that counts everything anew at each step."""
    cut = [(list(word), count) for word, count in words.items()]
    found = []
    for _ in range(most):
        counts: Counter[tuple[str, str]] = Counter()
        for word, count in cut:
            for pair in pairwise(word):
                counts[pair] += count
        best = min(counts, key=lambda pair: (-counts[pair], pair), default=None)
        if best is None or counts[best] < 2:
            break
        found.append((best, "".join(best)))
        for word, _ in cut:
            i = 0
            while i < len(word) - 1:
                if (word[i], word[i + 1]) == best:
                    word[i : i + 2] = ["".join(best)]
                i += 1
    return found


@given(st.dictionaries(st.text("ab c", min_size=1, max_size=7).map(tuple), st.integers(1, 5), max_size=8))
def test_pairs_are_those_of_the_slow_way(words: dict[tuple[str, ...], int]) -> None:
    assert list(frequent_pairs(words, lambda a, b: a + b)) == slow_pairs(words, 1000)  # type: ignore[arg-type]


def test_what_is_unknown_is_never_joined() -> None:
    words: dict[tuple[str | None, ...], int] = {("a", None, "b"): 5, (None, None): 5, ("a", "b"): 2}
    assert list(frequent_pairs(words, lambda a, b: a + b)) == [(("a", "b"), "ab")]


@pytest.mark.parametrize("kind", KINDS)
def test_new_text_is_cut_into_fewer_known_pieces(kind: str, trained: Any) -> None:
    old = trained(kind)
    grown = extend_tokenizer(old, NEW, 60)
    vocabulary = grown.tokenizer.get_vocab()
    assert 0 < len(grown.parts) <= 60
    assert [vocabulary[piece] for piece in grown.parts] == list(range(len(old), len(old) + len(grown.parts)))
    assert {piece: number for piece, number in vocabulary.items() if piece in old.get_vocab()} == old.get_vocab()
    for line in NEW:
        assert len(grown.tokenizer(line)["input_ids"]) < len(old(line)["input_ids"]) or old.unk_token in old.tokenize(
            line
        )
        assert grown.tokenizer.unk_token_id not in grown.tokenizer(line)["input_ids"]
    used = {token for line in NEW for token in grown.tokenizer.tokenize(line)}
    whole = [piece for piece in grown.parts if len(piece.strip("▁Ġ#")) > 3]
    assert whole and used & set(whole)
    assert len(old.get_vocab()) == len(old)  # the old one is as it was


@pytest.mark.parametrize("kind", KINDS)
def test_parts_spell_the_piece(kind: str, trained: Any) -> None:
    for piece, parts in extend_tokenizer(
        trained(kind), ["matcat catmat dortsat"] * 3, 30
    ).parts.items():  # no new characters
        first, *others = parts
        assert first + "".join(part.removeprefix("##") for part in others) == piece
        assert all(part in trained(kind).get_vocab() for part in parts)


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_old_text_is_cut_as_before_but_for_joined_pieces(kind: str, trained: Any) -> None:
    old, grown = trained(kind), extend_tokenizer(trained(kind), NEW, 60).tokenizer
    same = 0
    for line in OLD:
        before, after = (_ends(t, line) for t in (old, grown))
        assert set(after) <= set(before)
        same += after == before
    assert same / len(OLD) > 0.6


def _ends(tokenizer: Any, line: str) -> list[int]:
    return [end for _, end in tokenizer(line, return_offsets_mapping=True, add_special_tokens=False)["offset_mapping"]]


@pytest.mark.parametrize("kind", KINDS)
def test_text_of_another_script_is_cut_as_before(kind: str, trained: Any) -> None:
    old, grown = trained(kind), extend_tokenizer(trained(kind), ["ходим qarğa лес"] * 4, 25).tokenizer
    for line in (SENTENCES[3], SENTENCES[5]):
        assert old(line)["input_ids"] == grown(line)["input_ids"]


@given(st.lists(st.text("ab дє🙂’ ", min_size=1, max_size=12), min_size=1, max_size=6), st.integers(1, 40))
@settings(max_examples=25)
def test_any_text_survives(lines: list[str], size: int) -> None:
    for kind in KINDS:
        old = _cached(kind)
        try:
            grown = extend_tokenizer(old, lines * 2, size)
        except UsageError:
            continue
        assert len(grown.parts) <= size
        for line in lines:
            ids = grown.tokenizer(line, add_special_tokens=False)["input_ids"]
            assert max(ids, default=0) < grown.first + len(grown.parts)
            if kind == "bpe":
                assert grown.tokenizer.decode(ids) == old.decode(old(line, add_special_tokens=False)["input_ids"])


_MADE: dict[str, Any] = {}


def _cached(kind: str) -> Any:
    return _MADE.setdefault(kind, train_tokenizer(OLD, kind, 420))


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_text_gives_the_same_pieces(kind: str, trained: Any) -> None:
    assert extend_tokenizer(trained(kind), NEW, 40).parts == extend_tokenizer(trained(kind), NEW[::-1], 40).parts


@pytest.mark.parametrize("kind", KINDS)
def test_plain_transformers_reads_the_tokenizer(kind: str, trained: Any, tmp_path: Path) -> None:
    grown = extend_tokenizer(trained(kind), NEW, 60).tokenizer
    grown.save_pretrained(tmp_path)
    again = AutoTokenizer.from_pretrained(tmp_path)
    assert [again(line)["input_ids"] for line in NEW + OLD] == [grown(line)["input_ids"] for line in NEW + OLD]
    assert len(again) == len(grown)


@pytest.mark.parametrize("kind", ["bert", "xlm-roberta"])
def test_published_classes_of_tokenizers(kind: str, trained: Any, tmp_path: Path) -> None:
    if kind == "bert":
        tokenizer: Any = BertTokenizer(vocab=trained("wordpiece").get_vocab(), do_lower_case=False)
    else:
        words = [(piece, -float(i)) for i, piece in enumerate(["<s>", "<pad>", "</s>", "<unk>", "▁", *"aеimoткtл"])]
        tokenizer = XLMRobertaTokenizer(vocab=[*words, ("<mask>", 0.0)])
    tokenizer.save_pretrained(tmp_path / "old")
    old: Any = AutoTokenizer.from_pretrained(tmp_path / "old")
    grown = extend_tokenizer(old, NEW, 60)
    grown.tokenizer.save_pretrained(tmp_path / "new")
    again = AutoTokenizer.from_pretrained(tmp_path / "new")
    assert type(again) is type(tokenizer)
    assert [again(line)["input_ids"] for line in NEW] == [grown.tokenizer(line)["input_ids"] for line in NEW]
    assert (again.mask_token_id, again.pad_token_id) == (old.mask_token_id, old.pad_token_id)
    assert (
        len(again("qarğa")["input_ids"]) < len(old("qarğa")["input_ids"])
        or old.unk_token_id in old("qarğa")["input_ids"]
    )


def test_added_tokens_keep_their_ids(trained: Any) -> None:
    old = copy.deepcopy(trained("unigram"))
    old.add_tokens(["<one>", "<two>"])
    grown = extend_tokenizer(old, NEW, 30)
    assert grown.first == len(old)
    assert grown.tokenizer("<one>", add_special_tokens=False)["input_ids"][-1] == len(old) - 2
    ids = [number for line in NEW for number in grown.tokenizer(line)["input_ids"]]
    assert not {len(old) - 2, len(old) - 1} & set(ids) and max(ids) >= grown.first


@pytest.mark.parametrize("family", LISTED)
def test_every_family_takes_new_pieces(family: str, tiny: Any) -> None:
    model = tiny(family)
    before = sentence_states(model, SENTENCES[3:4]).collect()
    changed = extend_vocabulary(model, NEW, 40)
    told = extension_statistics(model, changed, NEW)
    assert changed.body.get_input_embeddings().weight.shape[0] >= max(changed.tokenizer.get_vocab().values()) + 1
    assert changed.body.config.vocab_size == changed.body.get_input_embeddings().weight.shape[0]
    after = sentence_states(changed, SENTENCES[3:4]).collect()
    if changed.tokenizer.tokenize(SENTENCES[3]) == model.tokenizer.tokenize(SENTENCES[3]):
        assert abs(before - after).max() == 0
    sentence_states(changed, NEW).collect()
    assert told.subwords_after < told.subwords_before or told.unknown_before > told.unknown_after
    assert told.unknown_after <= told.unknown_before


def with_head(family: str, folder: Path, tied: bool) -> LoadedModel:
    tokenizer: Any = tokenizer_of(family)
    auto: Any = AutoModelForCausalLM if family in CAUSAL else AutoModelForMaskedLM
    ids = {f"{m}_token_id": getattr(tokenizer, f"{m}_token_id") for m in ("bos", "eos", "pad", "cls", "sep")}
    ids = {name: number for name, number in ids.items() if number is not None}
    config = AutoConfig.for_model(family, **CONFIGS[family], vocab_size=len(tokenizer), tie_word_embeddings=tied, **ids)
    torch.manual_seed(3)
    network = auto.from_config(config)
    for table in token_tables(network):
        torch.nn.init.normal_(table)
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return load_model(folder, head="clm" if family in CAUSAL else "mlm", device="cpu")


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("family", ["bert", "xlm-roberta", "xlm-roberta-xl", "modernbert", *CAUSAL])
def test_heads_are_resized_and_read_back(family: str, tied: bool, tmp_path: Path) -> None:
    model = with_head(family, tmp_path / "old", tied)
    grown = extend_tokenizer(model.tokenizer, NEW, 40)
    changed = extend_vocabulary(model, NEW, 40)
    numbers, old = model.tokenizer.get_vocab(), token_tables(model.network)
    new = token_tables(changed.network)
    assert len(new) == len(old) == (1 if tied else 2) + (old[-1].ndim == 1)
    for before, after in zip(old, new, strict=True):
        assert after.shape[0] == grown.first + len(grown.parts)
        assert torch.equal(after[: grown.first], before[: grown.first])
        for row, parts in enumerate(grown.parts.values()):
            if parts:
                mean = before[[numbers[part] for part in parts]].mean(0)
                assert torch.allclose(after[grown.first + row], mean, atol=1e-6)
    changed.network.save_pretrained(tmp_path / "new")  # type: ignore[operator]
    changed.tokenizer.save_pretrained(tmp_path / "new")
    auto: Any = AutoModelForCausalLM if family in CAUSAL else AutoModelForMaskedLM
    again, told = auto.from_pretrained(tmp_path / "new", output_loading_info=True)
    assert not told["missing_keys"] and not told["unexpected_keys"] and not told["mismatched_keys"]
    ids = torch.tensor([AutoTokenizer.from_pretrained(tmp_path / "new")(NEW[2])["input_ids"]])
    assert ids.max() >= grown.first
    with torch.no_grad():
        assert torch.equal(again.eval()(input_ids=ids).logits, changed.network(input_ids=ids).logits)
        assert again(input_ids=ids).logits.shape[-1] == grown.first + len(grown.parts)


def test_our_own_networks_take_new_pieces(tmp_path: Path) -> None:
    model = load_model(build_scheme("normformer", False, tmp_path / "a"), head="mlm", device="cpu")
    changed = extend_vocabulary(model, NEW, 30)
    told = extension_statistics(model, changed, NEW)
    network: Any = changed.network
    network.save_pretrained(tmp_path / "b")
    changed.tokenizer.save_pretrained(tmp_path / "b")
    again = load_model(tmp_path / "b", head="mlm", device="cpu")
    ids = torch.tensor([changed.tokenizer(NEW[0])["input_ids"]])
    with torch.no_grad():
        logits = network(input_ids=ids).logits
        assert torch.equal(again.network(input_ids=ids).logits, logits)
    assert logits.shape[-1] == len(model.tokenizer) + len(told.pieces)


def test_a_model_without_its_head_gets_it_back(tmp_path: Path) -> None:
    folder = build_masked(tmp_path)
    changed = extend_vocabulary(load_model(folder, device="cpu"), NEW, 20)
    assert changed.network is not changed.body
    named = extend_vocabulary(folder, NEW, 20)
    assert all(torch.equal(a, b) for a, b in zip(named.network.parameters(), changed.network.parameters(), strict=True))


def test_the_model_handed_in_is_not_changed(tiny: Any) -> None:
    model = tiny("bert")
    before = {name: tensor.clone() for name, tensor in model.body.state_dict().items()}
    size, cut = len(model.tokenizer), model.tokenizer.tokenize(NEW[0])
    extend_vocabulary(model, NEW, 20)
    assert len(model.tokenizer) == size and model.tokenizer.tokenize(NEW[0]) == cut
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.body.state_dict().items())


def test_random_vectors_follow_those_that_are_there(tmp_path: Path) -> None:
    model = with_head("bert", tmp_path, tied=True)
    table = token_tables(model.network)[0]
    with torch.no_grad():
        table.mul_(torch.linspace(0.1, 2, 16)).add_(torch.linspace(-3, 3, 16))
    first, second = (extend_vocabulary(model, NEW, 60, initial="random", seed=seed) for seed in (1, 2))
    rows = token_tables(first.network)[0][len(model.tokenizer) :]
    assert torch.allclose(rows.mean(0), table.mean(0), atol=1.0) and not torch.allclose(
        rows.mean(0), torch.zeros(16), atol=1.0
    )
    assert 0.5 < float((rows.std(0) / table.std(0)).mean().detach()) < 1.5
    again = extend_vocabulary(model, NEW, 60, initial="random", seed=1)
    assert torch.equal(token_tables(again.network)[0], token_tables(first.network)[0])
    assert not torch.equal(token_tables(second.network)[0], token_tables(first.network)[0])


def test_vectors_from_a_lexicon(tmp_path: Path) -> None:
    model = with_head("bert", tmp_path, tied=True)
    lexicon = [Entry("cat", "qarğa"), Entry("the mat", "лес"), Entry("the", "лес")]
    changed = extend_vocabulary(model, NEW, 60, initial="lexicon", lexicon=lexicon)
    table, old = token_tables(changed.network)[0], token_tables(model.network)[0]
    (piece,) = changed.tokenizer("лес", add_special_tokens=False)["input_ids"]
    assert piece >= len(model.tokenizer)
    sources = [n for words in ("the mat", "the") for n in model.tokenizer(words, add_special_tokens=False)["input_ids"]]
    assert torch.allclose(table[piece], old[sources].mean(0), atol=1e-6)
    plain = extend_vocabulary(model, NEW, 60)
    (other,) = changed.tokenizer("поле", add_special_tokens=False)["input_ids"]  # not in the lexicon
    assert torch.equal(table[other], token_tables(plain.network)[0][other])


def test_wrong_arguments_are_told(tiny: Any) -> None:
    model = tiny("bert")
    with pytest.raises(UsageError, match="whole number of new sub-words"):
        extend_vocabulary(model, NEW, 0)
    with pytest.raises(UsageError, match="one string"):
        extend_vocabulary(model, "text", 5)
    with pytest.raises(UnknownName, match="did you mean 'random'"):
        extend_vocabulary(model, NEW, 5, initial="randon")
    with pytest.raises(UsageError, match="must be passed together"):
        extend_vocabulary(model, NEW, 5, initial="lexicon")
    with pytest.raises(UsageError, match="no text"):
        extend_vocabulary(model, [], 5)
    with pytest.raises(UsageError, match="every frequent word of the text is already one piece"):
        extend_vocabulary(model, ["x"], 5)


@pytest.mark.parametrize("kind", KINDS)
def test_real_text_of_unseen_languages(kind: str) -> None:
    """Uyghur and Maltese: new pieces are used, and English words stay as they were, but for a few that are joined."""

    def lines(lang: str, number: int) -> list[str]:
        with lzma.open(shared(f"data/raw/{lang}.txt.xz"), "rt", encoding="utf-8") as file:
            return [line.strip() for line in islice(file, number) if line.strip()]

    english = lines("en", 1000)
    old = train_tokenizer(english[:900], kind, 3000)
    words = [word for line in english[900:] for word in line.split()]
    for lang in ("ug", "mt"):
        text = lines(lang, 400)
        grown = extend_tokenizer(old, text[:300], 300)
        ids = [n for line in text[300:] for n in grown.tokenizer(line, add_special_tokens=False)["input_ids"]]
        assert sum(n >= grown.first for n in ids) / len(ids) > 0.25
        assert sum(n == old.unk_token_id for n in ids) / len(ids) < 0.01
        changed = sum(old.tokenize(word) != grown.tokenizer.tokenize(word) for word in words) / len(words)
        assert changed < (0.01 if lang == "ug" else 0.12)
