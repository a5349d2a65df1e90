"""Reading lines exactly and writing files atomically: the one door between text files and everything else.

Readers get text split at `\\n` and at nothing else (U+2028, form feed and their kin are content), decoded
as strict UTF-8. A byte-order mark, carriage returns, NUL bytes, invalid UTF-8, a line longer than
`MAX_LINE` and a cut compressed stream are errors that name the line; `Repairs(allowed=True)` mends the
first four and keeps a note of each.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import os
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO, TextIO, cast

from isogloss.core.errors import InputError

MAX_LINE = 4 << 20  # bytes; a longer "line" is a binary file or a lost newline
BLOCK = 1 << 20
BOM = b"\xef\xbb\xbf"
COMPRESSED = (".gz", ".xz", ".bz2")


class Repairs:
    """Whether damage may be mended, and what was.

    Readers call `note(error)`: it raises unless repair is allowed, and is recorded otherwise.
    """

    def __init__(self, allowed: bool = False):
        self.allowed = allowed
        self.made: list[InputError] = []

    def note(self, error: InputError) -> None:
        if not self.allowed:
            raise error
        self.made.append(error)


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
    """What to say of a file that is not there, if it is there compressed."""
    found = [path.name + suffix for suffix in COMPRESSED if Path(f"{path}{suffix}").is_file()]
    return f"there is {found[0]}: compressed files are read as they are" if found else ""


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
    """A whole UTF-8 file, for formats such as JSON that are not made of lines (no line limit)."""
    repairs = repairs or Repairs()
    with open_binary(path) as file:
        block = _read(file, path, -1, 1)
    if block.startswith(BOM):
        repairs.note(_damage(path, 1, "a byte-order mark"))
        block = block[len(BOM) :]
    return _decode(block, path, 1, repairs)


def read_head(path: str | os.PathLike[str], lines: int = 50) -> list[str]:
    """The first lines, damage overlooked: enough to tell what kind of file it is. A huge first line is cut."""
    with open_binary(path) as file:
        block = _read(file, path, 1 << 16, 1).removeprefix(BOM)
    head = block.decode(errors="replace").replace("\r", "").split("\n")
    if len(head) > 1 or not block:
        head.pop()  # empty after the last newline, or cut
    return head[:lines]


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    """Text that appears at `path` whole or not at all; compressed by suffix, same bytes every time."""
    with atomic_write_binary(path) as file:
        text = io.TextIOWrapper(file, "utf-8", newline="\n")
        yield text
        text.detach()  # flushes, and leaves closing to the binary file's owner


@contextlib.contextmanager
def atomic_write_binary(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Bytes that appear at `path` whole or not at all: a neighbour file renamed at the end."""
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
    """Blocks of whole lines; only the last may lack its final newline."""
    rest, line = b"", 1
    with open_binary(path) as file:
        while block := _read(file, path, BLOCK, line):
            end = block.rfind(b"\n") + 1
            if not end:
                rest += block
            else:
                whole = rest + block[:end]
                yield whole
                line += whole.count(b"\n")
                rest = block[end:]
            if len(rest) > MAX_LINE:
                raise InputError(path, f"lines of at most {MAX_LINE} bytes", "a longer one", line=line)
    if rest:
        yield rest


def _decode(block: bytes, path: str | os.PathLike[str], line: int, repairs: Repairs) -> str:
    try:
        return block.decode()
    except UnicodeDecodeError as error:
        where = line + block[: error.start].count(b"\n")
        byte = f"the byte 0x{block[error.start]:02x}"
        repairs.note(_damage(path, where, byte, "UTF-8"))
        return block.decode(errors="replace")


def _damage(path: str | os.PathLike[str], line: int, got: str, expected: str = "plain UTF-8 lines") -> InputError:
    return InputError(path, expected, got, line=line, advice="repair=True (--repair) mends this")
