"""The second-moment battery and sentence matching, against computing every pair and layer by itself.

The states lie in float32 files, as extraction leaves them. "One by one" is what the papers' tools do: for every
layer and pair, CKA, SVCCA (20 directions), PWCCA and ANC each from the two matrices in float64, with NumPy. The
peers are the packages that install; each is timed on one layer and pair (they know nothing of layers and pairs)
and set against our time for one layer and pair of the same run.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
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


def run(quick: bool = False) -> None:
    layers, n, d = (2, 3000, 256) if quick else (13, 10_000, 768)
    with tempfile.TemporaryDirectory() as folder:
        write_states(Path(folder), layers, n, d)
        battery(Path(folder), layers, n, d)
        growth(Path(folder), n, d)
        matched(Path(folder), n, d)


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


def battery(folder: Path, layers: int, n: int, d: int) -> None:
    print(
        f"{layers} layers × {len(LANGUAGES) - 1} pairs × {n} sentences × {d} units, {torch.get_num_threads()} threads"
    )
    pair = [states(folder, name, 0, d).astype(np.float64) for name in ("en", "fr")]
    slow = [function(*pair) for function in ONE_BY_ONE.values()]
    difference = np.abs(np.array(slow) - one_layer(folder, 0, d)[:4]).max()
    print(f"largest difference from the one-by-one results: {difference:.1e}")
    before, start = peak_memory(folder, 0, n, d), time.perf_counter()
    for layer in range(layers):
        one_layer(folder, layer, d)
    ours = time.perf_counter() - start
    used = peak_memory(folder, 1, n, d) - before
    with_intervals = peak_memory(folder, 2, n, d) - before
    held = layers * len(LANGUAGES) * n * d * 4 / 2**20
    start = time.perf_counter()
    for layer in range(layers):
        for target in against("en", LANGUAGES):
            x, y = (states(folder, name, layer, d).astype(np.float64) for name in target)
            for function in ONE_BY_ONE.values():
                function(x, y)
    alone = time.perf_counter() - start
    print(f"CKA, SVCCA, PWCCA, ANC: ours {ours:.1f} s, one by one {alone:.1f} s: {alone / ours:.1f} ×")
    print(
        f"peak memory beyond the libraries: {used:.0f} MB, with intervals {with_intervals:.0f} MB; all states {held:.0f} MB"
    )
    share = best_times(
        {"values": lambda: one_layer(folder, 0, d), "intervals": lambda: one_layer(folder, 0, d, 100)}, 2
    )
    print(f"one layer: values {share['values']:.2f} s, with intervals {share['intervals']:.2f} s")
    x, y = pair
    times = {"ours, per layer and pair": share["values"] / (len(LANGUAGES) - 1)}
    for name, contender in [*ONE_BY_ONE.items(), *peers()]:
        times[name] = best_times({name: lambda contender=contender: contender(x, y)}, 1)[name]
    report(times, ours="ours, per layer and pair")


def growth(folder: Path, n: int, d: int) -> None:
    times = {
        f"{part} sentences": timed(lambda part=part: one_layer(folder, 0, d, n=part)) for part in (n // 4, n // 2, n)
    }
    print("time of one layer:", ", ".join(f"{name} {seconds:.2f} s" for name, seconds in times.items()))
    memory = [peak_memory(folder, 1, part, d) for part in (n // 4, n)]
    print(f"peak memory: {n // 4} sentences {memory[0]:.0f} MB, {n} sentences {memory[1]:.0f} MB")


def matched(folder: Path, n: int, d: int) -> None:
    x, y = (torch.from_numpy(np.array(states(folder, name, 0, d))) for name in ("en", "fr"))
    target, out = y.T, torch.empty(matching.ROWS, n)

    def bare() -> None:
        for start in range(0, n, matching.ROWS):
            block = x[start : start + matching.ROWS]
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


def peers() -> Iterator[tuple[str, Callable[[np.ndarray, np.ndarray], object]]]:
    """What of the peers is installed."""
    try:
        import repsim

        yield "repsim: linear CKA", lambda x, y: repsim.cka([x, y], "linear")
        yield "repsim: SVCCA", lambda x, y: repsim.svcca([x, y])
        yield "repsim: PWCCA", lambda x, y: repsim.pwcca([x, y])
    except ImportError:
        print("repsim is not installed")
    try:
        from ckatorch.core import cka_base

        yield "ckatorch: linear CKA", lambda x, y: cka_base(torch.from_numpy(x), torch.from_numpy(y))
    except ImportError:
        print("ckatorch is not installed")
    try:
        from torch_cka import CKA

        yield "torch-cka: batches of 256", lambda x, y: torch_cka(CKA, x, y)
    except ImportError:
        print("torch-cka is not installed (it needs matplotlib)")


def torch_cka(peer: type, x: np.ndarray, y: np.ndarray) -> None:
    """It takes models and loaders; its batches give another estimate than all sentences at once."""
    from torch.utils.data import DataLoader, TensorDataset

    models = [torch.nn.Sequential(torch.nn.Identity()) for _ in range(2)]
    cka = peer(*models, "en", "fr", ["0"], ["0"])
    cka.compare(
        *(DataLoader(TensorDataset(torch.from_numpy(z).float()), batch_size=256, drop_last=True) for z in (x, y))
    )


def timed(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def peak_memory(folder: Path, passes: int, n: int, d: int) -> float:
    """Peak MB of a fresh process that imports all and measures a layer: not at all (0), or twice (1; 2: intervals)."""
    code = f"from benchmarks.similarity_battery import memory_probe; memory_probe({str(folder)!r}, {passes}, {n}, {d})"
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def memory_probe(folder: str, passes: int, n: int, d: int) -> None:
    small = {name: np.random.default_rng(0).normal(size=(100, 4)) for name in LANGUAGES}
    compare(small, against("en", LANGUAGES), ["cka", "pwcca", "anc"])  # whatever a first use loads
    if passes:
        for layer in (0, 1):
            one_layer(Path(folder), layer, d, 100 if passes == 2 else 0, n)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
