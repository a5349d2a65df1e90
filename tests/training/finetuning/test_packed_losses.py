"""Losses and gradients of packed rows are those of padded rows, for every task."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from test_finetune import corpus_for
from toy import without_dropout

from isogloss.models.heads.task_head import body_of
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.states.packing import packed_body
from isogloss.models.tokenization.encoding import padding_id
from isogloss.tasks import TASKS
from isogloss.tasks.examples import ExampleSizes, collate


@pytest.mark.parametrize("stack", [1, 2])
@pytest.mark.parametrize("name", TASKS)
def test_losses_and_gradients_are_those_of_padded_rows(bert: LoadedModel, name: str, stack: int) -> None:
    task, corpus = TASKS[name], corpus_for(TASKS[name].corpus)
    labels = task.labels(corpus)
    examples = task.encode(bert, corpus, labels)
    shape = ExampleSizes(examples, 64).shape(np.arange(len(examples)))
    padded, packed = collate(examples, padding_id(bert)), collate(examples, padding_id(bert), shape)
    padded, packed = padded.stack(*[padded] * (stack - 1)), packed.stack(*[packed] * (stack - 1))
    assert packed.packing is not None
    torch.manual_seed(0)
    network = without_dropout(task.network(bert, labels))
    loss = task.loss(network, padded).sum()
    loss.backward()  # type: ignore[no-untyped-call]
    gradients = {key: value.grad.clone() for key, value in network.named_parameters() if value.grad is not None}
    network.zero_grad()
    with packed_body(body_of(network), packed.packing, bert.family, unpack_states=not packed.has_words):
        packed_loss = task.loss(network, packed).sum()
    packed_loss.backward()
    torch.testing.assert_close(packed_loss, loss)
    assert {key for key, value in network.named_parameters() if value.grad is not None} == set(gradients)
    for key, value in network.named_parameters():
        if key in gradients:
            torch.testing.assert_close(value.grad, gradients[key], rtol=1e-3, atol=1e-6, msg=key)
