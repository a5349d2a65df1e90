"""What `--repair` changed or left out is printed: one note for each file and kind, with the first lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from isogloss.cli import main
from isogloss.core.errors import InputError
from isogloss.core.files import repair_notes
from isogloss.corpora.formats.text import stream_files


def test_one_note_for_each_file_and_kind() -> None:
    made = [InputError("a", f"links within {n} and 2 words", "one", line=n) for n in range(1, 9)]
    made.insert(3, InputError("a", "links such as 0-1", "'x'", line=20))
    made.append(InputError("b", "links within 1 and 2 words", "one"))
    assert repair_notes(made) == [
        "repaired or skipped: a:1: expected links within 1 and 2 words, got one; and 7 more of this kind, "
        "in lines 2, 3, 4, 5, 6 …",
        "repaired or skipped: a:20: expected links such as 0-1, got 'x'",
        "repaired or skipped: b: expected links within 1 and 2 words, got one",
    ]


def test_streamed_text_reports_its_repairs(tmp_path: Path) -> None:
    path = tmp_path / "sl.txt"
    path.write_bytes("Dober dan.\r\nLep pozdrav\xff.\n".encode("latin-1"))
    with pytest.warns(UserWarning, match="repaired or skipped") as caught:
        assert len(list(stream_files([path], repair=True))) == 2
    messages = [str(warning.message) for warning in caught]
    assert [message.startswith(f"repaired or skipped: {path}:{line}") for message, line in zip(messages, (1, 2))] == [
        True,
        True,
    ]


def test_clean_prints_repairs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "sl.txt"
    path.write_bytes(b"Dober dan, kako si danes?\r\nLep pozdrav vsem skupaj.\n")
    with pytest.raises(SystemExit) as leave:
        main.run(["clean", str(path), "--lang", "sl", "--repair", "--out", str(tmp_path / "out.txt")])
    assert not leave.value.code
    assert "sl.txt:1: expected plain UTF-8 lines, got a carriage return" in capsys.readouterr().err
