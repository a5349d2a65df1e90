from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.fx import GraphModule

from isogloss.models.loading.untrained import untrained_model
from isogloss.models.states.attention import padded_attention, unpadded_attention
from isogloss.models.tokenization.training import train_tokenizer


@pytest.mark.parametrize("causal", [False, True])
def test_compiled_attention_has_no_mask(causal: bool) -> None:
    """What the compiler sees: a mask here means an attention several times slower on a GPU."""
    seen: list[tuple[object, object]] = []

    def watch(graph: GraphModule, inputs: list[torch.Tensor]) -> Any:
        calls = [node for node in graph.graph.nodes if "scaled_dot_product" in str(node.target)]
        seen.extend((call.kwargs.get("attn_mask"), call.kwargs.get("is_causal")) for call in calls)
        return graph.forward

    model = untrained_model(train_tokenizer([], "bytes", 300, causal=causal), causal=causal, layers=2, width=64)
    body: Any = model.body
    ids = torch.randint(5, 200, (2, 16))
    expected = body(input_ids=ids)[0]
    with unpadded_attention(body):
        compiled: Any = torch.compile(lambda tokens: body(input_ids=tokens)[0], backend=watch, fullgraph=True)
        found = compiled(ids)
    torch._dynamo.reset()
    assert seen == [(None, causal)] * 2
    assert torch.allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("padded", [False, True])
def test_a_mask_that_nobody_looks_at(causal: bool, padded: bool) -> None:
    """The same states with and without padding, from a mask that is built in any case."""
    model = untrained_model(train_tokenizer([], "bytes", 300, causal=causal), causal=causal, layers=2, width=64)
    body: Any = model.body.eval()
    ids, mask = torch.randint(5, 200, (2, 16)), torch.ones(2, 16, dtype=torch.int64)
    mask[0, 11 if padded else 16 :] = 0
    masks: list[Any] = []
    attention = torch.nn.functional.scaled_dot_product_attention

    def watch(*arguments: Any, **options: Any) -> torch.Tensor:
        masks.append(options["attn_mask"])
        return attention(*arguments, **options)

    expected = body(input_ids=ids, attention_mask=mask)[0]
    with padded_attention(body), pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.nn.functional, "scaled_dot_product_attention", watch)
        found = body(input_ids=ids, attention_mask=mask)[0]
    assert [tuple(mask.shape) for mask in masks] == [(2, 1, 16, 16)] * 2
    assert {mask.dtype for mask in masks} == {torch.float32}
    assert torch.allclose(found[mask.bool()], expected[mask.bool()], atol=1e-5)
