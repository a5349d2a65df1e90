"""Transliteration of raw text in lines per second: each table-driven scheme, and uroman for comparison."""

from __future__ import annotations

import isogloss as ig
from benchmarks.timing import SHARED, best_times, report

LANGUAGES = ("ug", "ckb", "xmf", "myv", "ru", "ar")
UROMAN_LINES = 200  # few, because it is slow


def lines_of(lang: str, number: int | None) -> ig.Corpus:
    """Real text if it is available next to the checkout; otherwise a language of the laboratory in Arabic script."""
    path = SHARED / f"data/raw/{lang}.txt.xz"
    return ig.read_text(path)[:number] if path.exists() else ig.Laboratory(seed=0).text("qlj", number or 10_000)


def run(quick: bool = False) -> None:
    from isogloss.text.transliteration.schemes import scheme_for

    for lang in LANGUAGES:
        corpus = lines_of(lang, 1000 if quick else None)
        scheme = scheme_for(corpus.lang)

        def without_cache(scheme: object = scheme, corpus: ig.Corpus = corpus) -> None:
            scheme._word_cache.clear()  # type: ignore[attr-defined]
            ig.transliterate(corpus)

        times = best_times(
            {"empty cache": without_cache, "cached words": lambda corpus=corpus: ig.transliterate(corpus)}
        )
        speeds = ", ".join(f"{len(corpus) / seconds:,.0f} lines/s ({cache})" for cache, seconds in times.items())
        print(
            f"{corpus.lang:4} {scheme.name:11} {sum(map(len, corpus)) / len(corpus):4.0f} characters per line: {speeds}"
        )
    _compare_with_uroman(quick)


def _compare_with_uroman(quick: bool) -> None:
    try:
        from uroman import Uroman
    except ImportError:
        print("uroman is not installed (isogloss[roman]): nothing to compare with")
        return
    uroman = Uroman()
    lines = list(lines_of("ug", 50 if quick else UROMAN_LINES))
    print(f"{len(lines)} lines of Uyghur")
    times = best_times(
        {
            "isogloss": lambda: [ig.transliterate(line, lang="ug") for line in lines],
            "uroman": lambda: [uroman.romanize_string(line, lcode="uig") for line in lines],
        }
    )
    report(times, ours="isogloss")
