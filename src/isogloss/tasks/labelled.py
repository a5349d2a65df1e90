"""Labels of corpora, checked before a model is loaded: what is missing, and what training cannot teach."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from isogloss.core.errors import InputError, IsoglossError, raise_all
from isogloss.corpora.corpus import AnyCorpus
from isogloss.corpora.item_lines import line_of
from isogloss.tasks.bilstm import CHARACTERS, WORDS
from isogloss.tasks.task import Item, Task, Unlabelled

NO_ENTITY = "O"
LabelSets = Mapping[str, Sequence[str]]  # labels by head
MAX_NAMED_LABELS = 12  # in a message
ADVICE = "give a labelled file, such as the dev set; `isogloss predict` annotates files without labels"


@dataclass(frozen=True)
class LabelFacts:
    """What is known of the labels of one corpus without a model."""

    where: str  # file or language
    items: int
    labelled: int
    missing: str = ""  # what the first item without labels lacks
    line: int | None = None  # of that item
    labels: LabelSets = field(default_factory=dict)  # without vocabularies

    @property
    def error(self) -> InputError | None:
        """The error of a corpus in which no item is labelled."""
        if self.labelled:
            return None
        got = f"no {self.missing} in any of its {self.items:,} items"
        return InputError(self.where, "labelled items", got, line=self.line, advice=ADVICE)

    @property
    def warning(self) -> str:
        """What is left out of a partly labelled corpus; "" where nothing is."""
        if self.labelled in (0, self.items):
            return ""
        where = self.where if self.line is None else f"{self.where}:{self.line}"
        counts = f"{self.items - self.labelled:,} of {self.items:,} items are left out"
        return f"{where}: {counts}; the first has no {self.missing}"


def label_facts(task: Task, corpus: AnyCorpus) -> LabelFacts:
    """What is known of the labels of a corpus."""
    where = corpus.origin or corpus.lang
    unlabelled = [(item, error) for item in corpus if (error := _fault(task, item))]
    labelled = labelled_items(task, corpus) if unlabelled else corpus
    missing, line = (unlabelled[0][1].missing, line_of(corpus, unlabelled[0][0])) if unlabelled else ("", None)
    labels = task.labels(labelled) if len(labelled) else {}
    heads = {name: tuple(values) for name, values in labels.items() if name not in (WORDS, CHARACTERS)}
    return LabelFacts(where, len(corpus), len(labelled), missing, line, heads)


def is_labelled(task: Task, item: Item) -> bool:
    return _fault(task, item) is None


def labelled_items(task: Task, corpus: AnyCorpus) -> AnyCorpus:
    """The items that have gold annotation: the corpus itself where all have."""
    items = [item for item in corpus if is_labelled(task, item)]
    return corpus if len(items) == len(corpus) else corpus.with_items(items)


def labelled_corpora(task: Task, corpora: Mapping[str, AnyCorpus], train: str = "train") -> dict[str, AnyCorpus]:
    """Corpora by role without their unlabelled items.

    One error lists every corpus without labels, or with labels that the training corpus does not have. What is left
    out of partly labelled corpora, and labels that training does not contain, are warnings.
    """
    facts = {role: label_facts(task, corpus) for role, corpus in corpora.items()}
    learned = facts[train].labels
    raise_all(label_errors(facts, learned))
    for warning in label_warnings(facts, learned):
        warnings.warn(warning, stacklevel=3)
    return {
        role: corpus if facts[role].labelled == len(corpus) else labelled_items(task, corpus)
        for role, corpus in corpora.items()
    }


def label_errors(facts: Mapping[str, LabelFacts], learned: LabelSets) -> list[IsoglossError]:
    """Corpora without labels, and corpora none of whose labels are `learned`, those of the training corpus."""
    errors: list[IsoglossError] = [fact.error for fact in facts.values() if fact.error]
    for role, fact in facts.items():
        for head, labels in fact.labels.items():
            trained = set(learned.get(head, ()))
            if trained and set(labels) - {NO_ENTITY} and not set(labels) & trained - {NO_ENTITY}:
                expected = f"{head} of the training corpus ({_named(trained)})"
                errors.append(InputError(fact.where, expected, f"only {_named(labels)} ({role})"))
    return errors


def label_warnings(facts: Mapping[str, LabelFacts], learned: LabelSets) -> list[str]:
    """Partly labelled corpora, and labels that are not `learned`, those of the training corpus."""
    messages = [fact.warning for fact in facts.values() if fact.warning]
    unseen: dict[str, set[str]] = {}
    for role, fact in facts.items():
        for head, labels in fact.labels.items():
            if new := set(labels) - set(learned.get(head, labels)):
                unseen.setdefault(head, set()).update(new)
            if set(labels) == {NO_ENTITY}:
                messages.append(f"{fact.where}: every tag is {NO_ENTITY}, so there are no entities ({role})")
    messages += [
        f"{head} that do not occur in the training corpus cannot be predicted: {_named(new)}"
        for head, new in unseen.items()
    ]
    return messages


def _fault(task: Task, item: Item) -> Unlabelled | None:
    try:
        task.gold(item)
    except Unlabelled as error:
        return error
    return None


def _named(labels: Sequence[str] | set[str]) -> str:
    names = sorted(labels)
    more = len(names) - MAX_NAMED_LABELS
    return ", ".join(names[:MAX_NAMED_LABELS]) + (f" and {more} more" if more > 0 else "")
