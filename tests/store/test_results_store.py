from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.core.errors import InputError, UsageError
from isogloss.store import entries as module
from isogloss.store.entries import Damaged, Store, StoreFull

ID = "toy-0123"


def put(store: Store, id: str = ID, **files: bytes) -> None:
    with store.making(id, {"kind": "toy"}) as folder:
        for name, content in files.items():
            path = folder / name.replace("__", "/")
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)


def everything(store: Store) -> list[str]:
    return sorted(p.relative_to(store.folder).as_posix() for p in store.folder.rglob("*") if p.is_file())


@given(st.dictionaries(st.sampled_from(["a", "b", "deep__c"]), st.binary(max_size=50), min_size=1))
def test_what_is_put_in_comes_out(tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes]) -> None:
    store = Store(tmp_path_factory.mktemp("store"))
    assert store.get(ID) is None
    put(store, **files)
    entry = Store(store.folder).need(ID)
    assert {name: entry.file(name.replace("__", "/")).read_bytes() for name in files} == files
    assert entry.checked_folder() == store.place(ID)
    assert store.ids() == {ID}


def test_an_error_while_writing_leaves_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    before = everything(store)
    with pytest.raises(AttributeError), store.making(ID, {}) as folder:
        (folder / "half").write_bytes(b"1").bit_cont()  # type: ignore[attr-defined]
    assert everything(store) == before
    assert store.get(ID) is None


def test_the_first_of_two_stays(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.making(ID, {}) as slow:
        (slow / "a").write_bytes(b"second")
        put(store, a=b"first")
    assert store.need(ID).file("a").read_bytes() == b"first"
    assert not any((tmp_path / "temporary").iterdir())


@pytest.mark.parametrize("name", ["a", "deep/b", "manifest.json"])
@given(place=st.integers(0, 5000), bits=st.integers(1, 255))
def test_any_changed_byte_is_seen(tmp_path_factory: pytest.TempPathFactory, name: str, place: int, bits: int) -> None:
    store = Store(tmp_path_factory.mktemp("store"))
    put(store, a=b"some bytes", deep__b=b"others")
    path, told = store.place(ID) / name, store.need(ID).manifest
    content = bytearray(path.read_bytes())
    content[place % len(content)] ^= bits
    path.write_bytes(content)
    try:
        entry = store.need(ID)
        entry.checked_folder()
    except Damaged:
        return
    assert name == "manifest.json"
    assert entry.manifest == told, "a tab for a space between JSON's parts loses nothing; all else must be seen"


@pytest.mark.parametrize("name", ["a", "manifest.json"])
def test_a_missing_file_is_seen(tmp_path: Path, name: str) -> None:
    store = Store(tmp_path)
    put(store, a=b"1")
    (store.place(ID) / name).unlink()
    with pytest.raises(Damaged):
        store.need(ID).checked_folder()


def test_an_entry_that_comes_while_one_looks_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process finishes it after the manifest was missed and before the folder is looked for."""
    store, looks = Store(tmp_path), Path.exists

    def exists(path: Path, **options: Any) -> bool:
        monkeypatch.setattr(Path, "exists", looks)
        put(store, a=b"1")
        return looks(path, **options)

    monkeypatch.setattr(Path, "exists", exists)
    entry = store.get(ID)
    assert entry is not None
    assert entry.file("a").read_bytes() == b"1"


def test_an_entry_in_anothers_place_is_seen(tmp_path: Path) -> None:
    store = Store(tmp_path)
    put(store, a=b"1")
    store.place(ID).rename(store.place("toy-other"))
    with pytest.raises(Damaged, match="wrong place"):
        store.need("toy-other")


def test_a_damaged_entry_is_set_aside_and_made_again(tmp_path: Path) -> None:
    store = Store(tmp_path)
    put(store, a=b"1")
    (store.place(ID) / "a").write_bytes(b"2")
    store.quarantine(ID, "the bytes of a have changed")
    assert store.get(ID) is None
    assert list(store.quarantined().values()) == ["the bytes of a have changed"]
    store.quarantine(ID, "twice")
    put(store, a=b"1")
    assert store.need(ID).file("a").read_bytes() == b"1"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_told_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    store = Store(tmp_path)
    put(store, "toy-done", a=b"1")
    before = everything(store)

    def full(*_: Any) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(module, "fsync_path", full)
        with pytest.raises(StoreFull, match="free some space"):
            put(store, a=b"1" * 1000)
    assert everything(store) == before
    put(store, a=b"1")
    assert store.ids() == {ID, "toy-done"}


def test_other_errors_of_the_disk_stay_what_they_are(tmp_path: Path) -> None:
    with pytest.raises(PermissionError), Store(tmp_path).making(ID, {}):
        raise PermissionError(errno.EACCES, "no")


@pytest.mark.parametrize("words", ["No space left on device (os error 28)", "PytorchStreamWriter failed writing file"])
def test_libraries_have_their_own_words_for_a_full_disk(tmp_path: Path, words: str) -> None:
    assert isinstance(Store(tmp_path).explained(RuntimeError(words)), StoreFull)


KILLED = """
import os, signal, sys
from isogloss.store import entries as module
step = int(sys.argv[2])
steps = iter(range(1000))
def counted(function):
    def run(*arguments):
        if next(steps) == step:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments)
    return run
store = module.Store(sys.argv[1])
module.fsync_path = counted(module.fsync_path)
module.file_hash = counted(module.file_hash)
module.Path.rename = counted(module.Path.rename)
with store.making("toy-0123", {}) as folder:
    (folder / "a").write_bytes(b"1" * 100)
    (folder / "b").write_bytes(b"2" * 100)
"""


def test_a_kill_at_any_moment_leaves_no_half_entry(tmp_path: Path) -> None:
    """Each hash, each wait for the disk and the renaming are moments to be killed at."""
    store, codes = Store(tmp_path), []
    for step in range(20):
        done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), str(step)], check=False, timeout=60)
        codes.append(done.returncode)
        entry = store.get(ID)
        if entry is not None:
            assert entry.checked_folder().is_dir()
        if done.returncode == 0:
            break
    assert codes[:5] == [-signal.SIGKILL] * 5
    assert codes[-1] == 0
    assert store.need(ID).file("b").read_bytes() == b"2" * 100


def test_a_removed_entry_is_gone(tmp_path: Path) -> None:
    store = Store(tmp_path)
    put(store, a=b"1")
    store.remove(ID)
    store.remove(ID)
    assert store.ids() == set()
    assert not any((tmp_path / "temporary").iterdir())


def test_a_store_of_another_version_is_refused(tmp_path: Path) -> None:
    Store(tmp_path)
    (tmp_path / module.MARK).write_text('{"store": 99}')
    with pytest.raises(UsageError, match="version 99"):
        Store(tmp_path)
    (tmp_path / module.MARK).write_text("[]")
    with pytest.raises(InputError):
        Store(tmp_path)


def test_a_file_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="a folder that can be written to"):
        Store(tmp_path / "file")
