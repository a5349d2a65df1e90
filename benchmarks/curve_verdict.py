"""The verdict of first align, then predict: how often untrained networks get a yes, and how often the laboratory does.

False positives: 200 networks with random weights, five of each of 40 shapes (families, widths, depths, heads and
initialisers drawn at random), on sentences of the laboratory. The networks are created by the model library, the
controls by isogloss from other seeds. A network counts for an index if any of its two language pairs gets a yes.
Beside the verdict stand the rules that it replaces: a significant peak, and a significant peak above the minimum.

Power: the laboratory's encoder, all pairs of its seven pretraining languages, on several sets of sentences.

The intervals are those of Clopper and Pearson at 95 %.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
import torch
from scipy.stats import beta
from transformers import AutoConfig, AutoModel, PreTrainedTokenizerBase

import isogloss as ig
from isogloss.indexes.curve_verdict import MIN_CURVE_EFFECT, Verdict
from isogloss.models.loading.loaded_model import LoadedModel, wrap_network

FAMILIES = ("bert", "roberta", "xlm-roberta", "distilbert", "gpt2", "llama", "modernbert", "isogloss")
INDEXES = ["cka", "anc", "matching"]
NETWORKS_PER_SHAPE = 5
LANGUAGES = ["qla", "qlb", "qlf"]
PRETRAINED = ["qla", "qlb", "qlc", "qld", "qle", "qlf", "qlg"]
RULES = {
    "significant peak": pl.col("p") < 0.05,
    "and effect ≥ minimum": (pl.col("p") < 0.05) & (pl.col("effect") >= MIN_CURVE_EFFECT),
    "verdict yes": pl.col("verdict") == Verdict.YES.value,
}


@dataclass(frozen=True)
class NetworkShape:
    family: str
    width: int
    layers: int
    heads: int
    initializer_range: float
    norm: str  # of the isogloss family


def run(quick: bool = False) -> None:
    shapes, sentences, samples = (8, 60, 1) if quick else (40, 100, 2)
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as cache:
        false_positives(shapes, sentences, cache)
        power(samples, sentences, cache)


def false_positives(shapes: int, sentences: int, cache: str) -> None:
    laboratory = ig.load_model("laboratory", device="cpu")
    text = ig.Laboratory(1).parallel(LANGUAGES, sentences)
    frames = []
    for number, shape in enumerate(random_shapes(shapes)):
        for seed in range(NETWORKS_PER_SHAPE):
            network = untrained(shape, laboratory.tokenizer, seed)
            curves = ig.similarity(network, text, source="qla", indexes=INDEXES, control=True, control_cache=cache)
            frames.append(curves.shapes.with_columns(network=pl.lit(f"{number} {seed}"), family=pl.lit(shape.family)))
    rows = pl.concat(frames)
    print(f"{rows['network'].n_unique()} untrained networks of {shapes} shapes, {sentences} sentences, 2 pairs")
    print(f"largest effect of an untrained network: {rows['effect'].max():.3f}; 95 % are below "
          f"{rows['effect'].quantile(0.95):.3f}")  # fmt: skip
    for name, rule in RULES.items():
        for index, group in [*rows.group_by("index", maintain_order=True), (("any index",), rows)]:
            positive = group.group_by("network").agg(rule.any().alias("yes"))["yes"].to_list()
            print(f"{name:21} {index[0]:10} {described(sum(positive), len(positive))}")
    print(rows.group_by("verdict").len().sort("len", descending=True).rows())


def power(samples: int, sentences: int, cache: str) -> None:
    model = ig.load_model("laboratory", device="cpu")
    texts = [ig.Laboratory(2 + sample).parallel(PRETRAINED, sentences) for sample in range(samples)]
    rows = pl.concat(
        ig.similarity(model, text, indexes=INDEXES, control=True, control_cache=cache).shapes for text in texts
    )
    print(f"laboratory encoder: {len(PRETRAINED)} languages, all pairs, {samples} sets of {sentences} sentences")
    for index, group in [*rows.group_by("index", maintain_order=True), (("all",), rows)]:
        positive = group.filter(verdict=Verdict.YES.value).height
        print(f"{'verdict yes':21} {index[0]:10} {described(positive, group.height)}")
    others = rows.filter(pl.col("verdict") != Verdict.YES.value)
    for row in others.group_by("source", "target", "index", "verdict").agg(pl.len(), pl.col("reason").first()).rows():
        print("  not yes:", *row)


def random_shapes(number: int) -> Iterator[NetworkShape]:
    random = np.random.default_rng(0)
    for position in range(number):
        yield NetworkShape(
            FAMILIES[position % len(FAMILIES)],
            int(random.choice([16, 32, 64, 128])),
            int(random.choice([3, 4, 6, 8, 12])),
            int(random.choice([2, 4])),
            float(random.choice([0.005, 0.02, 0.02, 0.05, 0.1, 0.3])),
            str(random.choice(["post", "pre", "normformer"])),
        )


def untrained(shape: NetworkShape, tokenizer: PreTrainedTokenizerBase, seed: int) -> LoadedModel:
    """A network as the model library creates it."""
    sizes = {
        "hidden_size": shape.width,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.heads,
        "intermediate_size": 4 * shape.width,
        "initializer_range": shape.initializer_range,
        "vocab_size": len(tokenizer),
        "max_position_embeddings": 256,
        **{f"{role}_token_id": tokenizer.pad_token_id for role in ("pad", "bos", "eos", "cls", "sep")},
    }
    if shape.family == "isogloss":
        sizes |= {"norm": shape.norm}
    torch.manual_seed(seed)
    network = AutoModel.from_config(AutoConfig.for_model(shape.family, **sizes)).eval()
    return wrap_network("untrained", network, network, tokenizer)


def described(positive: int, number: int) -> str:
    """A share with its Clopper-Pearson interval."""
    low = beta.ppf(0.025, positive, number - positive + 1) if positive else 0.0
    high = beta.ppf(0.975, positive + 1, number - positive) if positive < number else 1.0
    return f"{positive:4} of {number:4} = {positive / number:6.1%}  [{low:.1%}, {high:.1%}]"
