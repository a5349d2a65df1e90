"""The store gives back the collected vectors, row by row and block by block, and leaves nothing behind."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tiny_models import SENTENCES

from isogloss.core.errors import InputError, UnknownName, UsageError
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.states.hidden_states import sentence_states
from isogloss.models.states.state_files import StateStore

Tiny = Callable[[str], LoadedModel]


def test_rows_and_blocks_equal_the_collected_states(tiny: Tiny, tmp_path: Path) -> None:
    model = tiny("llama")
    states = sentence_states(model, SENTENCES, layers=model.layer_names, budget=50)
    want = states.collect()
    with StateStore(tmp_path) as store:
        store.write("en", states)
        store.write("fr", sentence_states(model, SENTENCES[::-1]))
        assert store.languages == ["en", "fr"]
        for number, layer in enumerate(model.layer_names):
            rows = store.layer("en", layer)
            assert rows.shape == (len(rows), 16) == want[number].shape
            assert rows.dtype == np.asarray(rows).dtype == np.float32
            np.testing.assert_array_equal(np.asarray(rows), want[number])
            for part in (slice(2, 5), slice(None, None, 2), slice(7, 100), 3, -1, [4, 0, 4], np.array([1, 2])):
                np.testing.assert_array_equal(rows[part], want[number][part])
        np.testing.assert_allclose(store.layer("fr", 2)[:], want[2][::-1], rtol=1e-4, atol=2e-5)
        assert np.asarray(rows, dtype=np.float64).dtype == np.float64
    assert not list(tmp_path.iterdir())


def test_a_slice_is_a_copy_and_does_not_change_the_store(tiny: Tiny) -> None:
    with StateStore() as store:
        store.write("en", sentence_states(tiny("bert"), SENTENCES))
        store.layer("en", 1)[0:3][:] = 0
        assert np.abs(store.layer("en", 1)[0:3]).max() > 0


def test_no_sentences_are_no_rows(tiny: Tiny) -> None:
    with StateStore() as store:
        store.write("en", sentence_states(tiny("bert"), []))
        assert store.layer("en", 0)[:].shape == (0, 16)


def test_wrong_names_are_answered(tiny: Tiny) -> None:
    with StateStore() as store:
        store.write("en", sentence_states(tiny("bert"), SENTENCES, layers=[0, 3]))
        with pytest.raises(UnknownName, match="unknown language 'fr'"):
            store.layer("fr", 0)
        with pytest.raises(UsageError, match="has the layers 0, 3 of 'en', not 2"):
            store.layer("en", 2)
        with pytest.raises(UsageError, match="already has vectors of 'en'"):
            store.write("en", sentence_states(tiny("bert"), SENTENCES))


def test_a_failed_run_leaves_no_language(tiny: Tiny) -> None:
    def stop(_done: int, _total: int) -> None:
        raise KeyboardInterrupt

    with StateStore() as store:
        with pytest.raises(KeyboardInterrupt):
            store.write("en", sentence_states(tiny("bert"), SENTENCES, progress=stop))
        assert store.languages == []
        store.write("en", sentence_states(tiny("bert"), SENTENCES))
        np.testing.assert_array_equal(store.layer("en", 3)[:], sentence_states(tiny("bert"), SENTENCES).collect()[3])


def test_a_full_disk_is_said_before_the_model_runs(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_args: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with StateStore() as store, pytest.raises(InputError, match="free bytes, got No space left on device"):
        store.write("en", sentence_states(tiny("bert"), SENTENCES))


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="resident memory is read from /proc")
def test_reading_blocks_keeps_memory_small(tmp_path: Path) -> None:
    from isogloss.models.states.state_files import LayerRows

    path, shape = tmp_path / "big.f32", (40_000, 512)  # 80 MB
    np.memmap(path, dtype=np.float32, mode="w+", shape=shape)[:] = 1

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    rows, before = LayerRows(path, shape), resident()
    total = 0.0
    for start in range(0, len(rows), 1000):
        total += float(rows[start : start + 1000].sum())
        assert resident() - before < 20e6
    assert total == 40_000 * 512
