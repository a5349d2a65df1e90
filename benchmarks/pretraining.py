"""Masked-language-model training: isogloss against the `Trainer` of transformers with its masking collator.

The same network, text, optimizer and step size in tokens; on the CPU in fp32, and ours in bf16 for CPUs that have it.
The `Trainer` is run as its users run it: a line a sequence, padded to the longest of its batch; and with lines joined
into full sequences. Counted are tokens of text per second, padding left out. On a GPU: the speed of a 12-layer,
384-wide network beside a plain compiled loop.
"""

from __future__ import annotations

import copy
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from transformers import DataCollatorForLanguageModeling, Trainer, TrainingArguments
from transformers.utils import logging as transformers_logging

import isogloss as ig
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.loading.untrained import untrained_model
from isogloss.models.tokenization.training import train_tokenizer
from isogloss.training.engine.budget import Budget
from isogloss.training.language_modeling.masking import IGNORED_LABEL
from isogloss.training.language_modeling.packing import Sequences, pack
from isogloss.training.language_modeling.settings import LanguageModelSettings
from isogloss.training.language_modeling.train import train_language_model

library: Any = transformers_logging
LENGTH, BATCH = 128, 16


def run(quick: bool = False) -> None:
    if torch.cuda.is_available():
        on_gpu(steps=60 if quick else 300)
        return
    lab = ig.Laboratory(0)
    lines = [line for lang in ("qla", "qlb", "qlc") for line in lab.text(lang, 1000 if quick else 3000)]
    tokenizer = train_tokenizer(lines, "wordpiece", 8000)
    model = untrained_model(tokenizer, layers=6, width=256, dropout=0.0)
    steps = 6 if quick else 20
    print(f"6 layers of 256 units, {len(tokenizer)} tokens in the vocabulary, {torch.get_num_threads()} threads")
    halves: dict[str, Callable[[], float]] = {"isogloss, bf16": lambda: ours(copied(model), lines, steps, "bf16")}
    contenders: dict[str, Callable[[], float]] = {
        "isogloss": lambda: ours(copied(model), lines, steps, "fp32"),
        **(halves if torch.ops.mkldnn._is_mkldnn_bf16_supported() else {}),
        "Trainer, a line a sequence": lambda: trainer(copied(model), lines, steps, joined=False),
        "Trainer, lines joined": lambda: trainer(copied(model), lines, steps, joined=True),
    }
    speeds = dict.fromkeys(contenders, 0.0)
    for _ in range(2):  # in turn, so that a busy machine hurts all alike
        for name, contender in contenders.items():
            speeds[name] = max(speeds[name], contender())
    by_line, joined = speeds["Trainer, a line a sequence"], speeds["Trainer, lines joined"]
    for name, speed in speeds.items():
        print(f"{name:28} {speed:9,.0f} tokens/s  {speed / by_line:5.2f} × Trainer, {speed / joined:5.2f} × joined")


def copied(model: LoadedModel) -> LoadedModel:
    network, body = copy.deepcopy((model.network, model.body))
    return replace(model, network=network, body=body)


def ours(model: LoadedModel, lines: list[str], steps: int, precision: str) -> float:
    sequences = pack(model, {"text": lines}, LENGTH)
    budget = Budget(steps=steps)
    settings = LanguageModelSettings(batch=BATCH, length=LENGTH, alpha=1.0, precision=precision, budget=budget)
    start = time.perf_counter()
    history = train_language_model(model, sequences, settings)
    return history.log[-1].tokens / (time.perf_counter() - start)


def trainer(model: LoadedModel, lines: list[str], steps: int, joined: bool) -> float:
    tokenizer: Any = model.tokenizer
    if joined:
        texts = [{"input_ids": row.tolist()} for row in pack(model, {"text": lines}, LENGTH).ids]
        batch = BATCH
    else:
        texts = [{"input_ids": ids} for ids in tokenizer(lines, truncation=True, max_length=LENGTH)["input_ids"]]
        batch = round(BATCH * LENGTH / float(np.mean([len(text["input_ids"]) for text in texts])))
    collator: Any = DataCollatorForLanguageModeling(tokenizer, mlm_probability=0.15)
    read: list[int] = []

    def counting(examples: list[dict[str, Any]]) -> Any:
        read.append(sum(len(example["input_ids"]) for example in examples))
        return collator(examples)

    with tempfile.TemporaryDirectory() as folder:
        options: dict[str, Any] = {"max_steps": steps, "per_device_train_batch_size": batch, "learning_rate": 1e-3}
        options |= {
            "report_to": [],
            "save_strategy": "no",
            "disable_tqdm": True,
            "log_level": "error",
            "use_cpu": True,
            "logging_steps": 10**6,
        }
        arguments = TrainingArguments(folder, **options)
        training = Trainer(model.network, arguments, train_dataset=texts, data_collator=counting)  # type: ignore
        library.set_verbosity_error()
        start = time.perf_counter()
        training.train()
        return sum(read[:steps]) / (time.perf_counter() - start)


def on_gpu(steps: int, batch: int = 512, vocabulary: int = 24_000) -> None:
    """Random tokens: their speed is that of text."""
    letters = "".join(map(chr, [*range(0x4E00, 0x4E00 + 20_902), *range(0xAC00, 0xAC00 + 4000)]))
    tokenizer = train_tokenizer([letters], "characters", vocabulary)
    ids = np.random.default_rng(0).integers(5, vocabulary, (100_000, LENGTH)).astype(np.int32)
    settings = LanguageModelSettings(batch=batch, length=LENGTH, budget=Budget(steps=steps + 50))
    model = untrained_model(tokenizer, layers=12, width=384, dropout=0.0)
    model.network.cuda()
    last = train_language_model(model, Sequences(ids, {"text": len(ids)}), settings).log[-1]
    used = "" if last.utilisation is None else f", {last.utilisation:.1%} of the GPU's arithmetic"
    print(f"isogloss                 {last.tokens_per_second:12,.0f} tokens/s{used}")
    print(f"plain compiled bf16 loop {plain_loop(model, ids, steps, batch):12,.0f} tokens/s")


def plain_loop(model: LoadedModel, ids: np.ndarray, steps: int, batch: int) -> float:
    """What one would write: autocast, the head at every token, labels where masked."""
    network: Any = model.network.train()
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-4, fused=True)
    compiled = torch.compile(lambda tokens, labels: network(input_ids=tokens, labels=labels).loss)
    table = torch.from_numpy(ids).cuda()
    start = 0.0
    for step in range(steps + 5):
        if step == 5:
            torch.cuda.synchronize()
            start = time.perf_counter()
        tokens = table[torch.randint(len(table), (batch,), device="cuda")].long()
        chosen = torch.rand(tokens.shape, device="cuda") < 0.15
        labels = tokens.masked_fill(~chosen, IGNORED_LABEL)
        with torch.autocast("cuda", torch.bfloat16):
            loss = compiled(tokens.masked_fill(chosen, 4), labels)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    torch.cuda.synchronize()
    return steps * batch * LENGTH / (time.perf_counter() - start)
