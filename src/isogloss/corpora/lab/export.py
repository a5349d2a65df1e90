"""Writing the corpora of the laboratory to disk in standard formats."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from isogloss.core.files import atomic_write
from isogloss.corpora.lab.laboratory import SPLITS, Laboratory
from isogloss.corpora.lab.languages import SOURCE, LabLanguage
from isogloss.corpora.parallel import write_lines

COLUMNS = ("code", "name", "family", "parent", "script", "order", "pretrained", "role", "projective")
README = """# The laboratory: artificial languages, seed {seed}

Languages generated from one meaning grammar. Raw text, treebanks and entities differ between languages;
parallel text, inference pairs and questions are the same meanings item by item.

- `languages.tsv`: the languages, their relations, scripts, word orders and roles
- `ud/LANG_lab-ud-SPLIT.conllu`: treebanks (Universal Dependencies v2, CoNLL-U)
- `ner/SPLIT-LANG.tsv`: entities, `token<TAB>tag` in BIO (PER, LOC, ORG)
- `nli/SPLIT-LANG.tsv`: premise, hypothesis, label
- `qa/SPLIT-LANG.json`: questions (SQuAD v1.1)
- `parallel/test.LANG`: one tokenised sentence a line; `parallel/test.{source}-LANG.align`: gold word links (Pharaoh,
  from 0)
- `lexicons/{source}-LANG.tsv`: dictionaries, `source<TAB>target`
- `raw/LANG.txt`: raw text, one sentence a line

| {head} |
|{rule}|
{table}
"""


@dataclass(frozen=True)
class Sizes:
    """Number of items per corpus; train, dev and test apply to every task."""

    train: int = 3000
    dev: int = 500
    test: int = 500
    parallel: int = 1000
    text: int = 20_000


def write_laboratory(
    out: str | os.PathLike[str],
    *,
    seed: int = 0,
    sizes: Sizes | None = None,
    languages: Iterable[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Write all corpora of the laboratory to the folder `out`.

    `seed`: random seed of the corpora. `sizes`: number of items. `languages`: by default all. `progress`: called with
    the number of finished languages and of all languages.
    """
    lab, out, sizes = Laboratory(seed), Path(out), sizes or Sizes()
    chosen = [lab.languages[lab.check(lang)] for lang in languages or lab.languages]
    _write_description(lab, out, chosen)
    for done, lang in enumerate((language.code for language in chosen), 1):
        for split, n in zip(SPLITS, astuple(sizes)):
            lab.treebank(lang, split, n).write(out / "ud" / f"{lang}_lab-ud-{split}.conllu")
            lab.ner(lang, split, n).write(out / "ner" / f"{split}-{lang}.tsv")
            lab.nli(lang, split, n).write(out / "nli" / f"{split}-{lang}.tsv")
            lab.qa(lang, split, n).write(out / "qa" / f"{split}-{lang}.json")
        lab.text(lang, sizes.text).write(out / "raw" / f"{lang}.txt")
        tokens = lab.parallel([lang], sizes.parallel).words(lang)
        write_lines(out / "parallel" / f"test.{lang}", map(" ".join, tokens))
        if lang != SOURCE:
            lab.alignments(SOURCE, lang, sizes.parallel).write(out / "parallel" / f"test.{SOURCE}-{lang}.align")
            lab.lexicon(SOURCE, lang).write(out / "lexicons" / f"{SOURCE}-{lang}.tsv")
        if progress:
            progress(done, len(chosen))


def _write_description(lab: Laboratory, out: Path, languages: list[LabLanguage]) -> None:
    rows = [_row(language) for language in languages]
    write_lines(out / "languages.tsv", map("\t".join, [COLUMNS, *rows]))
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    head, rule = " | ".join(COLUMNS), "---|" * (len(COLUMNS) - 1) + "---"
    with atomic_write(out / "README.md") as file:
        file.write(README.format(seed=lab.seed, source=SOURCE, head=head, rule=rule, table=table))


def _row(language: LabLanguage) -> list[str]:
    values = {field.name: getattr(language, field.name) for field in fields(language)}
    values |= {"order": language.grammar.order, "parent": language.parent or "-"}
    return [{True: "yes", False: "no"}.get(values[name], str(values[name])) for name in COLUMNS]
