"""Verse-aligned files: gaps and merged verses."""

from __future__ import annotations

from pathlib import Path

import pytest

import isogloss as ig
from isogloss.core.errors import InputError


def bible(folder: Path, **columns: list[str]) -> dict[str, Path]:
    count = len(next(iter(columns.values())))
    (folder / "vref.txt").write_text("".join(f"GEN 1:{i + 1}\n" for i in range(count)))
    for lang, lines in columns.items():
        (folder / f"{lang}.txt").write_text("".join(f"{line}\n" for line in lines))
    return {lang: folder / f"{lang}.txt" for lang in columns}


def test_verses_that_all_have(tmp_path: Path) -> None:
    paths = bible(tmp_path, en=["a", "", "c", "d"], wo=["A", "B", "C", ""])
    pairs = ig.read_parallel(paths)
    assert (pairs.ids, pairs.texts) == (("GEN 1:1", "GEN 1:3"), {"en": ("a", "c"), "wo": ("A", "C")})


def test_ranges_merge_the_same_verses_everywhere(tmp_path: Path) -> None:
    paths = bible(tmp_path, en=["a", "b", "c", "d", "e"], tr=["AB", "<range>", "C", "DE", "<range>"])
    pairs = ig.read_parallel(paths)
    assert pairs.ids == ("GEN 1:1+GEN 1:2", "GEN 1:3", "GEN 1:4+GEN 1:5")
    assert pairs.texts == {"en": ("a b", "c", "d e"), "tr": ("AB", "C", "DE")}


def test_a_gap_inside_a_range_drops_the_whole(tmp_path: Path) -> None:
    paths = bible(tmp_path, en=["a", "", "c"], tr=["AB", "<range>", "C"])
    assert ig.read_parallel(paths).ids == ("GEN 1:3",)


def test_gaps_of_one_language(tmp_path: Path) -> None:
    pairs = ig.read_parallel(bible(tmp_path, tr=["AB", "<range>", "", "D", ""]))
    assert (pairs.ids, pairs.texts) == (("GEN 1:1+GEN 1:2", "GEN 1:4"), {"tr": ("AB", "D")})


def test_the_list_of_verses_must_fit(tmp_path: Path) -> None:
    paths = bible(tmp_path, en=["a", "b"])
    (tmp_path / "vref.txt").write_text("GEN 1:1\n")
    with pytest.raises(InputError, match=r"vref\.txt:2: expected 2 lines"):
        ig.read_parallel(paths)
    elsewhere = tmp_path / "other"
    elsewhere.mkdir()
    bible(elsewhere, en=["x", "y"])
    pairs = ig.read_parallel(paths, verses=elsewhere / "vref.txt")
    assert len(pairs) == 2
