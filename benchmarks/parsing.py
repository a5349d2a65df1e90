"""Parsing raw words: isogloss against HanLP, a maintained biaffine parser over the same encoder and the same weights.

Both tokenise, encode, score and decode the same sentences in length-sorted batches of as many tokens. HanLP's parser
gets a copy of the body and of every layer of ours, and our state of the root in place of its `[CLS]`, so that the
scores are the same and the trees must be: how many are is printed. An untrained parser is timed too: its trees are
mostly cycles, which HanLP breaks in Python.

Of the parsers tried in November 2026, beside torch 2.13 and transformers 5.22: HanLP 2.1.5 works (2.1.7 asks for a
hanlp-common that was not published). supar 1.1.4 installs, but is of 2021, and HanLP's parser descends from it. Stanza
1.15 installs, but scores the states of its own LSTM, so it cannot be given the same weights; diaparser 1.1.3 is of 2023
and wants Stanza 1.2; spacy-experimental 0.6.4 is of 2023, too. trankit 1.1.2 wants torch ≤ 2.0.1, hopsparser 0.8.0
torch < 2.8.
"""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn

import isogloss as ig
from benchmarks.finetuning import BASE, SMALL, corpora, untrained
from benchmarks.timing import best_times, report
from isogloss.metrics.attachment import Arc
from isogloss.models.heads.biaffine import ARC_UNITS, RELATION_UNITS, BiaffineParser
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.tasks import TASKS
from isogloss.tasks.parse import RELATIONS
from isogloss.tasks.task import Labels
from isogloss.training.engine.settings import settings_for
from isogloss.training.finetuning.evaluation import CPU_TOKENS, DEVICE_TOKENS, predict, score_predictions
from isogloss.training.finetuning.finetune import finetune

TASK = TASKS["parse"]
EPOCHS = 3


def run(quick: bool = False) -> None:
    gpu = torch.cuda.is_available()
    bank, dev = corpora(100 if quick else None if gpu else 800)
    model = untrained(bank, BASE if gpu else SMALL)
    settings = settings_for(TASK.defaults, epochs=1 if quick else EPOCHS, learning_rate=1e-4 if gpu else 5e-4)
    tuned = finetune(model, TASK, bank, dev, settings)
    torch.manual_seed(0)
    fresh = shaken(TASK.network(model, tuned.labels))
    for name, network in ((f"trained for {settings.epochs} epochs", tuned.network), ("untrained", fresh)):
        print(f"{name}: {len(dev)} sentences, {sum(len(tree.words) for tree in dev):,} words, on {model.device}")
        compare(network, model, dev, tuned.labels)


def compare(network: Any, model: LoadedModel, bank: ig.Corpus, labels: Labels) -> None:
    words, predicted = [list(tree.words) for tree in bank], ours(network, model, bank, labels)
    print(f"LAS {score_predictions(TASK, [TASK.gold(tree) for tree in bank], predicted).scores['las']:.1%}")
    contenders: dict[str, Any] = {"isogloss": lambda: ours(network, model, bank, labels)}
    try:
        parser = hanlp_parser(network, model, labels)
    except ImportError as error:
        print(f"HanLP is not here ({error}): pip install hanlp --constraint constraints.txt")
    else:
        contenders["HanLP"] = lambda: parser(words, conll=False)
        same = [heads(a) == heads(b) for a, b in zip(predicted, contenders["HanLP"](), strict=True)]
        print(f"the same tree for {sum(same)} of {len(same)} sentences")
    times = best_times(contenders)
    report(times, ours="isogloss")
    print(", ".join(f"{name} {len(words) / seconds:,.0f} sentences/s" for name, seconds in times.items()))


def heads(arcs: list[Arc]) -> list[int]:
    return [head for head, _ in arcs]


def ours(network: nn.Module, model: LoadedModel, bank: ig.Corpus, labels: Labels) -> list[list[Arc]]:
    return predict(network, TASK, model, TASK.encode(model, bank, labels), labels)


def hanlp_parser(network: BiaffineParser, model: LoadedModel, labels: Labels) -> Any:
    """HanLP's parser with our weights; its `fit` would build the same from its own."""
    from hanlp.common.dataset import SortingSamplerBuilder
    from hanlp.common.vocab import Vocab
    from hanlp.components.parsers.biaffine.biaffine_dep import BiaffineDependencyParser
    from hanlp.components.parsers.biaffine.biaffine_model import BiaffineDependencyModel

    parser = BiaffineDependencyParser()
    budget = CPU_TOKENS if model.device.type == "cpu" else DEVICE_TOKENS
    parser.config.update(
        {"transformer": "ours", "transformer_lr": 1e-5, "average_subwords": False, "max_sequence_length": 512}
        | {"n_mlp_arc": ARC_UNITS, "n_mlp_rel": RELATION_UNITS, "n_rels": len(labels[RELATIONS]), "feat": None}
        | {"mlp_dropout": 0.0, "hidden_dropout": 0.0, "word_dropout": None, "tree": True, "punct": True}
        | {"batch_size": None, "sampler_builder": SortingSamplerBuilder(batch_max_tokens=budget)}
    )
    relations = list(labels[RELATIONS])
    parser.vocabs.put(rel=Vocab(idx_to_token=relations, pad_token=None, unk_token=None))
    parser.vocabs.lock()
    parser.transformer_tokenizer = model.tokenizer
    body = copy.deepcopy(network.body)
    parser.model = BiaffineDependencyModel(parser.config, None, body, model.tokenizer).to(model.device).eval()
    copy_scorer(network, parser.model)
    return parser


@torch.no_grad()
def copy_scorer(network: BiaffineParser, theirs: Any) -> None:
    decoder = theirs.biaffine_decoder
    layers = {
        decoder.mlp_arc_d: network.arc_dependent,
        decoder.mlp_arc_h: network.arc_head,
        decoder.mlp_rel_d: network.relation_dependent,
        decoder.mlp_rel_h: network.relation_head,
    }
    for layer, our_layer in layers.items():
        layer.linear.load_state_dict(our_layer[0].state_dict())  # type: ignore[index]
    decoder.arc_attn.weight.copy_(network.arc_weight)
    decoder.rel_attn.weight.copy_(network.relation_weight)

    def with_root(_: nn.Module, __: Any, output: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        states, mask = output
        states[:, 0] = network.root
        return states, mask

    theirs.encoder.register_forward_hook(with_root)


@torch.no_grad()
def shaken(network: Any) -> Any:
    """With biaffine weights that are not zero, as they are at first: then all trees would score the same."""
    for weight in (network.arc_weight, network.relation_weight):
        nn.init.normal_(weight, std=0.1)
    return network
