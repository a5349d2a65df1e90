"""The second-moment battery and sentence matching, against computing every pair and layer by itself.

The states lie in float32 files, as extraction leaves them. "One by one" is what the papers' tools do: for every
layer and pair, CKA, SVCCA (20 directions), PWCCA and ANC each from the two matrices in float64, with NumPy. The
peers are the packages that install. Every ratio is of times measured in this run on the same vectors.
"""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch

from benchmarks.timing import best_times, report
from isogloss.indexes import matching, svcca
from isogloss.indexes.battery import against, compare

LANGUAGES = ["en", "fr", "de", "ru", "et"]
INDEXES = ["cka", svcca.index(keep=20), "pwcca", "anc"]


def run(quick: bool = False, layers_alone: int = 1) -> None:
    """`layers_alone`: how many of the layers are also computed one by one (a layer takes a minute or more)."""
    layers, n, d = (2, 3000, 256) if quick else (13, 10_000, 768)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_states(folder, layers, n, d)
        print(f"{layers} layers × {len(LANGUAGES) - 1} pairs × {n} sentences × {d} units", end=", ")
        print(f"{torch.get_num_threads()} threads")
        battery(folder, layers, d, layers_alone)
        memory(folder, layers, n, d)
        against_peers(folder, n, d)
        matched(folder, n, d)


def write_states(folder: Path, layers: int, n: int, d: int) -> None:
    """A common meaning seen through a map of each language's own, falling variances, one outlier neuron."""
    for layer in range(layers):
        random = np.random.default_rng(layer)
        meaning = random.normal(size=(n, d)).astype(np.float32) * np.exp(-4 * np.arange(d) / d).astype(np.float32)
        for name in LANGUAGES:
            own = np.eye(d, dtype=np.float32) + 0.02 * random.normal(size=(d, d)).astype(np.float32)
            states = meaning @ own + 0.3 * random.normal(size=(n, d)).astype(np.float32)
            states[:, 7] += 20
            states.tofile(folder / f"{name}.{layer}")


def states(folder: Path, name: str, layer: int, d: int, n: int | None = None) -> np.ndarray:
    return np.memmap(folder / f"{name}.{layer}", dtype=np.float32, mode="r").reshape(-1, d)[:n]


def one_layer(folder: Path, layer: int, d: int, bootstrap: int = 0, n: int | None = None) -> list[float]:
    views = {name: states(folder, name, layer, d, n) for name in LANGUAGES}
    return [row.value for row in compare(views, against("en", LANGUAGES), INDEXES, bootstrap=bootstrap)]


def battery(folder: Path, layers: int, d: int, layers_alone: int) -> None:
    one_layer(folder, 0, d)  # warm up
    ours = [timed(lambda layer=layer: one_layer(folder, layer, d)) for layer in range(layers)]
    print(f"CKA, SVCCA, PWCCA, ANC of all layers and pairs: {sum(ours):.1f} s")
    alone, worst = 0.0, 0.0
    parts = dict.fromkeys(ONE_BY_ONE, 0.0)
    for layer in range(layers_alone):
        results = iter(one_layer(folder, layer, d))
        for pair in against("en", LANGUAGES):
            x, y = (states(folder, name, layer, d).astype(np.float64) for name in pair)
            for name, function in ONE_BY_ONE.items():
                start = time.perf_counter()
                difference = abs(function(x, y) - next(results))
                parts[name] += time.perf_counter() - start
                worst = max(worst, difference)
    alone = sum(parts.values())
    both = sum(ours[:layers_alone])
    print(
        f"{layers_alone} layer(s) of {layers} also one by one: {alone:.1f} s, ours {both:.2f} s: {alone / both:.1f} ×"
    )
    each = ", ".join(f"{name} {seconds / layers_alone / (len(LANGUAGES) - 1):.2f} s" for name, seconds in parts.items())
    print(f"one by one, for one layer and pair: {each}; largest difference {worst:.1e}")
    intervals = timed(lambda: one_layer(folder, 0, d, bootstrap=100))
    print(f"one layer with intervals for every value: {intervals:.2f} s, without {ours[0]:.2f} s")


def memory(folder: Path, layers: int, n: int, d: int) -> None:
    """Memory beyond the libraries against all states in float32; growth of time and memory with sentences."""
    held = layers * len(LANGUAGES) * n * d * 4 / 2**20
    part = n // 4
    plain, fewer, bootstrap = (peak_memory(folder, *what, d) for what in ((0, n), (0, part), (100, n)))
    print(f"peak memory: {plain:.0f} MB, with intervals {bootstrap:.0f} MB; all states {held:.0f} MB")
    print(f"growth: {part} sentences {timed(lambda: one_layer(folder, 0, d, n=part)):.2f} s, {fewer:.0f} MB", end="; ")
    print(f"{n} sentences {timed(lambda: one_layer(folder, 0, d)):.2f} s, {plain:.0f} MB")


def against_peers(folder: Path, n: int, d: int) -> None:
    """The same index for one layer and pair, so that nothing is shared; repsim would take hours for all of it."""
    for name, (sentences, units), index, peer in peers(n, d):
        x, y = (np.array(states(folder, lang, 0, d, sentences)[:, :units], dtype=np.float64) for lang in ("en", "fr"))
        ours = best_times(
            {name: lambda x=x, y=y, index=index: compare({"x": x, "y": y}, [("x", "y")], [index], bootstrap=0)}, 2
        )
        with contextlib.redirect_stderr(io.StringIO()):  # progress bars
            seconds = timed(lambda x=x, y=y, peer=peer: peer(x, y))
        print(f"{name}, {sentences} × {units}: {seconds:.2f} s, ours {ours[name]:.2f} s: {seconds / ours[name]:.1f} ×")


def matched(folder: Path, n: int, d: int) -> None:
    x, y = (torch.from_numpy(np.array(states(folder, name, 0, d))) for name in ("en", "fr"))
    target, out = y.T, torch.empty(matching.BLOCK_ROWS, n)

    def bare() -> None:
        for start in range(0, n, matching.BLOCK_ROWS):
            block = x[start : start + matching.BLOCK_ROWS]
            torch.mm(block, target, out=out[: len(block)])

    contenders = {"bare float32 product": bare, "matching, both directions": lambda: matching.matches(x, y)}
    report(best_times(contenders, 5), ours="bare float32 product")


def cka_alone(x: np.ndarray, y: np.ndarray) -> float:
    x, y = x - x.mean(0), y - y.mean(0)
    return float(np.sum((x.T @ y) ** 2) / np.linalg.norm(x.T @ x) / np.linalg.norm(y.T @ y))


def canonical_alone(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Orthonormal bases by SVD, correlations by another: no normal equations."""
    bases = [np.linalg.svd(z - z.mean(0), full_matrices=False)[0] for z in (x, y)]
    u, correlations, _ = np.linalg.svd(bases[0].T @ bases[1])
    return bases[0] @ u, correlations


def svcca_alone(x: np.ndarray, y: np.ndarray, keep: int = 20) -> float:
    reduced = []
    for z in (x, y):
        u, s, _ = np.linalg.svd(z - z.mean(0), full_matrices=False)
        reduced.append(u[:, :keep] * s[:keep])
    return float(canonical_alone(*reduced)[1].mean())


def pwcca_alone(x: np.ndarray, y: np.ndarray) -> float:
    variates, correlations = canonical_alone(x, y)
    weights = np.abs(variates.T @ (x - x.mean(0))).sum(1)
    return float(weights @ correlations / weights.sum())


def anc_alone(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.mean([abs(np.corrcoef(a, b)[0, 1]) for a, b in zip(x.T, y.T)]))


ONE_BY_ONE: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "CKA alone": cka_alone,
    "SVCCA alone": svcca_alone,
    "PWCCA alone": pwcca_alone,
    "ANC alone": anc_alone,
}


Peer = Callable[[np.ndarray, np.ndarray], object]


def peers(n: int, d: int) -> Iterator[tuple[str, tuple[int, int], str, Peer]]:
    """What of the peers is installed: its name, the size it is given, our index, and its function."""
    small, large = (1000, min(d, 256)), (n, d)
    try:
        import repsim

        yield "repsim, linear CKA", small, "cka", lambda x, y: repsim.cka([x, y], "linear")
        yield "repsim, CCA", small, "cca", lambda x, y: repsim.cca([x, y])
        yield "repsim, PWCCA", small, "pwcca", lambda x, y: repsim.pwcca([x, y])
    except ImportError:
        print("repsim is not installed")
    try:
        from ckatorch.core import cka_base

        yield "ckatorch, linear CKA", large, "cka", lambda x, y: cka_base(torch.from_numpy(x), torch.from_numpy(y))
    except ImportError:
        print("ckatorch is not installed")
    try:
        from torch_cka import CKA

        yield "torch-cka, one batch of all", (n // 2, d), "debiased_cka", lambda x, y: torch_cka(CKA, x, y)
    except ImportError:
        print("torch-cka is not installed (it needs matplotlib)")


def torch_cka(peer: type, x: np.ndarray, y: np.ndarray) -> None:
    """It takes models and loaders; smaller batches are quicker but give another estimate."""
    from torch.utils.data import DataLoader, TensorDataset

    models = [torch.nn.Sequential(torch.nn.Identity()) for _ in range(2)]
    cka = peer(*models, "en", "fr", ["0"], ["0"])
    loaders = [DataLoader(TensorDataset(torch.from_numpy(z).float()), batch_size=len(z)) for z in (x, y)]
    cka.compare(*loaders)


def timed(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def peak_memory(folder: Path, bootstrap: int, n: int, d: int) -> float:
    """MB that a fresh process adds to its own memory (not the cached pages of files) while it measures two layers."""
    code = (
        f"from benchmarks.similarity_battery import memory_probe; memory_probe({str(folder)!r}, {bootstrap}, {n}, {d})"
    )
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def memory_probe(folder: str, bootstrap: int, n: int, d: int) -> None:
    small = {name: np.random.default_rng(0).normal(size=(100, 4)) for name in LANGUAGES}
    compare(small, against("en", LANGUAGES), ["cka", "pwcca", "anc"])  # whatever a first use loads
    start, peak, done = own_memory(), 0.0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.002):
            peak = max(peak, own_memory())

    watcher = threading.Thread(target=watch)
    watcher.start()
    for layer in (0, 1):
        one_layer(Path(folder), layer, d, bootstrap, n)
    done.set()
    watcher.join()
    print(peak - start)


def own_memory() -> float:
    """MB of this process that no file backs (Linux)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return float(next(line for line in lines if line.startswith("RssAnon")).split()[1]) / 1024
