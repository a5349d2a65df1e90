"""The laboratory as a whole: same seed, same bytes; splits that share nothing; files that read back."""

from __future__ import annotations

import hashlib
from itertools import islice
from pathlib import Path

import pytest

from isogloss.core.errors import UnknownName
from isogloss.core.hashing import digest as digest_of_values
from isogloss.core.seeds import Chance
from isogloss.corpora.lab import LABORATORY_VERSION
from isogloss.corpora.lab.export import Sizes, write_laboratory
from isogloss.corpora.lab.laboratory import DOMAINS, SPLITS, Laboratory, _meaning_pairs, _stories, belongs_to_split
from isogloss.corpora.lab.languages import LANGUAGES
from isogloss.corpora.lab.meaning import fingerprint
from isogloss.corpora.lab.sampling import Sampler
from isogloss.corpora.readers import (
    read_bitext,
    read_lexicon,
    read_ner,
    read_nli,
    read_parallel,
    read_qa,
    read_text,
    read_treebank,
)

SMALL = Sizes(train=12, dev=4, test=4, parallel=10, text=40)
# Of every file of the small export, names included, and of the items of each domain: results in stores are found by
# the version, so that other items need another version.
EXPECTED = {1: ("ee1e1a0a4c2d61c556c49d4ab6691e10", "3dcf836804238b7fbe0efb9d")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("laboratory")
    write_laboratory(out, seed=0, sizes=SMALL)
    return out


def digest(folder: Path) -> str:
    total = hashlib.blake2b(digest_size=16)
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            total.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()


def test_same_seed_same_bytes_on_any_machine(folder: Path) -> None:
    lab = Laboratory(seed=0)
    items = [list(map(repr, lab.treebank(lang, "train", 3, domain))) for lang in LANGUAGES for domain in DOMAINS]
    assert (digest(folder), digest_of_values(items)) == EXPECTED[LABORATORY_VERSION]


def test_another_seed_gives_other_text_in_the_same_languages() -> None:
    one, other = Laboratory(0), Laboratory(1)
    assert set(one.text("qla", 50)) != set(other.text("qla", 50))
    assert one.lexicon("qla", "qld").items == other.lexicon("qla", "qld").items


def test_a_longer_corpus_begins_with_the_shorter_one() -> None:
    lab = Laboratory(0)
    assert lab.text("qlc", 30).items[:10] == lab.text("qlc", 10).items
    assert lab.treebank("qlf", "dev", 6).items[:3] == lab.treebank("qlf", "dev", 3).items
    assert lab.alignments("qla", "qld", 8).items[:4] == lab.alignments("qla", "qld", 4).items


def test_splits_share_no_content() -> None:
    content: dict[str, set[int]] = {split: set() for split in SPLITS}
    for split in SPLITS:
        for lang in ("qla", "qld"):
            sampler = Sampler(Chance(0, "treebank", split, lang))
            drawn = (sampler.sentence() for _ in range(1000))
            content[split] |= {fingerprint(meaning) for meaning in drawn if belongs_to_split(meaning, split)}
    assert all(content.values())
    assert not content["train"] & content["test"]
    assert not content["train"] & content["dev"]
    assert not content["dev"] & content["test"]
    lab = Laboratory(0)
    trees = {split: {tree.text for tree in lab.treebank("qla", split, 200)} for split in SPLITS}
    assert not trees["train"] & trees["test"]


def test_pairs_and_stories_of_different_splits_differ() -> None:
    premises = [{pair.premise for pair in _meaning_pairs(0, split, 150)} for split in SPLITS]
    events = [{story.events[story.about] for story in _stories(0, split, 60)} for split in SPLITS]
    for one, other in ((0, 1), (0, 2), (1, 2)):
        assert not premises[one] & premises[other]
        assert not events[one] & events[other]


def test_raw_text_is_comparable_and_not_parallel() -> None:
    """Different sentences of the same kind: as long, with as many numbers, in every language."""
    lab = Laboratory(0)
    digits = {}
    for lang in ("qla", "qlh", "qld", "qlf"):
        digits[lang] = [tuple(w for w in line.rstrip(".؟?").split() if w.isdecimal()) for line in lab.text(lang, 800)]
    assert digits["qla"] != digits["qlh"]
    shares = [sum(map(bool, found)) / 800 for found in digits.values()]
    assert max(shares) - min(shares) < 0.08


def test_the_folder_reads_back_as_the_laboratory_gave_it(folder: Path) -> None:
    lab = Laboratory(0)
    for lang in LANGUAGES:
        assert read_treebank(folder / f"ud/{lang}_lab-ud-train.conllu").items == lab.treebank(lang, "train", 12).items
        ner = read_ner(folder / f"ner/dev-{lang}.tsv")
        expected = lab.ner(lang, "dev", 4)
        assert [(s.words, s.tags) for s in ner] == [(s.words, s.tags) for s in expected]
        assert ner.lang == lang
        nli = read_nli(folder / f"nli/test-{lang}.tsv", format="nli-tsv")
        assert [(p.premise, p.hypothesis, p.label) for p in nli] == [
            (p.premise, p.hypothesis, p.label) for p in lab.nli(lang, "test", 4)
        ]
        qa = read_qa(folder / f"qa/train-{lang}.json")
        assert [(q.id, q.question, q.context, q.answers) for q in qa] == [
            (q.id, q.question, q.context, q.answers) for q in lab.qa(lang, "train", 12)
        ]
        assert qa[0].context_lang == lang
        assert list(read_text(folder / f"raw/{lang}.txt")) == list(lab.text(lang, 40))


@pytest.mark.parametrize("lang", [lang for lang in LANGUAGES if lang != "qla"])
def test_parallel_files_and_their_links_read_back(folder: Path, lang: str) -> None:
    lab = Laboratory(0)
    files = {code: folder / "parallel" / f"test.{code}" for code in ("qla", lang)}
    sentences = read_parallel(files, words=True)
    given = lab.parallel(["qla", lang], 10)
    assert sentences.words(lang) == given.words(lang)
    bitext = read_bitext(sentences, folder / "parallel" / f"test.qla-{lang}.align")
    assert [pair.alignment.sure for pair in bitext] == [a.sure for a in lab.alignments("qla", lang, 10)]
    assert [pair.alignment for pair in lab.bitext("qla", lang, 10, "test")] == list(lab.alignments("qla", lang, 10))
    entries = read_lexicon(folder / f"lexicons/qla-{lang}.tsv")
    assert entries.items == lab.lexicon("qla", lang).items
    assert entries.lang == f"qla>{lang}"


def test_the_description_lists_every_language(folder: Path) -> None:
    rows = [line.split("\t") for line in (folder / "languages.tsv").read_text(encoding="utf-8").splitlines()]
    assert [row[0] for row in rows[1:]] == list(LANGUAGES)
    assert all(len(row) == len(rows[0]) for row in rows)
    readme = (folder / "README.md").read_text(encoding="utf-8")
    assert all(f"| {code} |" in readme for code in LANGUAGES)


def test_dictionaries_are_one_to_one_but_for_capitals() -> None:
    entries = Laboratory(0).lexicon("qla", "qlf")
    assert len({entry.source for entry in entries}) == len(entries) > 1500
    assert len({entry.target for entry in entries}) > 0.99 * len(entries)


def test_dictionary_words_are_the_lemmas_of_the_treebank() -> None:
    lab = Laboratory(0)
    listed = {entry.target.lower() for entry in lab.lexicon("qla", "qlb")}
    content = ("NOUN", "VERB", "ADJ", "PROPN")
    rows = [row for tree in lab.treebank("qlb", "train", 200) for row in tree.nodes if row.upos in content]
    assert {row.lemma.lower() for row in rows} <= listed


def test_unknown_language_and_split_are_named() -> None:
    with pytest.raises(UnknownName, match="did you mean 'ql"):
        Laboratory().text("ql", 1)
    with pytest.raises(UnknownName, match="did you mean 'test'"):
        Laboratory().treebank("qla", "tests", 1)


def test_sentences_never_end() -> None:
    assert len(list(islice(Laboratory().sentences("qlg"), 300))) == 300


def test_domains_differ_in_what_they_say() -> None:
    lab = Laboratory(0)
    banks = {domain: lab.treebank("qla", "test", 300, domain) for domain in ("", "talk", "chronicle")}
    words = {domain: sum(len(tree.words) for tree in bank) / 300 for domain, bank in banks.items()}
    tags = {domain: [tag for tree in bank for tag in tree.upos] for domain, bank in banks.items()}
    names = {domain: found.count("PROPN") / len(found) for domain, found in tags.items()}
    assert words["talk"] < words[""] - 0.5
    assert names["chronicle"] > 1.5 * names[""]
    assert not {tree.sent_id for tree in banks[""]} & {tree.sent_id for tree in banks["talk"]}
    with pytest.raises(UnknownName, match="domain"):
        lab.treebank("qla", "test", 1, "poems")
