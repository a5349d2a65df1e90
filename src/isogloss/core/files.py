"""Exact reading of lines and atomic writing of files.

Text is split only at `\\n` (U+2028 and form feed are content) and decoded as strict UTF-8. A byte-order mark, carriage
returns, NUL bytes, invalid UTF-8, a line longer than `MAX_LINE_BYTES` and a truncated compressed stream are errors that
name the line; `Repairs(allowed=True)` repairs the first four and records each repair.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import os
import re
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO, TextIO, cast

from isogloss.core.errors import InputError

MAX_LINE_BYTES = 4 << 20  # a longer "line" is a binary file or a lost newline
BLOCK_BYTES = 1 << 20
MAX_NAMED_LINES = 5  # in a note on repairs
BOM = b"\xef\xbb\xbf"
COMPRESSED = (".gz", ".xz", ".bz2")


class Repairs:
    """Whether damage may be repaired, and the repairs.

    Readers call `note(error)`: the error is raised unless repair is allowed, and recorded otherwise.
    """

    def __init__(self, allowed: bool = False):
        self.allowed = allowed
        self.made: list[InputError] = []

    def note(self, error: InputError) -> None:
        if not self.allowed:
            raise error
        self.made.append(error)


def repair_notes(made: Iterable[InputError]) -> list[str]:
    """One sentence for each file and kind of repair: the first one, how many more there are, and in which lines."""
    kinds: dict[tuple[str, str], list[InputError]] = {}
    for error in made:
        kinds.setdefault((error.path, re.sub(r"\d+|'.*?'", "", error.expected)), []).append(error)
    notes = []
    for first, *others in kinds.values():
        lines = [str(error.line) for error in others if error.line is not None]
        where = f", in lines {', '.join(lines[:MAX_NAMED_LINES])}{' …' if len(lines) > MAX_NAMED_LINES else ''}"
        more = f"; and {len(others):,} more of this kind{where if lines else ''}" if others else ""
        notes.append(f"repaired or skipped: {first}{more}")
    return notes


def open_binary(path: str | os.PathLike[str]) -> BinaryIO:
    """The bytes of a file, decompressed by its suffix (`.gz`, `.xz`, `.bz2`)."""
    path = Path(path)
    opener: Any = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}.get(path.suffix, open)
    try:
        if path.is_dir():
            raise InputError(path, "a file", "a directory")
        return cast(BinaryIO, opener(path, "rb"))
    except FileNotFoundError:
        raise InputError(path, "an existing file", "nothing there", advice=packed_instead(path)) from None
    except OSError as error:
        raise InputError(path, "a readable file", error.strerror or str(error)) from None


def packed_instead(path: Path) -> str:
    """Advice for a missing file that exists compressed."""
    compressed = [path.name + suffix for suffix in COMPRESSED if Path(f"{path}{suffix}").is_file()]
    return f"there is {compressed[0]}: compressed files are read directly" if compressed else ""


def bare_suffix(path: str | os.PathLike[str]) -> str:
    """The suffix below any compression suffix.

    >>> bare_suffix("en_ewt-ud-train.conllu.xz")
    '.conllu'
    """
    path = Path(path)
    return Path(path.stem).suffix if path.suffix in COMPRESSED else path.suffix


def read_lines(path: str | os.PathLike[str], repairs: Repairs | None = None) -> Iterator[str]:
    """The lines of a UTF-8 file without their `\\n`, streamed in blocks.

    A last line without a newline is yielded like any other; an empty file yields nothing.
    """
    repairs = repairs or Repairs()
    line = 1  # number of the first line of the block at hand
    for block in _blocks(path):
        if line == 1 and block.startswith(BOM):
            repairs.note(_damage(path, 1, "a byte-order mark"))
            block = block[len(BOM) :]
        for byte, name in ((b"\0", "a NUL byte"), (b"\r", "a carriage return")):
            if byte in block:
                repairs.note(_damage(path, line + block[: block.index(byte)].count(b"\n"), name))
                block = block.replace(byte, b"")
        lines = _decode(block, path, line, repairs).split("\n")
        if lines[-1] == "":
            lines.pop()
        yield from lines
        line += len(lines)


def read_text(path: str | os.PathLike[str], repairs: Repairs | None = None) -> str:
    """The content of a UTF-8 file, for formats such as JSON that are not line-based (no line limit)."""
    repairs = repairs or Repairs()
    with open_binary(path) as file:
        block = _read(file, path, -1, 1)
    if block.startswith(BOM):
        repairs.note(_damage(path, 1, "a byte-order mark"))
        block = block[len(BOM) :]
    return _decode(block, path, 1, repairs)


def read_head(path: str | os.PathLike[str], lines: int = 50) -> list[str]:
    """The first lines, without checks: enough to recognise the format. A very long first line is cut."""
    with open_binary(path) as file:
        block = _read(file, path, 1 << 16, 1).removeprefix(BOM)
    head = block.decode(errors="replace").replace("\r", "").split("\n")
    if len(head) > 1 or not block:
        head.pop()  # empty after the last newline, or cut
    return head[:lines]


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    """A text file that is written completely or not at all; compressed by suffix, with reproducible bytes."""
    with atomic_write_binary(path) as file:
        text = io.TextIOWrapper(file, "utf-8", newline="\n")
        yield text
        text.detach()  # flushes, and leaves closing to the binary file's owner


@contextlib.contextmanager
def atomic_write_binary(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file that is written completely or not at all: a temporary file that is renamed at the end."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as plain:
            with _compressing(plain, path.suffix) as file:
                yield cast(BinaryIO, file)
            plain.flush()
            os.fsync(plain.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def cache_folder() -> Path:
    """The folder for what can be recomputed: `isogloss` in $XDG_CACHE_HOME, or in ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "isogloss"


def fsync_path(path: Path) -> None:
    """Have the system write a file, or a folder where it can, to the disk now."""
    with contextlib.suppress(PermissionError):  # Windows cannot open folders
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _compressing(plain: IO[bytes], suffix: str) -> Any:
    if suffix == ".gz":
        return gzip.GzipFile(filename="", mode="wb", fileobj=plain, mtime=0)
    if suffix == ".xz":
        return lzma.open(plain, "wb")
    if suffix == ".bz2":
        return bz2.open(plain, "wb")
    return contextlib.nullcontext(plain)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _read(file: BinaryIO, path: str | os.PathLike[str], size: int, line: int) -> bytes:
    try:
        return file.read(size)
    except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
        raise InputError(path, "a whole compressed file", f"{error or 'an early end'}", line=line) from None


def _blocks(path: str | os.PathLike[str]) -> Iterator[bytes]:
    """Blocks of complete lines; only the last may lack its final newline."""
    remainder, line = b"", 1
    with open_binary(path) as file:
        while block := _read(file, path, BLOCK_BYTES, line):
            end = block.rfind(b"\n") + 1
            if not end:
                remainder += block
            else:
                lines = remainder + block[:end]
                yield lines
                line += lines.count(b"\n")
                remainder = block[end:]
            if len(remainder) > MAX_LINE_BYTES:
                raise InputError(path, f"lines of at most {MAX_LINE_BYTES} bytes", "a longer one", line=line)
    if remainder:
        yield remainder


def _decode(block: bytes, path: str | os.PathLike[str], line: int, repairs: Repairs) -> str:
    try:
        return block.decode()
    except UnicodeDecodeError as error:
        where = line + block[: error.start].count(b"\n")
        byte = f"the byte 0x{block[error.start]:02x}"
        repairs.note(_damage(path, where, byte, "UTF-8"))
        return block.decode(errors="replace")


def _damage(path: str | os.PathLike[str], line: int, got: str, expected: str = "plain UTF-8 lines") -> InputError:
    return InputError(path, expected, got, line=line, advice="repair=True (--repair) repairs this")
