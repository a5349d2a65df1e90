from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import nn
from toy import treebank

from isogloss.core.errors import UsageError
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.tasks import TASKS
from isogloss.tasks.examples import Batch
from isogloss.tasks.task import Labels
from isogloss.training.finetuning.evaluation import allow_tf32, evaluate, predict

POS = TASKS["pos"]
LABELS = POS.labels(treebank(50))
CORPORA = {"fr": treebank(13, "fr"), "ru": treebank(7, "ru", longest=30), "en": treebank(1)}


@pytest.fixture(scope="module")
def network(bert: LoadedModel) -> nn.Module:
    torch.manual_seed(5)
    return POS.network(bert, LABELS)


def test_one_pass_over_all_is_the_same_as_one_by_one(bert: LoadedModel, network: nn.Module) -> None:
    together = evaluate(network, POS, bert, CORPORA, LABELS)
    assert list(together) == ["fr", "ru", "en"]
    for name, corpus in CORPORA.items():
        alone = evaluate(network, POS, bert, {name: corpus}, LABELS, tokens=1)[name]
        assert together[name] == alone
        right = [
            tag == gold
            for tags, tree in zip(alone.predictions, corpus, strict=True)
            for tag, gold in zip(tags, tree.upos, strict=True)
        ]
        assert alone.scores == {"accuracy": sum(right) / len(right)}
        assert len(alone.counts["accuracy"]) == len(alone.gold) == len(corpus)


@pytest.mark.parametrize("tokens", [1, 37, 500, 100_000])
def test_the_size_of_batches_does_not_show(bert: LoadedModel, network: nn.Module, tokens: int) -> None:
    examples = POS.encode(bert, CORPORA["ru"], LABELS)
    seen: list[tuple[int, int]] = []
    found = predict(network, POS, bert, examples, LABELS, tokens=tokens, progress=lambda *at: seen.append(at))
    assert found == predict(network, POS, bert, examples, LABELS)
    assert seen[-1] == (7, 7)


@pytest.mark.parametrize("training", [True, False])
def test_the_network_keeps_its_mode_and_dropout_is_off(bert: LoadedModel, network: nn.Module, training: bool) -> None:
    network.train(training)
    first = evaluate(network, POS, bert, CORPORA, LABELS)
    assert network.training is training
    assert evaluate(network, POS, bert, CORPORA, LABELS) == first


def test_annotation_is_not_needed_to_predict_but_to_score(bert: LoadedModel, network: nn.Module) -> None:
    bare = CORPORA["fr"].with_items(tree.with_nodes(upos=["_"] * len(tree.words)) for tree in CORPORA["fr"])
    examples = [POS.encode(bert, corpus, LABELS) for corpus in (bare, CORPORA["fr"])]
    assert predict(network, POS, bert, examples[0], LABELS) == predict(network, POS, bert, examples[1], LABELS)
    with pytest.raises(UsageError, match="no UPOS tags"):
        evaluate(network, POS, bert, {"fr": bare}, LABELS)


def test_an_empty_corpus_is_an_error(bert: LoadedModel, network: nn.Module) -> None:
    with pytest.raises(UsageError, match="'fr' is empty"):
        evaluate(network, POS, bert, {"fr": treebank(0)}, LABELS)


def test_products_of_less_precision_are_for_gpus_and_for_the_time_being() -> None:
    before = torch.get_float32_matmul_precision()
    with allow_tf32(torch.device("cpu")):
        assert torch.get_float32_matmul_precision() == before
    with allow_tf32(torch.device("cuda")):
        assert torch.get_float32_matmul_precision() == "high"
    assert torch.get_float32_matmul_precision() == before


def test_what_does_not_fit_is_read_in_halves(bert: LoadedModel, network: nn.Module) -> None:
    sizes = []

    def narrow(network: nn.Module, batch: Batch, labels: Labels) -> list[list[str]]:
        sizes.append(len(batch))
        if len(batch) > 3:
            raise torch.OutOfMemoryError("no room")
        return POS.predict(network, batch, labels)

    corpus = CORPORA["fr"]
    examples = POS.encode(bert, corpus, LABELS)
    found = predict(network, replace(POS, predict=narrow), bert, examples, LABELS, tokens=10_000)
    assert found == predict(network, POS, bert, examples, LABELS)
    assert max(sizes) > 3
    assert sum(size for size in sizes if size <= 3) == len(corpus)

    def never(*_: object) -> list[list[str]]:
        raise torch.OutOfMemoryError("no room")

    with pytest.raises(torch.OutOfMemoryError, match="no room"):
        predict(network, replace(POS, predict=never), bert, examples, LABELS)
