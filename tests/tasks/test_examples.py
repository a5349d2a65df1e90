"""Batches that are padded beyond need: no loss and no gradient may show it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import isogloss as ig
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.encoding import padding_id
from isogloss.tasks import TASKS
from isogloss.tasks.examples import IGNORE_INDEX, Example, ExampleSizes, Shape, collate

ARRAYS = st.lists(st.integers(0, 9), min_size=0, max_size=5)


@st.composite
def examples(draw: Any) -> Example:
    windows = draw(st.lists(st.lists(st.integers(1, 50), min_size=1, max_size=6), min_size=1, max_size=3))
    arrays = {"tags": np.array(draw(ARRAYS), dtype=np.int64), "heads": np.array(draw(ARRAYS), dtype=np.int64)}
    return Example(tuple(np.array(window, dtype=np.int32) for window in windows), arrays=arrays)


@given(st.lists(examples(), min_size=1, max_size=4), st.integers(0, 3), st.integers(0, 3))
@settings(max_examples=80)
def test_a_larger_shape_holds_the_same_and_padding(items: list[Example], more: int, longer: int) -> None:
    plain = collate(items, pad_token_id=0)
    least = ExampleSizes(items).shape(np.arange(len(items)))
    assert plain.input_ids.shape == plain.attention_mask.shape == (least.rows, least.length)
    widths = tuple(width + longer for width in least.widths)
    shape = Shape(least.length + longer, least.rows + more, least.examples + more, widths)
    large = collate(items, 0, shape)
    assert large.input_ids.shape == (shape.rows, shape.length)
    assert torch.equal(large.input_ids[: least.rows, : least.length], plain.input_ids)
    assert torch.equal(large.attention_mask[: least.rows, : least.length], plain.attention_mask)
    assert torch.equal(large.first_row[: len(items)], plain.first_row)
    for name, width in zip(plain.arrays, widths, strict=True):
        assert large.arrays[name].shape == (shape.examples, width)
        assert torch.equal(large.arrays[name][: len(items), : width - longer], plain.arrays[name])
        assert (large.arrays[name][len(items) :] == IGNORE_INDEX).all()
        assert (large.arrays[name][:, width - longer :] == IGNORE_INDEX).all()
    assert large.attention_mask.sum() == plain.attention_mask.sum() + more
    assert (large.attention_mask.sum(1) > 0).all(), "attention over nothing is no number"


@pytest.mark.parametrize("name", TASKS)
@settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(more=st.integers(0, 3), longer=st.integers(0, 9))
def test_padding_shows_in_no_loss_and_no_gradient(
    tiny: Callable[[str], LoadedModel], name: str, more: int, longer: int
) -> None:
    model, task, lab = tiny("bert"), TASKS[name], ig.Laboratory(seed=0)
    source = {"treebank": lab.treebank, "ner": lab.ner, "nli": lab.nli, "qa": lab.qa}[task.corpus]
    corpus = source("qla", "train", 5)
    labels = task.labels(corpus)
    torch.manual_seed(0)
    network = task.network(model, labels).eval()
    items = task.encode(model, corpus, labels)
    least = ExampleSizes(items).shape(np.arange(len(items)))
    length = min(least.length + longer, model.max_length)
    widths = tuple(width + (name != "nli") * longer for width in least.widths)
    shape = Shape(length, least.rows + more, least.examples + more, widths)
    found = []
    for chosen in (None, shape):
        network.zero_grad()
        loss = task.loss(network, collate(items, padding_id(model), chosen))
        loss.backward()
        gradients = [p.grad.flatten() for p in network.parameters() if p.grad is not None]
        found.append((loss.detach(), torch.cat(gradients)))
    torch.testing.assert_close(found[0][0], found[1][0], rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(found[0][1], found[1][1], rtol=1e-3, atol=2e-5)
