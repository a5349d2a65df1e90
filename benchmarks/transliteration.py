"""Transliteration of raw text, in lines a second: each table-driven scheme, and uroman beside the first."""

from __future__ import annotations

import isogloss as ig
from benchmarks.timing import SHARED, best_times, report

LANGUAGES = ("ug", "ckb", "xmf", "myv", "ru", "ar")
FOR_UROMAN = 200  # lines: it is slow


def lines_of(lang: str, number: int | None) -> ig.Corpus:
    """Real text where it lies beside the checkout; otherwise the laboratory's language in Arabic letters."""
    path = SHARED / f"data/raw/{lang}.txt.xz"
    return ig.read_text(path)[:number] if path.exists() else ig.Laboratory(seed=0).text("qlj", number or 10_000)


def run(quick: bool = False) -> None:
    from isogloss.text.transliteration.schemes import scheme_for

    for lang in LANGUAGES:
        corpus = lines_of(lang, 1000 if quick else None)
        scheme = scheme_for(corpus.lang)

        def afresh(scheme: object = scheme, corpus: ig.Corpus = corpus) -> None:
            scheme._memory.clear()  # type: ignore[attr-defined]
            ig.transliterate(corpus)

        times = best_times({"no word known yet": afresh, "again": lambda corpus=corpus: ig.transliterate(corpus)})
        told = ", ".join(f"{len(corpus) / seconds:,.0f} lines/s ({what})" for what, seconds in times.items())
        print(f"{corpus.lang:4} {scheme.name:11} {sum(map(len, corpus)) / len(corpus):4.0f} characters a line: {told}")
    _beside_uroman(quick)


def _beside_uroman(quick: bool) -> None:
    try:
        from uroman import Uroman
    except ImportError:
        print("uroman is not installed (isogloss[roman]): nothing to compare with")
        return
    other = Uroman()
    lines = list(lines_of("ug", 50 if quick else FOR_UROMAN))
    print(f"{len(lines)} lines of Uyghur")
    times = best_times(
        {
            "isogloss": lambda: [ig.transliterate(line, lang="ug") for line in lines],
            "uroman": lambda: [other.romanize_string(line, lcode="uig") for line in lines],
        }
    )
    report(times, ours="isogloss")
