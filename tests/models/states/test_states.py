"""Pooled states of every family against one sentence at a time through the model library itself."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_data import shared
from tiny_models import CONFIGS, SENTENCES, build

from isogloss.core.errors import InputError, UnknownName, UsageError
from isogloss.models.loading.load import load_model
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.states.hidden_states import sentence_states, word_states

PRE_LN = {  # where the library keeps the last block and the norm after it; other families have no such norm
    "xlm-roberta-xl": lambda body: (body.encoder.layer[-1], body.encoder.LayerNorm),
    "xglm": lambda body: (body.layers[-1], body.layer_norm),
    "mt5": lambda body: (body.encoder.block[-1], body.encoder.final_layer_norm),
    "modernbert": lambda body: (body.layers[-1], body.final_norm),
    "llama": lambda body: (body.layers[-1], body.norm),
    "qwen2": lambda body: (body.layers[-1], body.norm),
    "gemma3_text": lambda body: (body.layers[-1], body.norm),
    "gpt_neox": lambda body: (body.layers[-1], body.final_layer_norm),
    "isogloss": lambda body: (body.layers[-1], body.final_norm),
}
STARTS = {"bert": 1, "xlm-roberta": 1, "xlm-roberta-xl": 1, "xglm": 1, "mt5": 0, "modernbert": 1, "llama": 1}
STARTS |= {"qwen2": 0, "gemma3_text": 1, "gpt_neox": 0, "distilbert": 1, "bart": 1, "isogloss": 1}
ENDS = {"bert": 1, "xlm-roberta": 1, "xlm-roberta-xl": 1, "mt5": 1, "modernbert": 1, "distilbert": 1, "bart": 1}
ENDS |= {"isogloss": 1}
HAS_CLS = ["bert", "xlm-roberta", "xlm-roberta-xl", "modernbert", "distilbert", "bart", "isogloss"]

Tiny = Callable[[str], LoadedModel]


def ids_of(family: str, tokenizer: transformers.PreTrainedTokenizerBase, text: str) -> list[int]:
    ids: list[int] = tokenizer(text)["input_ids"]
    return [tokenizer.bos_token_id, *ids] if family == "gemma3_text" else ids


def library_body(family: str, folder: str) -> torch.nn.Module:
    if family == "mt5":
        return transformers.MT5EncoderModel.from_pretrained(folder).eval()
    body = transformers.AutoModel.from_pretrained(folder).eval()
    return body.get_encoder() if family == "bart" else body


def token_states(family: str, body: torch.nn.Module, ids: list[int]) -> np.ndarray:
    """States of one unpadded sentence, `[layer, token, unit]`, raw; for pre-LN families "final" comes last."""
    with torch.no_grad():
        if family not in PRE_LN:
            states = body(input_ids=torch.tensor([ids]), output_hidden_states=True).hidden_states
        else:
            raw: list[torch.Tensor] = []
            block, norm = PRE_LN[family](body)
            with block.register_forward_hook(lambda _m, _a, out: raw.append(out[0] if isinstance(out, tuple) else out)):
                states = body(input_ids=torch.tensor([ids]), output_hidden_states=True).hidden_states
            assert torch.allclose(norm(raw[0]), states[-1])
            states = (*states[:-1], raw[0], states[-1])
    return torch.stack(states)[:, 0].numpy()


@pytest.fixture(scope="module")
def expected(tiny: Tiny) -> Callable[[str], list[np.ndarray]]:
    @cache
    def states(family: str) -> list[np.ndarray]:
        model = tiny(family)
        body = library_body(family, model.name)
        return [token_states(family, body, ids_of(family, model.tokenizer, text)) for text in SENTENCES]

    return states


def pooled(states: np.ndarray, family: str, pool: str, specials: bool) -> np.ndarray:
    text = states if specials else states[:, STARTS[family] : states.shape[1] - ENDS.get(family, 0)]
    if pool == "cls":
        return states[:, 0]
    return text[:, -1] if pool == "last" else getattr(text, pool)(axis=1)


@pytest.mark.parametrize("family", CONFIGS)
@pytest.mark.parametrize("specials", [False, True])
@pytest.mark.parametrize("pool", ["mean", "max", "last", "cls"])
def test_sentence_states_equal_one_sentence_at_a_time(
    tiny: Tiny, expected: Callable[[str], list[np.ndarray]], family: str, pool: str, specials: bool
) -> None:
    model = tiny(family)
    if pool == "cls" and family not in HAS_CLS:
        with pytest.raises(UsageError, match="no 'cls' vector"):
            sentence_states(model, SENTENCES, pool="cls")
        return
    want = np.stack([pooled(states, family, pool, specials) for states in expected(family)], axis=1)
    # how sentences are batched has to do with padding alone: all ways for one kind of pooling, the worst for the others
    for budget in (1, 40, 100, 10_000) if (pool, specials) == ("mean", False) else (10_000,):
        states = sentence_states(
            model, SENTENCES, pool=pool, specials=specials, layers=model.layer_names, budget=budget
        )
        assert states.shape == want.shape
        np.testing.assert_allclose(states.collect(), want, rtol=1e-4, atol=2e-5, err_msg=f"budget {budget}")


@pytest.mark.parametrize("family", CONFIGS)
def test_word_states_equal_the_tokens_of_the_joined_words(
    tiny: Tiny, expected: Callable[[str], list[np.ndarray]], family: str
) -> None:
    model = tiny(family)
    sentences = [text.split(" ") for text in SENTENCES]
    results = {
        subword: word_states(model, sentences, subword=subword, layers=model.layer_names, budget=60).collect()
        for subword in ("mean", "first", "last")
    }
    for number, (words, states) in enumerate(zip(sentences, expected(family), strict=True)):
        spans = spans_of(words, model.tokenizer, SENTENCES[number], STARTS[family])
        for w, span in enumerate(spans):
            for subword, want in (
                ("mean", states[:, span].mean(axis=1)),
                ("first", states[:, span[0]]),
                ("last", states[:, span[-1]]),
            ):
                np.testing.assert_allclose(results[subword][number][:, w], want, rtol=1e-4, atol=2e-5)


def test_copies_of_a_sentence_get_the_same_vector_wherever_they_stand(tmp_path: Path) -> None:
    """To the last digit, though they would be in different batches; the model runs once for each sentence."""
    model = load_model(build("bert", tmp_path))
    texts = [*SENTENCES, *SENTENCES[::-1], SENTENCES[0]]
    done = []
    states = sentence_states(model, texts, budget=1, progress=lambda count, total: done.append((count, total)))
    vectors = states.collect()
    alone = sentence_states(model, SENTENCES, budget=1).collect()
    np.testing.assert_array_equal(vectors[:, : len(SENTENCES)], alone)
    np.testing.assert_array_equal(vectors[:, len(SENTENCES) : -1], alone[:, ::-1])
    np.testing.assert_array_equal(vectors[:, -1], alone[:, 0])
    assert done[-1] == (len(SENTENCES), len(SENTENCES))


def spans_of(
    words: list[str], tokenizer: transformers.PreTrainedTokenizerBase, text: str, start: int
) -> list[list[int]]:
    """Tokens of each word by counting: how many tokens the text has up to the end of each word.

    It holds for tokenizers whose tokens never cross a space, as all of these; a word's own space is its own.
    """
    ends = [len(tokenizer(" ".join(words[: n + 1]), add_special_tokens=False)["input_ids"]) for n in range(len(words))]
    assert ends[-1] == len(tokenizer(text, add_special_tokens=False)["input_ids"])
    return [list(range(start + low, start + high)) for low, high in zip([0, *ends], ends)]


def test_layers_may_be_chosen_in_any_order(tiny: Tiny) -> None:
    model = tiny("llama")
    whole = sentence_states(model, SENTENCES, layers=model.layer_names).collect()
    some = sentence_states(model, SENTENCES, layers=["final", 1, 0]).collect()
    np.testing.assert_array_equal(some, whole[[-1, 1, 0]])
    assert sentence_states(model, SENTENCES).layers == (0, 1, 2, 3)
    assert np.abs(whole[-1] - whole[-2]).max() > 0.1, "final is not the raw last layer"


def test_post_ln_models_have_no_final_layer(tiny: Tiny) -> None:
    with pytest.raises(UsageError, match="no final norm: its layer 3"):
        sentence_states(tiny("bert"), SENTENCES, layers=["final"])
    with pytest.raises(UsageError, match="layers 0 … 3, not 4"):
        sentence_states(tiny("bert"), SENTENCES, layers=[4])


def test_wrong_arguments_say_what_is_known(tiny: Tiny) -> None:
    model = tiny("bert")
    with pytest.raises(UnknownName, match="did you mean 'mean'"):
        sentence_states(model, SENTENCES, pool="men")
    with pytest.raises(UnknownName, match="known: mean, first, last"):
        word_states(model, [["a"]], subword="all")
    with pytest.raises(UsageError, match="put it in a list"):
        sentence_states(model, "one sentence")
    with pytest.raises(UsageError, match="split it first"):
        word_states(model, ["one sentence"])
    with pytest.raises(UsageError, match="sentence 1: expected a string, got int"):
        sentence_states(model, ["a", 3])  # type: ignore[list-item]
    with pytest.raises(UsageError, match="lone surrogate"):
        sentence_states(model, ["a", "b\ud800"])
    with pytest.raises(UsageError, match="at least 1 token"):
        sentence_states(model, ["a"], budget=0)


def test_a_sentence_without_tokens_is_named(tiny: Tiny) -> None:
    for family in ("bert", "qwen2"):
        with pytest.raises(UsageError, match="sentence 1 has no token"):
            sentence_states(tiny(family), ["a", ""])
    assert sentence_states(tiny("bert"), ["a", ""], specials=True).collect().shape == (4, 2, 16)
    assert sentence_states(tiny("bert"), ["a", ""], pool="cls").collect().shape == (4, 2, 16)


def test_no_sentences_give_no_rows(tiny: Tiny) -> None:
    assert sentence_states(tiny("bert"), []).collect().shape == (4, 0, 16)
    assert word_states(tiny("bert"), []).collect() == []


def test_words_without_subwords_are_told_apart(tiny: Tiny) -> None:
    for family in ("bert", "llama", "qwen2", "xlm-roberta"):
        sentences = [["cat", "", "mat"], [], [""], ["the"]]
        states = word_states(tiny(family), sentences)
        assert states.present[0][0::2].all()
        assert states.present[3].tolist() == [True]
        got = states.collect()
        assert [vectors.shape[1] for vectors in got] == [3, 0, 1, 1]
        for vectors, present in zip(got, states.present, strict=True):
            assert (np.abs(vectors).max(axis=(0, 2)) > 0).tolist() == present.tolist()


def test_long_sentences_are_cut_and_counted(tiny: Tiny) -> None:
    model = tiny("bert")
    long = " ".join(["cat"] * 400)
    with pytest.warns(UserWarning, match="2 of 3 sentences truncated to 160 tokens"):
        states = sentence_states(model, [long, "cat", long])
    assert max(len(text) for text in states.encoded) == 160
    ids = model.tokenizer(long, truncation=True, max_length=160)["input_ids"]
    assert states.encoded[0].ids.tolist() == ids
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole = sentence_states(model, ["cat"]).collect()
    np.testing.assert_allclose(states.collect()[:, 1], whole[:, 0], rtol=1e-5, atol=1e-6)


def test_words_beyond_the_cut_are_absent(tiny: Tiny) -> None:
    for family, room in (("bert", 158), ("xlm-roberta", 156 // 2)):  # one token a word, and two: ▁c at
        with pytest.warns(UserWarning, match="1 of 1 sentences truncated"):
            states = word_states(tiny(family), [["cat"] * 400])
        assert states.present[0].sum() == room
        assert not states.present[0][room:].any()
        assert states.collect()[0].shape == (4, 400, 16)


def test_states_that_are_no_numbers_name_layer_and_sentence(folder: Callable) -> None:
    model = load_model(folder("bert"), device="cpu")
    row = model.tokenizer.convert_tokens_to_ids("x")
    clean = [text for text in SENTENCES if "x" not in text]
    sentences = [*clean[:4], "x", *clean[4:]]
    with torch.no_grad():
        model.body.get_input_embeddings().weight[row, 0] = float("nan")  # type: ignore[operator]
    with pytest.raises(InputError, match=r"NaN or infinity in layer 0 of sentence 4\b.*float32"):
        sentence_states(model, sentences).collect()
    with pytest.raises(InputError, match=r"layer 2 of sentence 4\b"):
        list(word_states(model, [text.split() for text in sentences], layers=[2]))
    sentence_states(model, clean).collect()


def test_infinite_states_are_found_out(folder: Callable) -> None:
    model = load_model(folder("llama"), device="cpu")
    with torch.no_grad():
        model.blocks[2].mlp.down_proj.weight[3, :] = 3e38  # type: ignore[union-attr,index]
    with pytest.raises(InputError, match=r"NaN or infinity in layer 3 of sentence \d"):
        sentence_states(model, SENTENCES, pool="max").collect()
    sentence_states(model, SENTENCES, pool="max", layers=[0, 1, 2]).collect()


def test_progress_counts_every_sentence(tiny: Tiny) -> None:
    seen: list[tuple[int, int]] = []
    sentence_states(
        tiny("bert"), SENTENCES, budget=40, progress=lambda done, total: seen.append((done, total))
    ).collect()
    assert seen[-1] == (len(SENTENCES), len(SENTENCES))
    assert len(seen) > 3
    assert seen == sorted(seen)


def test_a_model_in_training_is_measured_without_dropout_and_left_as_it_was(folder: Callable, tiny: Tiny) -> None:
    model = load_model(folder("bert"), device="cpu")
    model.body.train()
    got = sentence_states(model, SENTENCES).collect()
    assert model.body.training
    np.testing.assert_array_equal(got, sentence_states(tiny("bert"), SENTENCES).collect())
    assert not [hook for module in model.body.modules() for hook in module._forward_hooks]


def test_half_precision_is_pooled_in_single(folder: Callable) -> None:
    model = load_model(folder("bert"), device="cpu", dtype="bfloat16")
    long = " ".join(["cat sat on the mat"] * 10)
    got = sentence_states(model, [long]).collect()
    ids = torch.tensor([model.tokenizer(long)["input_ids"]])
    with torch.no_grad():
        output = model.body(ids, attention_mask=torch.ones_like(ids), output_hidden_states=True)
    states = torch.stack(output.hidden_states)[:, 0, 1:-1]
    assert got.dtype == np.float32
    np.testing.assert_allclose(got[:, 0], states.double().mean(1).numpy(), rtol=1e-4, atol=1e-5)


@settings(max_examples=15)
@given(
    st.lists(st.text(st.sampled_from("abc dé我▁ \t."), min_size=0, max_size=30).map(lambda t: "x" + t), max_size=8),
    st.integers(1, 200),
    st.sampled_from(["bert", "modernbert", "gemma3_text", "mt5"]),
)
def test_no_batch_size_changes_a_result(tiny: Tiny, sentences: list[str], budget: int, family: str) -> None:
    model = tiny(family)
    one = sentence_states(model, sentences, budget=1).collect()
    np.testing.assert_allclose(sentence_states(model, sentences, budget=budget).collect(), one, rtol=1e-4, atol=2e-5)


def test_a_real_encoder_at_real_size() -> None:
    model = load_model(shared("models/mini-mlm-11"), device="cpu")
    assert (model.layers, model.hidden_size, model.max_length) == (12, 384, 512)
    got = sentence_states(model, SENTENCES).collect()
    library = transformers.AutoModel.from_pretrained(model.name, dtype=torch.float32)
    for number in (2, 6):
        ids = torch.tensor([model.tokenizer(SENTENCES[number])["input_ids"]])
        with torch.no_grad():
            states = torch.stack(library(ids, output_hidden_states=True).hidden_states)[:, 0, 1:-1].mean(1)
        np.testing.assert_allclose(got[:, number], states.numpy(), rtol=1e-4, atol=2e-5)


@pytest.mark.gpu
@pytest.mark.parametrize("family", ["bert", "modernbert", "gemma3_text", "mt5"])
def test_a_gpu_gives_the_same_states(tiny: Tiny, folder: Callable, family: str) -> None:
    model = load_model(folder(family), device="cuda")
    for budget in (40, 10_000):
        for pool in ("mean", "max", "last"):
            got = sentence_states(model, SENTENCES * 20, pool=pool, layers=model.layer_names, budget=budget).collect()
            want = sentence_states(tiny(family), SENTENCES, pool=pool, layers=model.layer_names).collect()
            np.testing.assert_allclose(got, np.tile(want, (1, 20, 1)), rtol=1e-3, atol=1e-4)
