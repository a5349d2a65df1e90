"""`python studies/real/prepare.py DATA OUT`: write the derived corpora that the studies of this folder read.

Word-aligned bitexts (XNLI's test sentences, which have no labels here, with Tatoeba; the New Testament), parts of
PAN-X's dev sets, splits of treebanks without a dev or training set, and transliterated raw text. Needs
`isogloss[align]`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import isogloss as ig
from isogloss.core.files import atomic_write, read_lines
from isogloss.corpora.parallel import ParallelSet
from isogloss.text.words import word_pattern

TATOEBA = {"es": "spa", "ru": "rus", "hi": "hin", "vi": "vie", "de": "deu", "fr": "fra", "tr": "tur"}
BIBLES = {"es": "spa-spaRV1909", "tr": "tur-turytc"}
HELD_OUT_INTERVAL = 15  # every 15th pair of a bitext is held out from adjustment
MAX_WORDS = 64  # longer sentences are not aligned, as in the released code
NER_SENTENCES = 3000  # PAN-X sentences scored in each language
TOKEN = re.compile(rf"{word_pattern().pattern}|\d+|\S")


def tokens(text: str) -> str:
    """
    >>> tokens("Don't go: 3 times!")
    "Don't go : 3 times !"
    """
    return " ".join(TOKEN.findall(text))


def lines(path: Path) -> list[str]:
    return [line.rstrip("\n") for line in read_lines(path)]


def write_lines(texts: Iterable[str], path: Path) -> None:
    with atomic_write(path) as file:
        file.writelines(f"{text}\n" for text in texts)


def write_bitext(english: Sequence[str], other: Sequence[str], lang: str, path: Path) -> None:
    """Align distinct sentence pairs with eflomal and write them; some are held out."""
    both = ((tokens(a), tokens(b)) for a, b in zip(english, other, strict=True))
    unique = dict.fromkeys(pair for pair in both if all(pair))
    texts = {"en": tuple(a for a, _ in unique), lang: tuple(b for _, b in unique)}
    words = {name: tuple(tuple(text.split()) for text in column) for name, column in texts.items()}
    pairs = ParallelSet(texts, tuple(map(str, range(len(unique)))), words)
    aligned = ig.align(pairs, "eflomal", max_words=MAX_WORDS)
    aligned.with_items(pair for number, pair in enumerate(aligned) if number % HELD_OUT_INTERVAL).write(path)
    aligned[::HELD_OUT_INTERVAL].write(path.parent / "heldout" / path.name)


def translations(data: Path, lang: str) -> tuple[list[str], list[str]]:
    """XNLI's test sentences and Tatoeba's, English and the other language."""
    sides: dict[str, list[str]] = {}
    for name, code in (("en", "eng"), (lang, TATOEBA[lang])):
        pairs = ig.read_nli(data / f"xnli/test-{name}.tsv.xz", lang=name)
        tatoeba = lines(data / f"tatoeba/tatoeba.{TATOEBA[lang]}-eng.{code}.xz")
        sides[name] = [text for pair in pairs for text in (pair.premise, pair.hypothesis)] + tatoeba
    return sides["en"], sides[lang]


def new_testament(data: Path, lang: str) -> tuple[list[str], list[str]]:
    """The verses of the New Testament in English and another language."""
    verses = lines(data / "ebible/vref.txt.xz")
    start = verses.index("MAT 1:1")
    stop = 1 + max(number for number, verse in enumerate(verses) if verse.startswith("REV "))
    files = (data / f"ebible/{name}.txt.xz" for name in ("eng-engwebp", BIBLES[lang]))
    english, other = (lines(path)[start:stop] for path in files)
    return english, other


def bitexts(data: Path, out: Path) -> None:
    for lang in TATOEBA:
        write_bitext(*translations(data, lang), lang, out / f"bitext/en-{lang}.jsonl.xz")
    for lang in BIBLES:
        write_bitext(*new_testament(data, lang), lang, out / f"bitext/bible/en-{lang}.jsonl.xz")


def adjustment(data: Path, out: Path) -> None:
    for lang in ("en", *TATOEBA):
        pairs = ig.read_nli(data / f"xnli/dev-{lang}.tsv.xz", lang=lang)
        write_lines((pair.hypothesis for pair in pairs), out / f"parallel/xnli.{lang}.txt.xz")
    english = ig.read_ner(data / "panx/dev-en.tsv.xz")
    english[:NER_SENTENCES].write(out / "ner/select-en.tsv.xz")
    english[NER_SENTENCES : 2 * NER_SENTENCES].write(out / "ner/score-en.tsv.xz")
    for lang in TATOEBA:
        ig.read_ner(data / f"panx/dev-{lang}.tsv.xz")[:NER_SENTENCES].write(out / f"ner/score-{lang}.tsv.xz")


def unseen(data: Path, out: Path) -> None:
    faroese = ig.read_treebank(
        data / "ud/UD_Faroese-OFT/fo_oft-ud-test.conllu.xz"
    )  # the only treebank, ordered by article
    for role, part in {"train": faroese[:800], "dev": faroese[800:900], "test": faroese[900:]}.items():
        part.write(out / f"ud/fo_oft-ud-{role}.conllu.xz")
    erzya = ig.read_treebank(data / "ud/UD_Erzya-JR/myv_jr-ud-train.conllu.xz")
    for role, part in {"train": erzya[:-200], "dev": erzya[-200:]}.items():
        part.write(out / f"ud/myv_jr-ud-{role}.conllu.xz")
    uyghur = ig.read_text(data / "raw/ug.txt.xz", lang="ug")
    write_lines(ig.transliterate(uyghur), out / "raw/ug-latin.txt.xz")
    narabizi = ig.read_treebank(data / "ud/UD_Maghrebi_Arabic_French-Arabizi/qaf_arabizi-ud-train.conllu.xz")
    write_lines((" ".join(tree.words) for tree in narabizi), out / "raw/qaf.txt.xz")  # the only text available


def main(data: Path, out: Path) -> None:
    for folder in ("bitext/heldout", "bitext/bible/heldout", "ner", "parallel", "ud", "raw"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    for part in (unseen, adjustment, bitexts):
        part(data, out)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
