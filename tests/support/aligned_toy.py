"""Word-aligned sentence pairs of made-up words, and Equation 1 word by word: what the batched loss must give."""

from __future__ import annotations

import copy
import random
from collections import Counter
from dataclasses import replace

import torch
from torch import Tensor

from isogloss.corpora.corpus import Corpus
from isogloss.corpora.formats.aligned_jsonl import FORMAT
from isogloss.corpora.kinds.alignment import Alignment, Link
from isogloss.corpora.kinds.bitext import AlignedPair
from isogloss.models.loading.loaded_model import FINAL, Layer, LoadedModel

WORDS = ["The", "cat", "sat", "mat", "Le", "chat", "dort", "живём", "городе", "sold", "river", "uyuyor", "住在", "x"]


def bitext(pairs: int, seed: int = 0, lang: str = "en-fr", longest: int = 7) -> Corpus[AlignedPair]:
    """Random words, some of them alike on both sides, with random links: several at a word, possible ones, none."""
    chance = random.Random(f"{seed} {lang}")
    return Corpus(tuple(_pair(chance, longest) for _ in range(pairs)), lang, FORMAT)


def _pair(chance: random.Random, longest: int) -> AlignedPair:
    source, target = ([chance.choice(WORDS) for _ in range(chance.randint(1, longest))] for _ in range(2))
    links = [
        Link(s, t, chance.choice("---?"))
        for s in range(len(source))
        for t in range(len(target))
        if chance.random() < 1.5 / longest
    ]
    return AlignedPair(tuple(source), tuple(target), Alignment(tuple(links)))


def doubled(model: LoadedModel) -> LoadedModel:
    """In double precision, with weights of its own."""
    body = copy.deepcopy(model.body).double()
    return replace(model, network=body, body=body)


def nudged(model: LoadedModel, seed: int = 0) -> LoadedModel:
    """With weights that are a little different."""
    torch.manual_seed(seed)
    body = copy.deepcopy(model.body)
    with torch.no_grad():
        for weight in body.parameters():
            weight += 0.05 * torch.randn_like(weight)
    return replace(model, network=body, body=body)


def sentence_units(model: LoadedModel, words: tuple[str, ...], layer: Layer, pooling: str) -> dict[int | str, Tensor]:
    """The vector of each word and special token of one sentence, alone and without padding, by its number or name."""
    text = " ".join(words)
    tokens = model.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    starts = [sum(len(word) + 1 for word in words[:n]) for n in range(len(words))]
    of_token = [max(n for n, start in enumerate(starts) if start <= max(low, 0) + (text[low] == " "))
                for low, _ in tokens["offset_mapping"]]  # fmt: skip
    ids = torch.tensor([[*model.prefix, *tokens["input_ids"], *model.suffix]])
    output = model.body(input_ids=ids, attention_mask=torch.ones_like(ids), output_hidden_states=True)
    last = layer in (FINAL, model.layers)
    states = (output.last_hidden_state if last else output.hidden_states[int(layer)])[0]
    vectors: dict[int | str, Tensor] = {}
    for number in range(len(words)):
        rows = [states[len(model.prefix) + i] for i, word in enumerate(of_token) if word == number]
        if rows:
            vectors[number] = {"mean": sum(rows) / len(rows), "first": rows[0], "last": rows[-1]}[pooling]
    if model.prefix:
        vectors["cls"] = states[0]
    if model.suffix:
        vectors["sep"] = states[-1]
    return vectors


def slow_loss(
    now: LoadedModel,
    original: LoadedModel,
    pairs: Corpus[AlignedPair],
    *,
    layer: Layer,
    words: str = "mean",
    takes: tuple[str, ...] = ("words", "cls", "sep"),
    everything_held: bool = False,
    one_to_one: bool = False,
    drop_identical: bool = False,
    mean: bool = False,
) -> Tensor:
    """Equation 1, one word at a time."""
    pull, hold = [], []
    for pair in pairs:
        links = [(s, t) for s, t, mark in pair.alignment.links]
        if one_to_one:
            counts = Counter(s for s, _ in links), Counter(t for _, t in links)
            links = [(s, t) for s, t in links if counts[0][s] == counts[1][t] == 1]
        links = [link for link in links if link in pair.alignment.sure]
        if drop_identical:
            links = [(s, t) for s, t in links if pair.source[s] != pair.target[t]]
        if "words" in takes and not links:
            continue
        source, target = (sentence_units(now, side, layer, words) for side in (pair.source, pair.target))
        before = sentence_units(original, pair.source, layer, words)
        chosen: list[tuple[int | str, int | str]] = list(links) if "words" in takes else []
        chosen += [(name, name) for name in ("cls", "sep") if name in takes and name in source]
        for s, t in chosen:
            pull.append((source[s] - target[t]).square().sum())
        for unit, vector in source.items():
            if isinstance(unit, int) or unit in takes or everything_held:
                hold.append((vector - before[unit].detach()).square().sum())
    total = [torch.stack(part).mean() / now.hidden_size if mean else torch.stack(part).sum() for part in (pull, hold)]
    return total[0] + total[1]
