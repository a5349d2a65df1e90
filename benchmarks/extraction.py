"""Sentence vectors of all layers: isogloss against the bare forward pass, and against the loop one would write.

The loop: batches of 32 in file order, `output_hidden_states=True`, mean without special tokens in NumPy.
Uses the small real encoder and English-EWT beside the checkout; without them, a BERT of the same size with
random weights and invented sentences of log-normal length. On a GPU if there is one.
"""

from __future__ import annotations

import resource
import tempfile
from collections.abc import Sequence

import numpy as np
import torch
from transformers import BertConfig, BertModel, BertTokenizer

import isogloss as ig
from benchmarks import floor
from benchmarks.timing import SHARED, best_times, report
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.states.hidden_states import sentence_states
from isogloss.models.tokenization.batching import pad, token_batches
from isogloss.models.tokenization.encoding import Encoded

ENCODER = SHARED / "models/mini-mlm-11"
EWT = SHARED / "data/ud/UD_English-EWT/en_ewt-ud-dev.conllu.xz"
SYLLABLES = ["ka", "to", "mi", "re", "su", "no", "la", "pe", "vi", "du"]


def padding_share(lengths: list[int], batches: list[np.ndarray]) -> float:
    padded = sum(max(lengths[i] for i in batch) * len(batch) for batch in batches)
    return 1 - sum(lengths) / padded


def run(quick: bool = False) -> None:
    model, texts = encoder(), sentences(200 if quick else 1000)
    states = sentence_states(model, texts)
    lengths = [len(text) for text in states.encoded]
    batches = token_batches(lengths, states.budget)
    unsorted = [np.arange(start, min(start + 32, len(texts))) for start in range(0, len(texts), 32)]
    print(f"{len(texts)} sentences, {sum(lengths)} tokens (median {int(np.median(lengths))}, longest {max(lengths)})")
    print(f"{model.layers} layers of {model.hidden_size} units, {model.device}, {torch.get_num_threads()} threads")
    print(f"padding: {padding_share(lengths, batches):.1%} in {len(batches)} batches under {states.budget} tokens")
    print(f"padding: {padding_share(lengths, unsorted):.1%} in {len(unsorted)} unsorted batches of 32")
    difference = np.abs(states.collect() - unsorted_loop(model, texts)).max()  # warms up both, too
    print(f"largest difference between the two results: {difference:.1e}")
    contenders = {
        "isogloss": lambda: sentence_states(model, texts).collect(),
        "isogloss, tokens given": lambda: states.collect(),
        "bare forward, same batches": lambda: bare_forward(model, states.encoded, batches),
        "loop over unsorted batches of 32": lambda: unsorted_loop(model, texts),
    }
    times = best_times(contenders, repeats=2 if quick else 3)
    report(times, ours="isogloss")
    print(floor.told(floor.reading(model, lengths), torch.float32, times["isogloss, tokens given"]))
    cost = times["isogloss, tokens given"] / times["bare forward, same batches"]
    print(f"pooling all layers takes {cost - 1:+.1%} of the bare forward pass; peak memory {peak_memory(model):.0f} MB")


def encoder() -> LoadedModel:
    if ENCODER.exists():
        return ig.load_model(ENCODER)
    with tempfile.TemporaryDirectory() as folder:
        pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *SYLLABLES, *(f"##{piece}" for piece in SYLLABLES)]
        BertTokenizer(vocab={piece: number for number, piece in enumerate(pieces)}).save_pretrained(folder)
        config = BertConfig(hidden_size=384, num_attention_heads=6, intermediate_size=1536, vocab_size=24_000)
        BertModel(config, add_pooling_layer=False).save_pretrained(folder)
        return ig.load_model(folder)


def sentences(number: int) -> list[str]:
    if EWT.exists() and ENCODER.exists():
        return [tree.text for tree in ig.read_treebank(EWT)[:number]]
    random = np.random.default_rng(0)
    words = ["".join(random.choice(SYLLABLES, size)) for size in random.integers(1, 4, 2000)]
    sizes = np.clip(random.lognormal(2.3, 0.7, number), 1, 200).astype(int)
    return [" ".join(random.choice(words, size)) for size in sizes]


def bare_forward(model: LoadedModel, encoded: Sequence[Encoded], batches: Sequence[np.ndarray]) -> None:
    with torch.inference_mode():
        for indices in batches:
            ids = torch.from_numpy(pad([encoded[i].ids for i in indices], 0)).to(model.device)
            mask = torch.from_numpy(pad([np.ones(len(encoded[i]), dtype=int) for i in indices], 0)).to(model.device)
            model.body(input_ids=ids, attention_mask=mask).last_hidden_state[0, 0].cpu()


def unsorted_loop(model: LoadedModel, texts: Sequence[str]) -> np.ndarray:
    vectors = []
    for start in range(0, len(texts), 32):
        batch = model.tokenizer(
            texts[start : start + 32],
            padding=True,
            truncation=True,
            max_length=model.max_length,
            return_special_tokens_mask=True,
            return_tensors="pt",
        )
        kept = (1 - batch.pop("special_tokens_mask")).numpy()[:, :, None].astype(np.float32)
        with torch.no_grad():
            layers = model.body(**batch.to(model.device), output_hidden_states=True).hidden_states
        vectors.append([(layer.cpu().numpy() * kept).sum(1) / kept.sum(1) for layer in layers])
    return np.concatenate(vectors, axis=1)


def peak_memory(model: LoadedModel) -> float:
    if model.device.type == "cuda":
        return torch.cuda.max_memory_allocated(model.device) / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
