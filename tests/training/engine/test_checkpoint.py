from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from isogloss.core.errors import UsageError
from isogloss.training.engine.checkpoints import Checkpoints


def saved(folder: Path, *steps: int, identity: str = "run") -> Checkpoints:
    checkpoints = Checkpoints(folder, identity)
    for step in steps:
        checkpoints.save(step, {"step": step, "weights": torch.full((3,), float(step)), "log": [{"score": None}]})
    return checkpoints


def test_the_newest_comes_back_and_two_are_kept(tmp_path: Path) -> None:
    checkpoints = saved(tmp_path / "new" / "folder", 2, 10, 9)
    state = checkpoints.latest()
    assert state is not None
    assert (state["step"], state["weights"].tolist(), state["log"]) == (10, [10.0] * 3, [{"score": None}])
    assert sorted(path.name for path in checkpoints.folder.iterdir()) == ["checkpoint-10", "checkpoint-9"]


def test_nothing_there_is_none(tmp_path: Path) -> None:
    assert Checkpoints(tmp_path / "absent", "run").latest() is None


@pytest.mark.parametrize("damage", ["flip", "cut", "no state", "no manifest", "bad manifest", "empty manifest"])
def test_a_damaged_one_is_passed_over(tmp_path: Path, damage: str) -> None:
    checkpoints = saved(tmp_path, 1, 2)
    state, manifest = tmp_path / "checkpoint-2" / "state.pt", tmp_path / "checkpoint-2" / "manifest.json"
    data = bytearray(state.read_bytes())
    if damage == "flip":
        data[len(data) // 2] ^= 1
        state.write_bytes(data)
    elif damage == "cut":
        state.write_bytes(data[: len(data) // 2])
    elif damage == "no state":
        state.unlink()
    elif damage == "no manifest":
        manifest.unlink()
    else:
        manifest.write_text("{" if damage == "bad manifest" else "[]")
    with pytest.warns(UserWarning, match="checkpoint-2 is damaged"):
        found = checkpoints.latest()
    assert found is not None
    assert found["step"] == 1


def test_an_unfinished_one_does_not_count_and_is_written_over(tmp_path: Path) -> None:
    saved(tmp_path, 1)
    (tmp_path / ".checkpoint-2.part").mkdir()
    (tmp_path / ".checkpoint-2.part" / "state.pt").write_bytes(b"half")
    assert saved(tmp_path).latest()["step"] == 1  # type: ignore[index]
    assert saved(tmp_path, 2).latest()["step"] == 2  # type: ignore[index]


def test_another_runs_state_is_not_taken(tmp_path: Path) -> None:
    saved(tmp_path, 1, identity="one")
    with pytest.raises(UsageError, match="another run"):
        Checkpoints(tmp_path, "two").latest()


def test_loading_runs_no_code(tmp_path: Path) -> None:
    """A pickle that would call something is refused even if its hash is right."""
    from isogloss.core.hashing import file_hash

    saved(tmp_path, 1)
    path = tmp_path / "checkpoint-1" / "state.pt"
    torch.save({"evil": Path.cwd}, path)
    manifest = {"identity": "run", "step": 1, "hash": file_hash(path)}
    (tmp_path / "checkpoint-1" / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(Exception, match=r"weights_only|Unsupported"):
        Checkpoints(tmp_path, "run").latest()


def test_when_one_is_due(tmp_path: Path) -> None:
    every_third = Checkpoints(tmp_path, "run", steps=3)
    assert [step for step in range(1, 10) if every_third.due(step)] == [3, 6, 9]
    assert Checkpoints(tmp_path, "run", minutes=0).due(1)
    assert not Checkpoints(tmp_path, "run").due(1)


def test_clear_leaves_what_is_not_ours(tmp_path: Path) -> None:
    folder = tmp_path / "checkpoints"
    checkpoints = saved(folder, 1, 2)
    checkpoints.clear()
    assert not folder.exists()
    saved(folder, 3)
    (folder / "notes.txt").write_text("mine")
    checkpoints.clear()
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]


def test_slow_ones_are_left_out_skip_if_slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("isogloss.training.engine.checkpoints.time.monotonic", lambda: clock[0])
    hashing = "isogloss.training.engine.checkpoints.file_hash"
    monkeypatch.setattr(hashing, lambda _: clock.__setitem__(0, clock[0] + 6.0))
    checkpoints = Checkpoints(tmp_path, "run", min_seconds=20.0)

    def kept(at: float, step: int, skip_if_slow: bool) -> bool:
        clock[0] = at
        checkpoints.save(step, {}, skip_if_slow=skip_if_slow)
        return (tmp_path / f"checkpoint-{step}").exists()

    assert not kept(19, 1, skip_if_slow=False)  # too soon in any case
    assert kept(21, 2, skip_if_slow=True)  # until 27: it took 6 seconds
    assert not kept(27 + 119, 3, skip_if_slow=True)
    assert kept(27 + 119, 4, skip_if_slow=False)  # asked for; until 152
    assert not kept(152 + 19, 5, skip_if_slow=False)
    assert kept(152 + 121, 6, skip_if_slow=True)
