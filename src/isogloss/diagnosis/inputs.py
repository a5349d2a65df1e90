"""The inputs of a diagnosis as references of a study file; corpora in memory are written to its folder."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from isogloss.core.errors import UsageError, raise_all
from isogloss.corpora.corpus import AnyCorpus, Corpus
from isogloss.corpora.lab.languages import LANGUAGES
from isogloss.corpora.readers import read_lexicon
from isogloss.diagnosis.treatments import DiagnosisInputs, TrainingSizes
from isogloss.languages.checks import check_language
from isogloss.languages.codes import canonical
from isogloss.languages.scripts import LATIN_SCRIPT, script_of
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.loading.save import save_model
from isogloss.studies.execution.corpora import read_corpora
from isogloss.studies.schema.references import TRANSLITERATED, split_format
from isogloss.tasks import TASKS
from isogloss.tasks.labelled import label_errors, label_facts, label_warnings
from isogloss.text.changes.code_switching import code_switch

CorpusInput = AnyCorpus | str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None
Sources = Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]  # language → references to train and dev
CODE_SWITCHED_WORD_SHARE = 0.5
LABORATORY_CORPORA = {  # defaults; seed 3 was not used to choose any setting
    "train": "lab:{lang}/train/{labelled}@3",
    "dev": "lab:{lang}/dev/20@3",
    "test": "lab:{lang}/test/300@3",
    "text": "lab:{lang}/train/2500@3",
}
LABORATORY_PARALLEL = "lab:{seen},{lang}/dev/100"
# Small models need larger learning rates. Adaptation and pretraining read about the same number of tokens. Words in a
# new script are split into single characters, which are too easy to predict one by one: whole words are masked. The
# BiLSTM's default batch of 32 would make one step per epoch of 25 sentences.
LABORATORY_SIZES = TrainingSizes(
    finetune={"batch": 8},
    bilstm={"batch": 8},
    start={"epochs": 25, "learning_rate": 7e-4},
    adapt={"preset": "modern", "epochs": 4, "settings": {"length": 64, "learning_rate": 1e-3, "masking": "words"}},
    pretrain={"layers": 4, "width": 128, "vocabulary": 1000, "steps": 125, "settings": {"length": 64}},
    adapter={"epochs": 4, "settings": {"length": 64, "learning_rate": 1e-3, "batch": 32}},
    vocabulary=500,
)


def collect_inputs(
    model: LoadedModel | str | os.PathLike[str], lang: str, task: str, folder: Path, corpora: Mapping[str, CorpusInput]
) -> DiagnosisInputs:
    """References to the model and the corpora."""
    roles = ("train", "dev", "test", "text")
    train, dev, test, text = (references(role, corpora.get(role), folder) for role in roles)
    if train and not test:
        raise UsageError("labelled data: expected train and test, got no test")
    return _with_latin_text(DiagnosisInputs(_model_reference(model, folder), lang, task, train, dev, test, text))


def laboratory_corpora(lang: str, corpora: Mapping[str, CorpusInput], labelled: bool) -> dict[str, CorpusInput]:
    """Add default corpora for a language of the laboratory; labelled ones only if `labelled`."""
    if lang not in LANGUAGES:
        return dict(corpora)
    sizes = {"lang": lang, "labelled": LANGUAGES[lang].labelled}
    defaults = {
        name: corpus.format(**sizes)
        for name, corpus in LABORATORY_CORPORA.items()
        if labelled or name in ("text", "test")
    }
    return {**defaults, **{name: corpus for name, corpus in corpora.items() if corpus is not None}}


def default_sizes(lang: str) -> TrainingSizes:
    """Default training options: published ones, and smaller ones for the laboratory."""
    return LABORATORY_SIZES if canonical(lang) in LANGUAGES else TrainingSizes()


def read_lines(references: Sequence[str], lang: str, limit: int) -> list[str]:
    """The first lines of raw text."""
    return list(read_corpora(references, "text", lang=lang)[:limit])


def sentences(inputs: DiagnosisInputs, limit: int) -> list[str]:
    """Raw text, or the sentences of the labelled data if there is none."""
    if inputs.text:
        return read_lines(inputs.text, inputs.lang, limit)
    labelled = inputs.train or inputs.test
    if not labelled:
        raise UsageError("no text to inspect: expected raw text (text) or labelled data (train or test)")
    corpus = read_corpora(labelled, TASKS[inputs.task].corpus, lang=inputs.lang)[:limit]
    if corpus.kind.text is None:
        raise UsageError(f"a {corpus.kind.name} corpus has no text of one language: expected raw text (text)")
    return [corpus.kind.text(item) for item in corpus]


def labelled_sources(source: Mapping[str, tuple[CorpusInput, CorpusInput]], folder: Path) -> Sources:
    """References to labelled data of other languages, by language code."""
    return {
        check_language(lang): (references(f"{lang}-train", train, folder), references(f"{lang}-dev", dev, folder))
        for lang, (train, dev) in source.items()
    }


def with_code_switching(
    inputs: DiagnosisInputs, sources: Sources, lexicon: CorpusInput, folder: Path
) -> DiagnosisInputs:
    """Add the first source's training data with words translated by the lexicon, if there is one."""
    if lexicon is None:
        return inputs
    if not sources:
        raise UsageError("lexicon: code-switching needs labelled data of a source language (source), got none")
    lang, (train, _) = next(iter(sources.items()))
    entries = lexicon if isinstance(lexicon, Corpus) else read_lexicon(references("lexicon", lexicon, folder)[0])
    corpus = read_corpora(train, TASKS[inputs.task].corpus, lang=lang)
    path = folder / "corpora" / f"{lang}-switched{corpus.format.suffix}"
    code_switch(corpus, entries, CODE_SWITCHED_WORD_SHARE).write(path)
    return replace(inputs, code_switched=(str(path.absolute()),))


def references(name: str, corpus: CorpusInput, folder: Path) -> tuple[str, ...]:
    """References for a study file; a corpus in memory is written to the folder under `name`."""
    if corpus is None:
        return ()
    if isinstance(corpus, Corpus):
        path = folder / "corpora" / f"{name}{corpus.format.suffix}"
        corpus.write(path)
        return (str(path.absolute()),)
    corpus_list = [corpus] if isinstance(corpus, str | os.PathLike) else corpus
    names = [os.fspath(reference) for reference in corpus_list]
    return tuple(n if n.startswith(("hub:", "lab:")) else _absolute(n) for n in names)


def _absolute(reference: str) -> str:
    format, path = split_format(reference)
    located = str(Path(path).expanduser().absolute())
    return f"{format}:{located}" if format else located


def check_labels(inputs: DiagnosisInputs, sources: Sources) -> None:
    """One error for all corpora without labels, before a model is loaded; partly labelled ones are warnings."""
    task = TASKS[inputs.task]
    corpora = {"train": inputs.train, "dev": inputs.dev, "test": inputs.test}
    files = {role: (inputs.lang, references) for role, references in corpora.items()}
    for lang, (train, dev) in sources.items():
        files |= {f"{lang} train": (lang, train), f"{lang} dev": (lang, dev)}
    facts = {
        f"{role}, {reference}": label_facts(task, read_corpora([reference], task.corpus, lang=lang))
        for role, (lang, role_references) in files.items()
        for reference in role_references
    }
    raise_all(label_errors(facts, {}))
    for warning in label_warnings(facts, {}):
        warnings.warn(warning, stacklevel=3)


def _model_reference(model: LoadedModel | str | os.PathLike[str], folder: Path) -> str:
    """A model's name or folder; a loaded model is saved first."""
    if not isinstance(model, LoadedModel):
        name = os.fspath(model)
        return str(Path(name).absolute()) if Path(name).is_dir() else name
    path = folder / "start"
    save_model(model, path)
    return str(path.absolute())


def _with_latin_text(inputs: DiagnosisInputs) -> DiagnosisInputs:
    """Add the raw text transliterated to Latin script, unless it is in Latin script."""
    if not inputs.text or script_of(" ".join(read_lines(inputs.text, inputs.lang, 1000))) == LATIN_SCRIPT:
        return inputs
    return replace(inputs, latin_text=tuple(TRANSLITERATED + reference for reference in inputs.text))
