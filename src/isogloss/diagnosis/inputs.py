"""What a diagnosis is given, made into references of a study file: corpora at hand are written into its folder.

A corpus is a path, `hub:…`, `lab:…`, several of these, or a corpus in memory. For a language of the laboratory whatever
is not given comes from the laboratory.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from isogloss.core.errors import UsageError
from isogloss.corpora.corpus import AnyCorpus, Corpus
from isogloss.corpora.lab.languages import LANGUAGES
from isogloss.corpora.readers import read_lexicon
from isogloss.diagnosis.remedies import LATIN
from isogloss.diagnosis.treatments import Material, Sizes
from isogloss.languages.codes import canonical
from isogloss.languages.scripts import script_of
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.loading.save import save_model
from isogloss.studies.execution.corpora import read_corpora
from isogloss.studies.schema.references import TRANSLITERATED
from isogloss.tasks import TASKS
from isogloss.text.changes.code_switching import code_switch

Given = AnyCorpus | str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None
Sources = Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]  # language → references to train and dev
SWITCHED = 0.5  # share of the words that code-switching replaces
LABORATORY = {  # how much of each there is, where it is not given; a draw on which no setting was chosen
    "train": "lab:{lang}/train/{labelled}@3",
    "dev": "lab:{lang}/dev/20@3",
    "test": "lab:{lang}/test/300@3",
    "text": "lab:{lang}/train/2500@3",
}
LABORATORY_PARALLEL = "lab:{seen},{lang}/dev/100"
# small models want larger rates; both language models read about as many tokens, the text four times; words with new
# letters fall into single ones, which are no riddle if hidden alone; the BiLSTM's recipe is for thousands of sentences:
# in its batches of 32 an epoch of 25 is one step, and 30 steps teach it little
LABORATORY_SIZES = Sizes(
    finetune={"epochs": 25, "batch": 8, "learning_rate": 7e-4},
    bilstm={"batch": 8},
    adapt={"recipe": "modern", "epochs": 4, "settings": {"length": 64, "learning_rate": 1e-3, "masking": "words"}},
    pretrain={"layers": 4, "width": 128, "vocabulary": 1000, "steps": 125, "settings": {"length": 64}},
    adapter={"epochs": 4, "settings": {"length": 64, "learning_rate": 1e-3, "batch": 32}},
    vocabulary=500,
)


def gather(
    model: LoadedModel | str | os.PathLike[str],
    lang: str,
    task: str,
    folder: Path,
    corpora: Mapping[str, Given],
) -> Material:
    """References to the model and to everything that was given, by the names of `Material`."""
    given = {name: references(name, one, folder) for name, one in corpora.items()}
    labelled = {name for name in ("train", "dev", "test") if given.get(name)}
    if "train" in labelled and labelled != {"train", "dev", "test"}:
        missing = ", ".join(sorted({"dev", "test"} - labelled))
        raise UsageError(f"labelled data: expected train, dev and test, got no {missing}")
    material = Material(_model(model, folder), lang, task, **given)
    return _with_latin(material)


def from_laboratory(lang: str, corpora: Mapping[str, Given], labelled: bool) -> dict[str, Given]:
    """The corpora of a language of the laboratory where others are not given; labelled ones only if asked for."""
    if lang not in LANGUAGES:
        return dict(corpora)
    sizes = {"lang": lang, "labelled": LANGUAGES[lang].labelled}
    wanted = {name: one.format(**sizes) for name, one in LABORATORY.items() if labelled or name in ("text", "test")}
    return {**wanted, **{name: one for name, one in corpora.items() if one is not None}}


def usual_sizes(lang: str) -> Sizes:
    """How everything is trained where it is not said: published recipes, and quicker ones for the laboratory."""
    return LABORATORY_SIZES if canonical(lang) in LANGUAGES else Sizes()


def read_lines(references: Sequence[str], lang: str, most: int) -> list[str]:
    """The first lines of raw text."""
    return list(read_corpora(references, "text", lang=lang)[:most])


def text_of(material: Material, most: int) -> list[str]:
    """Raw text, or where there is none the sentences of the labelled data."""
    if material.text:
        return read_lines(material.text, material.lang, most)
    labelled = material.train or material.test
    if not labelled:
        raise UsageError("nothing to look at: give raw text (text=), or labelled data")
    corpus = read_corpora(labelled, TASKS[material.task].corpus, lang=material.lang)[:most]
    if corpus.kind.text is None:
        raise UsageError(f"a {corpus.kind.name} corpus has no text of one language: give raw text (text=)")
    return [corpus.kind.text(item) for item in corpus]


def labelled_sources(source: Mapping[str, tuple[Given, Given]], folder: Path) -> Sources:
    """Labelled data of other languages, by their codes."""
    return {
        canonical(lang): (references(f"{lang}-train", train, folder), references(f"{lang}-dev", dev, folder))
        for lang, (train, dev) in source.items()
    }


def code_switched(material: Material, sources: Sources, lexicon: Given, folder: Path) -> Material:
    """With the training data of the first source written with words of the language, where there is a lexicon."""
    if lexicon is None:
        return material
    if not sources:
        raise UsageError("a lexicon is for labelled data of a source: give one (source)")
    lang, (train, _) = next(iter(sources.items()))
    entries = lexicon if isinstance(lexicon, Corpus) else read_lexicon(references("lexicon", lexicon, folder)[0])
    corpus = read_corpora(train, TASKS[material.task].corpus, lang=lang)
    path = folder / "corpora" / f"{lang}-switched{corpus.format.suffix}"
    code_switch(corpus, entries, SWITCHED).write(path)
    return replace(material, switched=(str(path.absolute()),))


def references(name: str, given: Given, folder: Path) -> tuple[str, ...]:
    """What was given as a study file names it; a corpus in memory is written into the folder under that name."""
    if given is None:
        return ()
    if isinstance(given, Corpus):
        path = folder / "corpora" / f"{name}{given.format.suffix}"
        given.write(path)
        return (str(path.absolute()),)
    listed = [given] if isinstance(given, str | os.PathLike) else given
    return tuple(_absolute(os.fspath(one)) for one in listed)


def _absolute(reference: str) -> str:
    return reference if reference.startswith(("hub:", "lab:")) else str(Path(reference).expanduser().absolute())


def _model(model: LoadedModel | str | os.PathLike[str], folder: Path) -> str:
    """A model's name, or its folder; one that is at hand is saved first."""
    if not isinstance(model, LoadedModel):
        name = os.fspath(model)
        return str(Path(name).absolute()) if Path(name).is_dir() else name
    path = folder / "start"
    save_model(model, path)
    return str(path.absolute())


def _with_latin(material: Material) -> Material:
    """With the raw text in Latin letters too, unless it is so already."""
    if not material.text or script_of(" ".join(read_lines(material.text, material.lang, 1000))) == LATIN:
        return material
    return replace(material, latin=tuple(TRANSLITERATED + one for one in material.text))
