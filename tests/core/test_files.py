from __future__ import annotations

import gzip
import lzma
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.core import files
from isogloss.core.errors import InputError
from isogloss.core.files import Repairs, atomic_write, bare_suffix, read_head, read_lines, read_text


@given(st.lists(st.text(st.characters(exclude_characters="\n\r\0\ufeff", exclude_categories=["Cs"]))))
def test_lines_are_split_at_newlines_and_nowhere_else(tmp_path: Path, lines: list[str]) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    assert list(read_lines(path)) == lines


def test_blocks_join_into_the_same_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["é" * n for n in range(200)]
    path = tmp_path / "a.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    for size in (1, 2, 3, 7, 64, 1 << 20):
        monkeypatch.setattr(files, "BLOCK_BYTES", size)
        assert list(read_lines(path)) == lines


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz", ".bz2"])
def test_written_text_is_read_back(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"deep/er/a.txt{suffix}"
    with atomic_write(path) as file:
        file.write("one\u2028still one\ntwo\n")
    assert list(read_lines(path)) == ["one\u2028still one", "two"]
    first = path.read_bytes()
    with atomic_write(path) as file:
        file.write("one\u2028still one\ntwo\n")
    assert path.read_bytes() == first, "the same text must give the same bytes"


DAMAGE = {
    "BOM": (b"\xef\xbb\xbfa\nb\n", 1, "byte-order mark", ["a", "b"]),
    "CRLF": (b"a\nb\r\nc\n", 2, "carriage return", ["a", "b", "c"]),
    "NUL": (b"a\nb\nc\0d\n", 3, "NUL", ["a", "b", "cd"]),
    "Latin-1": (b"a\ncaf\xe9\n", 2, "0xe9", ["a", "caf\ufffd"]),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_an_error_with_its_line_or_a_noted_repair(tmp_path: Path, name: str) -> None:
    content, line, word, mended = DAMAGE[name]
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=word) as caught:
        list(read_lines(path))
    assert (caught.value.line, caught.value.path) == (line, str(path))
    repairs = Repairs(allowed=True)
    assert list(read_lines(path, repairs)) == mended
    assert [error.line for error in repairs.made] == [line]


def test_an_absurdly_long_line_is_refused_before_it_fills_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"fine\n" + b"x" * (files.MAX_LINE_BYTES + files.BLOCK_BYTES + 1))
    with pytest.raises(InputError, match="at most") as caught:
        list(read_lines(path))
    assert caught.value.line == 2


@pytest.mark.parametrize(("suffix", "module"), [(".gz", gzip), (".xz", lzma)])
@pytest.mark.parametrize("cut", [1, 10, 40])
def test_a_cut_compressed_file_is_an_error(tmp_path: Path, suffix: str, module, cut: int) -> None:
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(module.compress(b"some line\n" * 1000)[:-cut])
    with pytest.raises(InputError, match="whole compressed file"):
        list(read_lines(path))
    with pytest.raises(InputError, match="whole compressed file"):
        read_text(path)


def test_missing_files_and_directories_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="existing file"):
        list(read_lines(tmp_path / "absent.txt"))
    (tmp_path / "absent.txt.xz").touch()
    with pytest.raises(InputError, match=r"nothing there; there is absent.txt.xz:"):
        list(read_lines(tmp_path / "absent.txt"))
    with pytest.raises(InputError, match="a directory"):
        list(read_lines(tmp_path))


def test_a_failed_write_leaves_the_old_file_and_no_rubbish(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")

    def write_and_fail() -> None:
        with atomic_write(path) as file:
            file.write("new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_and_fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_control_c_during_a_write_leaves_nothing_half_written(tmp_path: Path) -> None:
    program = textwrap.dedent("""
        import sys, time
        from isogloss.core.files import atomic_write
        with atomic_write(sys.argv[1]) as file:
            file.write("half")
            print("ready", flush=True)
            time.sleep(60)
    """)
    path = tmp_path / "a.txt"
    process = subprocess.Popen([sys.executable, "-c", program, path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    process.wait(timeout=20)
    assert list(tmp_path.iterdir()) == []


def test_bare_suffix() -> None:
    assert [bare_suffix(p) for p in ("a.conllu.xz", "a.tsv", "a.gz", "a")] == [".conllu", ".tsv", "", ""]


@pytest.mark.parametrize(
    ("content", "head"), [(b"", []), (b"a", ["a"]), (b"a\n", ["a"]), (b"\xef\xbb\xbfa\r\nb\xff\nc", ["a", "b\ufffd"])]
)
def test_the_head_of_a_file_is_read_whatever_its_state(tmp_path: Path, content: bytes, head: list[str]) -> None:
    (tmp_path / "a.txt").write_bytes(content)
    assert read_head(tmp_path / "a.txt") == head


def test_the_head_of_a_file_of_one_endless_line_is_its_beginning(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b'{"data": [' + b"0, " * files.MAX_LINE_BYTES)
    assert read_head(tmp_path / "a.json")[0].startswith('{"data": [0, ')
