from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from isogloss.corpora.lab.laboratory import Laboratory
from isogloss.models.bilstm.baseline import bilstm
from isogloss.models.loading.load import load_model
from isogloss.store.entries import Store
from isogloss.studies.execution import encoding_cache as encoded
from isogloss.studies.execution.encoding_cache import pack_examples, unpack_examples, with_encoding_cache
from isogloss.studies.execution.run_job import _worker_context
from isogloss.tasks import TASKS
from isogloss.tasks.bilstm import task_for_model
from isogloss.tasks.examples import Example

IDS = arrays.arrays(np.int32, st.integers(0, 5), elements=st.integers(0, 9))
VALUES = arrays.arrays(np.int64, st.integers(0, 4), elements=st.integers(-100, 9))
EXAMPLES = st.builds(
    lambda windows, marked, one, two: Example(
        tuple(windows), tuple(w * 0 for w in windows) if marked else (), {"position": one, "tags": two}
    ),
    st.lists(IDS, min_size=1, max_size=3),
    st.booleans(),
    VALUES,
    VALUES,
)


def same(ours: Example, theirs: Example) -> bool:
    def parts(one: Example) -> list[Any]:
        return [*one.windows, *one.segments, *one.arrays.values()]

    return (
        list(ours.arrays) == list(theirs.arrays)
        and len(ours.windows) == len(theirs.windows)
        and len(parts(ours)) == len(parts(theirs))
        and all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in zip(parts(ours), parts(theirs)))
    )


@given(st.lists(EXAMPLES, min_size=1, max_size=6))
def test_examples_come_back_as_they_were(tmp_path_factory: pytest.TempPathFactory, examples: list[Example]) -> None:
    path = tmp_path_factory.mktemp("npz") / "x.npz"
    np.savez(path, **pack_examples(examples))
    back = unpack_examples(path)
    assert len(back) == len(examples)
    assert all(map(same, back, examples))


@pytest.mark.parametrize("task", list(TASKS))
def test_every_task_is_encoded_once(task: str, bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoded, "MIN_CACHE_SECONDS", 0.0)
    Store(tmp_path)
    model, plain = load_model(bert, device="cpu"), TASKS[task]
    corpus = getattr(Laboratory(), plain.corpus)("qla", "train", 12)
    labels, names = plain.labels(corpus), {id(corpus): "a corpus"}
    expected = plain.encode(model, corpus, labels)
    first = with_encoding_cache(plain, names, _worker_context(str(tmp_path), None)).encode(model, corpus, labels)
    assert all(map(same, first, expected))
    (id_,) = Store(tmp_path).ids()
    assert id_.startswith("encoded-")
    _worker_context.cache_clear()  # another process
    reader = with_encoding_cache(plain, names, _worker_context(str(tmp_path), None))
    monkeypatch.setattr(encoded, "pack_examples", lambda examples: pytest.fail("encoded again"))
    assert all(map(same, reader.encode(model, corpus, labels), expected))
    (Store(tmp_path).place(id_) / encoded.EXAMPLES_FILE).write_bytes(b"damaged")
    monkeypatch.undo()
    _worker_context.cache_clear()
    again = with_encoding_cache(plain, names, _worker_context(str(tmp_path), None)).encode(model, corpus, labels)
    assert all(map(same, again, expected))
    _worker_context.cache_clear()


def test_tasks_over_the_baseline_are_encoded_too(tmp_path: Path) -> None:
    model = bilstm(device="cpu", units=8)
    task = task_for_model(model, TASKS["pos"])
    corpus = Laboratory().treebank("qla", "train", 12)
    examples = task.encode(model, corpus, task.labels(corpus))
    np.savez(tmp_path / "x.npz", **pack_examples(examples))
    assert all(map(same, unpack_examples(tmp_path / "x.npz"), examples))
