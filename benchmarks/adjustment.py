"""Adjustment on a word-aligned bitext: whole batches on the device against Equation 1 written as a loop over words.

Same model, same sentence pairs, same steps of 32 pairs with Adam. One loop, what one writes first, runs the network
sentence by sentence and takes the words one by one; the other runs the network on whole batches, so that what is left
of the difference is the loss. That part is also timed by itself, from states to their gradients. The losses must agree.
On a GPU a model of the size of BERT-base, on a CPU one of the laboratory's size, both with random weights.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

import isogloss as ig
from benchmarks import floor
from benchmarks.timing import best_times, report
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.kinds.bitext import AlignedPair
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.encoding import SPECIAL_TOKEN, Encoded, encode_words, padding_id
from isogloss.tasks.examples import collate
from isogloss.training.adjustment.loss import AlignmentLoss
from isogloss.training.adjustment.pairs import encode_pairs
from isogloss.training.adjustment.settings import LossOptions, PairOptions
from isogloss.training.engine.progress import EpochMetrics

BATCH, RATE = 32, 5e-5


def run(quick: bool = False) -> None:
    gpu = torch.cuda.is_available()
    pairs = ig.Laboratory(seed=0).bitext("qla", "qlf", BATCH * (1 if quick else 200 if gpu else 4))
    model = untrained(pairs, gpu)
    few = pairs[:BATCH]
    print(f"{model.layers} × {model.hidden_size} on {model.device}, {len(pairs)} pairs, {len(few)} for the loops")
    ig.adjust(model, few, batch=BATCH)  # kernels and threads set themselves up
    contenders = {
        "isogloss": (lambda: ig.adjust(model, pairs, batch=BATCH), len(pairs)),
        "loop over sentences and words": (lambda: looped(model, few, alone=True), len(few)),
        "batches, loop over words": (lambda: looped(model, few, alone=False), len(few)),
    }
    times = best_times({name: work for name, (work, _) in contenders.items()}, repeats=1 if quick else 3)
    speeds = {name: n / times[name] for name, (_, n) in contenders.items()}
    for name, speed in speeds.items():
        print(f"{name:32} {speed:10,.1f} pairs/s   isogloss is {speeds['isogloss'] / speed:6.1f} × as fast")
    print(
        floor.told(work_of(model, pairs), floor.working_type(), times["isogloss"], -(-len(pairs) // BATCH), "of a step")
    )
    check(model, few)
    loss_alone(model, few)


def work_of(model: LoadedModel, pairs: Corpus[AlignedPair]) -> floor.Work:
    """Both sides are learnt from, and the sources are read by the model as it was."""
    lengths = [[len(text) for text in encode_words(model, [getattr(pair, side) for pair in pairs])]
               for side in ("source", "target")]  # fmt: skip
    learnt = floor.training(model, lengths[0] + lengths[1], -(-len(pairs) // BATCH))
    return learnt + floor.reading(model, lengths[0])


def loss_alone(model: LoadedModel, pairs: Corpus[AlignedPair]) -> None:
    """Equation 1 and its gradient for one batch, from the states of the last layer on."""
    batch = collate(encode_pairs(model, [pairs], PairOptions()), padding_id(model)).to(model.device)
    loss = AlignmentLoss(model, [model.layers], LossOptions())
    given = torch.randn(*batch.input_ids.shape, model.hidden_size, device=model.device, requires_grad=True)
    texts = [encode_words(model, [getattr(pair, side) for pair in pairs]) for side in ("source", "target")]
    before = given[0::2].detach()

    def ours() -> None:
        torch.autograd.backward(loss.layer_loss(given, before, batch))

    def theirs() -> None:
        terms = equation(pairs, *texts, list(given[0::2]), list(given[1::2]), list(before))
        torch.autograd.backward(torch.stack(terms).sum())

    times = best_times({"loss alone": ours, "loss alone, loop over words": theirs})
    report(times, "loss alone")


def untrained(pairs: Corpus[AlignedPair], gpu: bool) -> LoadedModel:
    """Without dropout, so that the losses can be compared."""
    text = [" ".join(side) for pair in pairs for side in (pair.source, pair.target)]
    model = ig.untrained_encoder(text, width=768 if gpu else 128)
    for module in model.body.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    body: Any = model.body.to("cuda" if gpu else "cpu")
    return replace(model, network=body, body=body)


def check(model: LoadedModel, pairs: Corpus[AlignedPair]) -> None:
    """The first step's loss, both ways, before anything has been learnt."""
    epochs: list[EpochMetrics] = []
    ig.adjust(model, pairs, batch=BATCH, precision="fp32", progress=epochs.append)
    ours = epochs[-1].loss
    theirs = looped(model, pairs, alone=True)
    print(f"loss of the first step {ours:.4f}, by the loop {theirs:.4f}, ratio {ours / theirs:.6f}")


def looped(model: LoadedModel, pairs: Corpus[AlignedPair], *, alone: bool) -> float:
    """Train as a loop over words would; the last step's loss. `alone`: one sentence at a time through the network."""
    body = copy.deepcopy(model.body).train()
    adam = torch.optim.Adam(body.parameters(), lr=RATE, betas=(0.9, 0.98), eps=1e-9)
    source, target = (encode_words(model, [getattr(pair, side) for pair in pairs]) for side in ("source", "target"))
    loss = torch.zeros(())
    for start in range(0, len(pairs), BATCH):
        part = slice(start, start + BATCH)
        with torch.no_grad():
            before = states(model, model.body, source[part], alone)
        f, g = (states(model, body, side[part], alone) for side in (source, target))
        loss = torch.stack(equation(pairs[part], source[part], target[part], f, g, before)).sum()
        adam.zero_grad()
        torch.autograd.backward(loss)
        adam.step()
    return float(loss.detach())


def equation(
    pairs: Sequence[AlignedPair],
    source: Sequence[Encoded],
    target: Sequence[Encoded],
    f: Sequence[Tensor],
    g: Sequence[Tensor],
    before: Sequence[Tensor],
) -> list[Tensor]:
    """The terms of Equation 1, one by one."""
    terms = []
    for i, pair in enumerate(pairs):
        s, t, o = words(f[i], source[i]), words(g[i], target[i]), words(before[i], source[i])
        terms += [(s[a] - t[b]).square().sum() for a, b in pair.alignment.sure]
        terms += [(s[place] - t[place]).square().sum() for place in ("first", "last")]
        terms += [(vector - o[word]).square().sum() for word, vector in s.items()]
    return terms


def states(model: LoadedModel, body: Any, texts: Sequence[Encoded], alone: bool) -> list[Tensor]:
    if alone:
        return [states(model, body, [text], False)[0] for text in texts]
    rows = [torch.tensor(text.ids, dtype=torch.int64) for text in texts]
    ids = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=padding_id(model))
    mask = nn.utils.rnn.pad_sequence([torch.ones_like(row) for row in rows], batch_first=True)
    output = body(input_ids=ids.to(model.device), attention_mask=mask.to(model.device)).last_hidden_state
    return list(output)


def words(vectors: Tensor, text: Encoded) -> dict[Any, Tensor]:
    """The mean of the sub-words of each word, and the special tokens."""
    found: dict[Any, Tensor] = {}
    for word in sorted(set(text.word.tolist()) - {SPECIAL_TOKEN}):
        found[word] = torch.stack([vectors[i] for i in range(len(text)) if text.word[i] == word]).mean(0)
    return {**found, "first": vectors[0], "last": vectors[len(text) - 1]}
