"""Fine-tuning a tagger: isogloss against the Hugging Face `Trainer` with its default collator and settings.

Same model, same sentences, same batch size, rate, warm-up, weight decay and epochs. Speed: on a GPU with a model of the
size of BERT-base, on a CPU with a small one, both with random weights; a third line, for orientation, gives the
`Trainer` what a knowing user may switch on: bf16 and batches by length. Scores of random weights say little; those of
real encoders are compared by `finetuning_quality`.
"""

from __future__ import annotations

import itertools
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

import isogloss as ig
from benchmarks import floor
from benchmarks.timing import SHARED
from isogloss.models.loading.loaded_model import LoadedModel, wrap_network
from isogloss.tasks import TASKS
from isogloss.training.engine.epochs import train
from isogloss.training.engine.progress import peak_memory
from isogloss.training.engine.settings import TrainingSettings, settings_for
from isogloss.training.finetuning.evaluation import evaluate
from isogloss.training.finetuning.finetune import objective

EWT = SHARED / "data/ud/UD_English-EWT"
MARKS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
SMALL = {"hidden_size": 128, "num_hidden_layers": 4, "num_attention_heads": 4, "intermediate_size": 512}
BASE = {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072}
BATCH, RATE, EPOCHS = 32, 1e-4, 2
WARM = 1000  # sentences


@dataclass(frozen=True)
class Outcome:
    seconds: float
    score: float
    memory: int


Contender = Callable[[ig.Corpus], Outcome]


def run(quick: bool = False) -> None:
    gpu = torch.cuda.is_available()
    bank, dev = corpora(200 if quick else None if gpu else 1500)
    model = untrained(bank, BASE if gpu else SMALL)
    lengths = lengths_of(model, bank)
    tokens = EPOCHS * sum(lengths)
    print(f"{len(bank)} sentences, {EPOCHS} epochs, batch {BATCH}, {tokens:,} real tokens, on {model.device}")
    knowing = {"bf16": gpu, "train_sampling_strategy": "group_by_length"}
    contenders: dict[str, Contender] = {
        "isogloss": lambda bank: ours(model, bank, dev),
        "Trainer": lambda bank: theirs(model, bank, dev),
        "Trainer, bf16 and by length": lambda bank: theirs(model, bank, dev, **knowing),
    }
    first = 0.0
    for name, contender in contenders.items():
        outcome = measured(contender, bank)
        first = first or outcome.seconds
        speed, memory = tokens / outcome.seconds, outcome.memory / 2**20
        print(
            f"{name:28} {outcome.seconds:8.2f} s {speed:10,.0f} tokens/s {outcome.seconds / first:6.2f} × ours"
            f"   dev accuracy {outcome.score:.4f}   peak {memory:,.0f} MiB"
        )
    steps = EPOCHS * -(-len(bank) // BATCH)
    work = floor.training(model, EPOCHS * lengths, steps)
    print(floor.told(work, floor.working_type(), first, steps, "of a step"))


def lengths_of(model: LoadedModel, bank: ig.Corpus) -> list[int]:
    """The tokens of each sentence."""
    task = TASKS["pos"]
    return [example.tokens for example in task.encode(model, bank, task.labels(bank))]


def measured(contender: Contender, bank: ig.Corpus) -> Outcome:
    """A run; on a GPU after one over a few sentences that pays for loading kernels."""
    if torch.cuda.is_available():
        contender(bank[:WARM])
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    return contender(bank)


def corpora(limit: int | None) -> tuple[ig.Corpus, ig.Corpus]:
    """English-EWT where it lies beside the checkout; otherwise sentences of the laboratory."""
    if EWT.exists():
        bank, dev = (ig.read_treebank(EWT / f"en_ewt-ud-{part}.conllu.xz") for part in ("train", "dev"))
    else:
        lab = ig.Laboratory(seed=0)
        bank, dev = lab.treebank("qla", "train", 12_544), lab.treebank("qla", "dev", 2_001)
    return bank[:limit], dev[: limit and limit // 4]


def untrained(bank: ig.Corpus, size: dict[str, int]) -> LoadedModel:
    """A BERT with random weights and a WordPiece vocabulary of the treebank."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=8000, special_tokens=MARKS, show_progress=False)
    tokenizer.train_from_iterator((" ".join(tree.words) for tree in bank), trainer)
    marks = [(mark, tokenizer.token_to_id(mark)) for mark in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=marks)
    names = dict(zip(["pad_token", "unk_token", "cls_token", "sep_token", "mask_token"], MARKS, strict=True))
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)
    torch.manual_seed(0)
    config = transformers.BertConfig(vocab_size=len(fast), **size)
    body = transformers.BertModel(config, add_pooling_layer=False)
    body.to("cuda" if torch.cuda.is_available() else "cpu")
    return wrap_network("untrained", body, body, fast)


def ours(model: LoadedModel, bank: ig.Corpus, dev: ig.Corpus, *, seed: int = 0, rate: float = RATE) -> Outcome:
    """Training alone is timed, and the last epoch is kept, as with the other."""
    task = TASKS["pos"]
    labels = task.labels(bank)
    torch.manual_seed(seed)
    network = task.network(model, labels)
    epoch = itertools.count()
    learning = replace(objective(model, task, bank, dev, labels, None), score=lambda _: float(next(epoch)))
    settings = settings_for(task.defaults, epochs=EPOCHS, batch=BATCH, learning_rate=rate)
    start = time.perf_counter()
    train(network, learning, settings, seed=seed)
    floor.wait()
    seconds, memory = time.perf_counter() - start, peak_memory(model.device)
    return Outcome(seconds, evaluate(network, task, model, {"dev": dev}, labels)["dev"].scores["accuracy"], memory)


def theirs(model: LoadedModel, bank: ig.Corpus, dev: ig.Corpus, *, seed: int = 0, **options: Any) -> Outcome:
    """As in the token-classification example of transformers: labels on first sub-words, -100 elsewhere."""
    task = TASKS["pos"]
    labels = task.labels(bank)
    rows = [_row(example) for example in task.encode(model, bank, labels)]
    torch.manual_seed(seed)
    network = task.network(model, labels)
    with tempfile.TemporaryDirectory() as folder:
        arguments = transformers.TrainingArguments(
            output_dir=str(Path(folder)),
            per_device_train_batch_size=BATCH,
            num_train_epochs=EPOCHS,
            seed=seed,
            report_to=[],
            save_strategy="no",
            disable_tqdm=True,
            use_cpu=model.device.type == "cpu",
            warmup_steps=TrainingSettings.warmup,  # below 1: their share
            weight_decay=TrainingSettings.weight_decay,
            **{"learning_rate": RATE, **options},
        )
        collator = transformers.DataCollatorForTokenClassification(model.tokenizer)
        trainer = transformers.Trainer(model=network, args=arguments, train_dataset=rows, data_collator=collator)
        trainer.log = lambda *_, **__: None
        start = time.perf_counter()
        trainer.train()
        floor.wait()
        seconds = time.perf_counter() - start
    memory = peak_memory(model.device)
    return Outcome(seconds, evaluate(network, task, model, {"dev": dev}, labels)["dev"].scores["accuracy"], memory)


def _row(example: Any) -> dict[str, list[int]]:
    """An example of ours as the collator wants it (first window only; EWT has no sentence of two)."""
    ids, labels = example.windows[0], np.full(len(example.windows[0]), -100)
    here = example.arrays["window"] == 0
    labels[example.arrays["position"][here]] = example.arrays["tags"][here]
    return {"input_ids": ids.tolist(), "attention_mask": [1] * len(ids), "labels": labels.tolist()}
