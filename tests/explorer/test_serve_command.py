"""`isogloss serve` as a process: it answers, and ends when asked to."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from stores import parsed, write_store

from isogloss.cli import main


def test_it_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    write_store(tmp_path, parsed())
    command = [sys.executable, "-u", "-m", "isogloss", "serve", str(tmp_path), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            said = process.stdout.readline()
            address = re.search(r"http://127\.0\.0\.1:\d+/", said)
            assert address, said
            with urllib.request.urlopen(address[0], timeout=30) as answer:
                assert "trees" in answer.read().decode()
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0
            assert "Traceback" not in (process.stderr.read() if process.stderr else "")
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["{empty}"], 3, "expected a store"),
        (["{store}", "--host", "203.0.113.1"], 3, "expected a free address to listen on"),
    ],
)
def test_what_cannot_be_served(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], code: int, said: str
) -> None:
    (tmp_path / "empty").mkdir()
    write_store(tmp_path / "store", parsed())
    given = [word.format(empty=tmp_path / "empty", store=tmp_path / "store") for word in words]
    with pytest.raises(SystemExit) as leave:
        main.run(["serve", *given, "--port", "0"])
    assert leave.value.code == code
    error = capsys.readouterr().err
    assert said in error.replace("\n", " ")
    assert "Traceback" not in error


def test_without_the_packages_it_says_what_to_install(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(SystemExit) as leave:
        main.run(["serve", str(tmp_path)])
    assert leave.value.code == 4
    assert "isogloss[serve]" in capsys.readouterr().err
