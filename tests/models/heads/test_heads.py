"""Heads: the model library's own class where it has the very body, ours elsewhere; always a copy."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from tiny_models import CONFIGS, SENTENCES, build, build_masked

from isogloss.core.errors import UnknownName
from isogloss.models.heads.task_head import WithHead, with_head
from isogloss.models.loading.load import load_model
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.encoding import encode_sentences, padding_id
from isogloss.training.engine.identity import model_identity

Tiny = Callable[[str], LoadedModel]
KINDS = ["token", "sequence", "span"]
AUTO = {
    "token": transformers.AutoModelForTokenClassification,
    "sequence": transformers.AutoModelForSequenceClassification,
    "span": transformers.AutoModelForQuestionAnswering,
}
OURS = {("mt5", "sequence"), ("mt5", "span"), ("gemma3_text", "token"), ("gemma3_text", "span")}
OURS |= {(family, kind) for family in ("xglm", "bart") for kind in KINDS}


def inputs(model: LoadedModel) -> dict[str, torch.Tensor]:
    texts = encode_sentences(model, SENTENCES[:4])
    ids = torch.nn.utils.rnn.pad_sequence(
        [torch.tensor(text.ids.tolist()) for text in texts], batch_first=True, padding_value=padding_id(model)
    )
    lengths = torch.tensor([len(text) for text in texts])
    return {"input_ids": ids, "attention_mask": (torch.arange(ids.shape[1]) < lengths[:, None]).long()}


def answer(network: Any, model: LoadedModel, kind: str) -> torch.Tensor:
    with torch.no_grad():
        output = network.eval()(**inputs(model))
    return torch.stack([output.start_logits, output.end_logits], -1) if kind == "span" else output.logits


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", CONFIGS)
def test_the_body_is_inside_and_is_a_copy(tiny: Tiny, family: str, kind: Any) -> None:
    model = tiny(family)
    network: Any = with_head(model, kind)
    body = network.body if isinstance(network, WithHead) else network.base_model
    assert isinstance(network, WithHead) == ((family, kind) in OURS)
    own = {name: value for name, value in body.state_dict().items() if not name.startswith("pooler.")}
    assert own.keys() == model.body.state_dict().keys()
    for name, value in model.body.state_dict().items():
        assert torch.equal(own[name], value)
        assert own[name].data_ptr() != value.data_ptr(), "a copy"
    batch = inputs(model)
    with torch.no_grad():
        expected = model.body(**batch).last_hidden_state
        got = body.eval()(**batch).last_hidden_state
    mask = batch["attention_mask"].bool()
    torch.testing.assert_close(got[mask], expected[mask], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", ["bert", "xlm-roberta", "modernbert", "llama", "qwen2", "gemma3_text", "mt5"])
def test_what_is_saved_loads_as_the_librarys_own_class(tiny: Tiny, family: str, kind: Any, tmp_path: Path) -> None:
    if (family, kind) in OURS:
        pytest.skip("the library has no such class over this body")
    model = tiny(family)
    labels = ("start", "end") if kind == "span" else ("no", "yes", "maybe")
    network: Any = with_head(model, kind, labels)
    network.save_pretrained(tmp_path)
    again, told = AUTO[kind].from_pretrained(tmp_path, output_loading_info=True)
    assert not told["missing_keys"]
    assert again.config.id2label == dict(enumerate(labels))
    assert again.config.label2id == {label: number for number, label in enumerate(labels)}
    assert torch.equal(answer(again, model, kind), answer(network, model, kind))


@pytest.mark.parametrize("family", ["bert", "xglm", "mt5", "llama", "qwen2", "gemma3_text", "bart", "gpt_neox"])
def test_a_label_does_not_hang_on_padding(tiny: Tiny, family: str) -> None:
    model = tiny(family)
    network = with_head(model, "sequence", ("a", "b", "c")).eval()
    batch = inputs(model)
    with torch.no_grad():
        together = network(**batch).logits
        for row, length in enumerate(batch["attention_mask"].sum(1).tolist()):
            alone = network(**{name: value[row : row + 1, :length] for name, value in batch.items()}).logits
            torch.testing.assert_close(alone[0], together[row], rtol=1e-3, atol=1e-4)
    assert together.shape == (4, 3)
    assert together.std(0).min() > 1e-4, "texts differ, or this shows nothing"


def test_our_heads_read_the_token_they_say(tiny: Tiny) -> None:
    """A causal model's label comes from its last token, that of a model without a first special one from all."""
    for family, pooling in (("xglm", "last"), ("bart", "first"), ("mt5", "mean")):
        model = tiny(family)
        network: Any = with_head(model, "sequence", ("a", "b")).eval()
        assert network.pooling == pooling
        batch = inputs(model)
        with torch.no_grad():
            states = model.body(**batch).last_hidden_state
            got = network(**batch).logits
        for row, length in enumerate(batch["attention_mask"].sum(1).tolist()):
            own = states[row, :length]
            vector = {"last": own[-1], "first": own[0], "mean": own.mean(0)}[pooling]
            torch.testing.assert_close(got[row], network.classifier(vector), rtol=1e-3, atol=1e-4)


def test_a_body_with_added_parts_keeps_them(tiny: Tiny) -> None:
    model = tiny("bert")
    body = copy.deepcopy(model.body)
    body.added = torch.nn.Linear(2, 2)
    network: Any = with_head(replace(model, body=body), "token")
    assert isinstance(network, WithHead)
    assert torch.equal(network.body.added.weight, body.added.weight)


@pytest.mark.parametrize("kind_of_files", ["body", "pretraining"])
def test_the_pooler_of_the_files_is_in_the_classifier(kind_of_files: str, tmp_path: Path) -> None:
    """As the library's own class reads it, from a bare body and from a network that was trained with its heads."""
    build("bert", tmp_path)
    if kind_of_files == "pretraining":
        transformers.BertForPreTraining(transformers.AutoConfig.from_pretrained(tmp_path)).save_pretrained(tmp_path)
    model = load_model(tmp_path, device="cpu")
    network: Any = with_head(model, "sequence", ("a", "b", "c"))
    own = AUTO["sequence"].from_pretrained(tmp_path, num_labels=3)
    expected = {name: value for name, value in own.base_model.state_dict().items() if name.startswith("pooler.")}
    assert (
        set(expected) == {"pooler.dense.weight", "pooler.dense.bias"} and not model.body.state_dict().keys() & expected
    )
    for name, value in expected.items():
        assert torch.equal(network.base_model.state_dict()[name], value)
        assert network.base_model.state_dict()[name].data_ptr() != model.pooler[name].data_ptr(), "a copy"
    own.classifier.load_state_dict(network.classifier.state_dict())
    assert torch.equal(answer(network, model, "sequence"), answer(own, model, "sequence"))


def test_a_pooler_that_is_not_in_the_files_is_drawn_with_the_head(tmp_path: Path) -> None:
    before = torch.random.get_rng_state()
    model = load_model(build_masked(tmp_path), device="cpu")
    assert torch.equal(torch.random.get_rng_state(), before) and not model.pooler
    drawn = [drawn_pooler(model, seed) for seed in (1, 1, 2)]
    assert torch.equal(drawn[0], drawn[1]) and not torch.equal(drawn[0], drawn[2])
    assert drawn[0].std().item() == pytest.approx(0.3, rel=0.2), "as the model's own layers"


def drawn_pooler(model: LoadedModel, seed: int) -> torch.Tensor:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network: Any = with_head(model, "sequence", ("a", "b"))
    weight: torch.Tensor = network.base_model.pooler.dense.weight
    return weight


def test_models_that_differ_in_the_pooler_alone_are_two(tiny: Tiny) -> None:
    model = tiny("bert")
    assert model_identity(replace(model, pooler={})) != model_identity(model)


def test_a_family_without_pooler_keeps_its_own_head(tiny: Tiny) -> None:
    """XLM-R classifies by a head of its own, whatever lies in its files."""
    model = tiny("xlm-roberta")
    network: Any = with_head(model, "sequence", ("a", "b"))
    assert model.pooler and network.base_model.pooler is None
    assert type(network.classifier).__name__ == "XLMRobertaClassificationHead"


def test_a_body_with_its_pooler_inside_brings_it(tiny: Tiny) -> None:
    model = tiny("bert")
    body = transformers.BertModel(model.body.config)
    network: Any = with_head(replace(model, body=body, pooler={}), "sequence", ("a", "b"))
    assert torch.equal(network.base_model.pooler.dense.weight, body.pooler.dense.weight)


def test_a_wrong_kind_is_refused(tiny: Tiny) -> None:
    with pytest.raises(UnknownName, match="did you mean 'token'"):
        with_head(tiny("bert"), "tokens")  # type: ignore[arg-type]
