"""Parallel text from every kind of source: pairing exact, mispairing impossible."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import isogloss as ig
from isogloss.core.errors import InputError, UnknownName, UsageError
from isogloss.corpora.parallel import ParallelSet

TREE = "# sent_id = {id}\n# text = {text}\n1\t{text}\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
SENTENCE = st.text(st.characters(exclude_characters="\n\r\t\0", exclude_categories=["Cs"]), min_size=1).filter(
    str.strip
)


def write(folder: Path, **files: str) -> dict[str, Path]:
    for name, text in files.items():
        (folder / f"{name}.txt").write_text(text, "utf-8", newline="\n")
    return {name: folder / f"{name}.txt" for name in files}


def treebank(folder: Path, name: str, *ids: str) -> Path:
    path = folder / f"{name}_pud-ud-test.conllu"
    path.write_text("".join(TREE.format(id=id, text=f"{name}-{id}") for id in ids), "utf-8", newline="\n")
    return path


@pytest.fixture
def pairs() -> ParallelSet:
    texts = {"en": ("A dog .", "A cat .", "Go !"), "fr": ("Un chien .", "Un chat .", "Va !")}
    return ParallelSet(texts, ("a", "b", "c"), {"en": (("A", "dog", "."), ("A", "cat", "."), ("Go", "!"))})


def test_slices_pairs_and_items(pairs: ParallelSet) -> None:
    part = pairs[1:]
    assert isinstance(part, ParallelSet)
    assert (len(part), part.ids, part.sentences("eng")) == (2, ("b", "c"), ("A cat .", "Go !"))
    assert part.words("en")[1] == ("Go", "!")
    assert list(pairs)[2] == {"en": "Go !", "fr": "Va !"}
    assert pairs.pair("fr", "en").languages == ("fr", "en")
    assert pickle.loads(pickle.dumps(pairs)) == pairs


def test_what_a_set_does_not_know_is_said(pairs: ParallelSet) -> None:
    with pytest.raises(UnknownName, match="'de'"):
        pairs.sentences("de")
    with pytest.raises(UsageError, match="words of 'fr'"):
        pairs.words("fr")
    with pytest.raises(UsageError, match="expected 3 sentences per language, one for each id, got 2 of 'de'"):
        ParallelSet({**pairs.texts, "de": ("x", "y")}, pairs.ids)


@given(st.lists(st.tuples(SENTENCE, SENTENCE), min_size=1, max_size=6))
def test_writing_and_reading_again(tmp_path: Path, rows: list[tuple[str, str]]) -> None:
    columns = tuple(zip(*rows, strict=True))
    pairs = ParallelSet({"en": columns[0], "wo": columns[1]}, tuple(str(i + 1) for i in range(len(rows))))
    pairs.write(tmp_path / "both.tsv.gz")
    pairs.write({"en": tmp_path / "c.en", "wo": tmp_path / "c.wo.xz"})
    for again in (ig.read_parallel(tmp_path / "both.tsv.gz"), ig.read_parallel(tmp_path / "c")):
        assert (again.texts, again.ids) == (pairs.texts, pairs.ids)
    ig.read_parallel(tmp_path / "c").write({"en": tmp_path / "d.en"})
    assert (tmp_path / "d.en").read_bytes() == (tmp_path / "c.en").read_bytes()


@pytest.mark.parametrize("text", ["a\tb", "a\nb", " "])
def test_what_would_not_come_back_is_not_written(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match="sentence 1 of 'en'"):
        ParallelSet({"en": (text,)}, ("1",)).write(tmp_path / "x.tsv")
    assert not list(tmp_path.iterdir())


def test_unequal_files_name_both_and_the_line(tmp_path: Path) -> None:
    paths = write(tmp_path, en="a\nb\nc\nd\n", fr="a\nb\n", de="a\nb\nc\nd\n")
    for repair in (False, True):
        with pytest.raises(InputError, match=r"fr\.txt:3: expected 4 lines, as in .*en\.txt, got 2"):
            ig.read_parallel(paths, repair=repair)


@pytest.mark.parametrize(("line", "named"), [("", "an empty line"), ("  ", "an empty line"), ("x\ty", "without tabs")])
def test_a_row_without_a_sentence(tmp_path: Path, line: str, named: str) -> None:
    paths = write(tmp_path, en="a\nb\nc\n", fr=f"A\n{line}\nC\n")
    with pytest.raises(InputError, match=rf"fr\.txt:2: .*{named}"):
        ig.read_parallel(paths)
    mended = ig.read_parallel(paths, repair=True)
    assert (mended.texts, mended.ids) == ({"en": ("a", "c"), "fr": ("A", "C")}, ("1", "3"))
    assert len(mended.repairs) == 1


def test_treebanks_join_by_id_in_the_first_ones_order(tmp_path: Path) -> None:
    paths = [treebank(tmp_path, "en", "2", "1", "3"), treebank(tmp_path, "fr", "1", "3", "2")]
    pud = ig.read_parallel(paths)
    assert pud.ids == ("2", "1", "3")
    assert pud[0] == {"en": "en-2", "fr": "fr-2"}
    assert pud.words("fr")[0] == ("fr-2",)


def test_treebanks_with_missing_or_doubled_ids(tmp_path: Path) -> None:
    paths = {"en": treebank(tmp_path, "en", "1", "2", "3"), "fr": treebank(tmp_path, "fr", "1", "4")}
    with pytest.raises(InputError, match=r"en_pud.*expected the sentence 4 of .*fr_pud.*1 missing.*keeps the 1 sent"):
        ig.read_parallel(paths)
    mended = ig.read_parallel(paths, repair=True)
    assert (mended.ids, len(mended.repairs)) == (("1",), 2)
    with pytest.raises(InputError, match="each sentence id once"):
        ig.read_parallel({"en": paths["en"], "fr": treebank(tmp_path, "de", "1", "1")})
    with pytest.raises(InputError, match="ids in common"):
        ig.read_parallel({"en": paths["en"], "fr": treebank(tmp_path, "it", "8")}, repair=True)
    with pytest.raises(UsageError, match="treebanks and plain text"):
        ig.read_parallel({"en": paths["en"], **write(tmp_path, fr="x\n")})


def test_moses_pairs_by_prefix(tmp_path: Path) -> None:
    for suffix, text in (("en", "a\n"), ("fr", "b\n"), ("de", "c\n"), ("notes.txt", "d\n")):
        (tmp_path / f"corpus.en-fr.{suffix}").write_text(text)
    assert ig.read_parallel(tmp_path / "corpus.en-fr").texts == {"en": ("a",), "fr": ("b",)}
    with pytest.raises(InputError, match="a pair such as"):
        ig.read_parallel(tmp_path / "corpus.en-de")
    (tmp_path / "corpus.en-fr.fra").write_text("again\n")
    with pytest.raises(InputError, match="one file per language"):
        ig.read_parallel(tmp_path / "corpus.en-fr")


def test_a_list_needs_names_that_declare_languages(tmp_path: Path) -> None:
    paths = write(tmp_path, en="a\n", corpus="b\n")
    with pytest.raises(InputError, match="file name that states a language"):
        ig.read_parallel(list(paths.values()))


def test_tsv_with_and_without_header(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_text("eng\tfra\nOne two\tUn deux\n")
    assert ig.read_parallel(path, words=True).words("fr") == (("Un", "deux"),)
    path.write_text("One two\tUn deux\n")
    with pytest.raises(InputError, match=r"x\.tsv:1: expected a header of language codes"):
        ig.read_parallel(path)
    assert ig.read_parallel(path, languages=["en", "fr"]).texts == {"en": ("One two",), "fr": ("Un deux",)}
    path.write_text("en\tfr\na\tb\nc\n")
    with pytest.raises(InputError, match=r"x\.tsv:3: expected 2 sentences"):
        ig.read_parallel(path)
    assert len(ig.read_parallel(path, repair=True)) == 1


def test_fast_align_bars(tmp_path: Path) -> None:
    path = tmp_path / "enfr.src-tgt"
    path.write_text("oh , oh !   ||| oh , oh !  \n2 . ||| 2 .\n")
    pairs = ig.read_parallel(path)
    assert pairs.words("fr") == (("oh", ",", "oh", "!"), ("2", "."))
    unnamed = tmp_path / "pairs"
    unnamed.write_bytes(path.read_bytes())
    with pytest.raises(UsageError, match="expected two languages, got"):
        ig.read_parallel(unnamed)
    assert ig.read_parallel(unnamed, languages=("de", "wo")).languages == ("de", "wo")


def test_premises_of_line_aligned_inference_files(tmp_path: Path) -> None:
    for lang in ("en", "fr"):
        rows = [f"{lang}-{i // 3}\t{lang}-h{i}\tneutral\n" for i in range(6)]
        (tmp_path / f"test-{lang}.tsv").write_text("".join(rows))
    pairs = ig.read_parallel([tmp_path / "test-en.tsv", tmp_path / "test-fr.tsv"])
    assert (pairs.texts["fr"], pairs.ids) == (("fr-0", "fr-1"), ("1", "4"))
