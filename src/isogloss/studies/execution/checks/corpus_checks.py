"""Checks of the corpora that a study reads: their formats, their labels, the changes of their text."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from isogloss.core.errors import InputError
from isogloss.corpora.corpus import AnyCorpus, Corpus
from isogloss.corpora.formats import FORMATS
from isogloss.corpora.formats.text import stream_files
from isogloss.languages.codes import language_of_path
from isogloss.studies.execution.checks.context import SAMPLE_ITEMS, CheckContext, sampled
from isogloss.studies.execution.corpora import language_of_name, read_corpora
from isogloss.studies.schema.interventions import Intervention
from isogloss.studies.schema.references import LAB, TRANSLITERATED, Reference, for_task
from isogloss.studies.schema.text_changes import TextChange
from isogloss.tasks import TASKS
from isogloss.tasks.labelled import LabelFacts, label_errors, label_facts, label_warnings
from isogloss.tasks.scoring import with_scorer


@dataclass(frozen=True)
class CorpusChecks:
    """The checks of the corpora of one study."""

    context: CheckContext

    def run(self) -> None:
        study = self.context.study
        for task, source in itertools.product(study.tasks, study.sources):
            self.check_labels(task, source)
            self.check_scorers(task, source)
        for model, text in itertools.product(study.models.values(), study.text.values()):
            self.check_text_changes((*model.text, *text))
        for _, intervention in self.context.interventions():
            self.check_texts(intervention)

    def check_labels(self, task: str, source: str) -> None:
        """Every corpus of a task can be read, is labelled, and has labels of the training corpus."""
        study, findings = self.context.study, self.context.findings
        corpora = study.sources[source]
        roles = {"train": (source, for_task(corpora.train, task)), "dev": (source, for_task(corpora.dev, task))}
        targets = {name: for_task(by_task, task) for name, by_task in study.targets.items()}
        roles |= {f"test '{name}'": (name, tests) for name, tests in targets.items()}
        facts: dict[str, LabelFacts] = {}
        learned: dict[str, list[str]] = {}
        for role, (name, references) in roles.items():
            for reference in references or ():
                with findings.collecting():
                    if self.context.is_readable([reference]):
                        facts[f"{role}, {reference}"] = fact = self._label_facts(reference, task, name)
                        for head, labels in fact.labels.items() if role == "train" else ():
                            learned.setdefault(head, []).extend(labels)
        for error in label_errors(facts, learned):
            findings.add(error)
        for warning in label_warnings(facts, learned):
            findings.warn(f"{task}: {warning}")

    def check_scorers(self, task: str, source: str) -> None:
        """Every corpus that predictions are compared with can be scored by one script, for tasks that have several."""
        study, findings = self.context.study, self.context.findings
        if not TASKS[task].scorers:
            return
        corpora = [(source, study.sources[source].dev), *study.targets.items()]
        scorers = dict.fromkeys(study.scorer_of(task, model) for model in study.models)
        for (name, by_task), scorer in itertools.product(corpora, scorers):
            references = for_task(by_task, task)
            with findings.collecting(), warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                if references and self.context.is_readable(references):
                    parts, lang = list(map(sampled, references)), language_of_name(name)
                    corpus = read_corpora(parts, TASKS[task].corpus, lang=lang)
                    with_scorer(TASKS[task], scorer).check_gold(corpus)
            for message in dict.fromkeys(str(warning.message) for warning in caught):
                findings.warn(f"{task}: {message}")

    def check_text_changes(self, changes: Sequence[TextChange]) -> None:
        """Text changes can be applied to some items of every corpus: packages, lexicons, kinds of corpora."""
        for task, (name, by_task, role) in itertools.product(self.context.study.tasks, self._corpora()):
            references, roles = for_task(by_task, task), [change.arguments.on for change in changes]
            with self.context.findings.collecting():
                if references and any(role in on for on in roles) and self.context.is_readable(references):
                    corpus = self._read(references[0], task, name)[:SAMPLE_ITEMS]
                    for change in changes:
                        corpus = change.arguments.apply(corpus) if role in change.arguments.on else corpus

    def check_texts(self, intervention: Intervention) -> None:
        """The raw text and the lexicon of an intervention can be read."""
        values = dict(intervention.arguments)
        texts = [values.get("text", ()), *values.get("texts", {}).values(), *values.get("mix", {}).values()]
        for reference in itertools.chain(*texts):
            with self.context.findings.collecting():
                if self.context.is_readable([reference]):
                    _check_text(reference, values.get("lang"))
        if lexicon := values.get("lexicon"):
            with self.context.findings.collecting():
                if self.context.is_readable(lexicon):
                    read_corpora(lexicon, "lexicon")

    def _label_facts(self, reference: str, task: str, name: str) -> LabelFacts:
        """The labels of a corpus; of a part of the laboratory, whose label sets are not compared."""

        def compute() -> LabelFacts:
            facts = label_facts(TASKS[task], self._read(reference, task, name))
            return facts if sampled(reference) == reference else replace(facts, labels={})

        key = [self.context.fingerprints.corpus([reference]), task, language_of_name(name)]
        return self.context.facts.labels(key, reference, compute)

    def _read(self, reference: str, task: str, name: str) -> AnyCorpus:
        return read_corpora([sampled(reference)], TASKS[task].corpus, lang=language_of_name(name))

    def _corpora(self) -> list[tuple[str, Mapping[str, tuple[Reference, ...]], str]]:
        """The name, the corpora by task and the role of every corpus."""
        sources = self.context.study.sources.items()
        trained = [(name, part, role) for name, s in sources for part, role in ((s.train, "train"), (s.dev, "dev"))]
        return [*trained, *((name, tests, "test") for name, tests in self.context.study.targets.items())]


def _check_text(reference: str, lang: str | None) -> None:
    """Raw text has lines, and can be transliterated if it is to be; only the first lines are read."""
    path = reference.removeprefix(TRANSLITERATED)
    if LAB.fullmatch(path):
        read_corpora([sampled(reference)], "text", lang=lang)
        return
    lines = tuple(itertools.islice(stream_files([path]), SAMPLE_ITEMS))
    if not lines:
        raise InputError(path, "at least one item of the format 'text'", "an empty file")
    if path != reference:
        from isogloss.text.transliteration.transliterate import transliterate

        transliterate(Corpus(lines, lang or language_of_path(path), FORMATS["text"]))
