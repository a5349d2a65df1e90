"""Extraction from a model that memory has no room for: a sharded checkpoint whole in memory, and from disk in part.

A Llama with random weights and many shards, 1/100 of a 10B model, measured in a process of its own each time: seconds,
and the peak of resident memory beyond what the loaded libraries take. Weights in memory are pages of their file as long
as nobody changes them, so that they count here as weights from disk do while they are needed.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

QUICK = {"hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 4, "intermediate_size": 256}
SIZES = {"hidden_size": 768, "num_hidden_layers": 14, "num_attention_heads": 12, "intermediate_size": 2048}
SHARES = {"in memory": None, "half of it on disk": 0.5, "all of it on disk": 0.0}
SENTENCES = 64


def run(quick: bool = False) -> None:
    with tempfile.TemporaryDirectory() as folder:
        size = _checkpoint(Path(folder), QUICK if quick else SIZES)
        shards = len(list(Path(folder).glob("*.safetensors")))
        print(f"Llama of {size / 4e6:.1f}M weights, {size / 1e6:.0f} MB in {shards} shards")
        results = {}
        for name, share in SHARES.items():
            limit = [] if share is None else [str(int(share * size))]
            command = [sys.executable, "-m", "benchmarks.large_models", folder, f"{folder}/{name}.npy", *limit]
            results[name] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        whole = np.load(f"{folder}/in memory.npy")
        for name, told in results.items():
            same = "same bits" if np.array_equal(np.load(f"{folder}/{name}.npy"), whole) else "OTHER STATES"
            print(
                f"{name:20} loading {told['loading']:6.2f} s   extraction {told['extraction']:6.2f} s   "
                f"peak {told['peak'] / 1e6:7.0f} MB   {same}"
            )


def _checkpoint(folder: Path, sizes: dict[str, int]) -> int:
    """A model folder; the bytes of its weights."""
    import torch
    import transformers

    from isogloss.models.loading.library_messages import quiet_library
    from isogloss.models.tokenization.training import train_tokenizer

    tokenizer = train_tokenizer(_texts(), "wordpiece", 8000)
    config = transformers.LlamaConfig(vocab_size=len(tokenizer), max_position_embeddings=256, **sizes)
    torch.manual_seed(0)
    network = transformers.LlamaModel(config)
    size = sum(weights.nbytes for weights in network.parameters())
    with quiet_library():
        network.save_pretrained(folder, max_shard_size=max(200_000, size // 20))
    tokenizer.save_pretrained(folder)
    return size


def _texts() -> list[str]:
    random = np.random.default_rng(0)
    words = ["".join(random.choice(list("aeioklmnrst"), 4)) for _ in range(2000)]
    return [" ".join(random.choice(words, length)) for length in random.integers(5, 40, SENTENCES)]


def _extract(folder: str, result: str, limit: str | None) -> None:
    """In a process of its own: the states of all layers, and what they took."""
    from isogloss.models.loading.load import load_model
    from isogloss.models.states.hidden_states import sentence_states

    before, peak = _resident(), _Peak()
    spread = {"device_map": "auto", "max_memory": {"cpu": int(limit or 0)}}
    start = time.perf_counter()
    model = load_model(folder, **({"device": "cpu"} if limit is None else spread))
    loaded = time.perf_counter()
    states = sentence_states(model, _texts(), budget=2048).collect()
    done = time.perf_counter()
    np.save(result, states)
    print(json.dumps({"loading": loaded - start, "extraction": done - loaded, "peak": peak.end() - before}))


class _Peak:
    """The most memory that this process holds from now on, looked at every few milliseconds."""

    def __init__(self) -> None:
        self._most, self._ended = 0, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while not self._ended.wait(0.005):
            self._most = max(self._most, _resident())

    def end(self) -> int:
        self._ended.set()
        self._thread.join()
        return self._most


def _resident() -> int:
    """Bytes of memory that this process uses (Linux)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


if __name__ == "__main__":
    _extract(sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None)
