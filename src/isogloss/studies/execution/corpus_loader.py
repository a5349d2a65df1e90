"""Loads the corpora of a stage, cached in memory."""

from __future__ import annotations

from collections.abc import Sequence

from isogloss.core.hashing import digest
from isogloss.corpora.corpus import AnyCorpus, Corpus
from isogloss.corpora.kinds.bitext import AlignedPair
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.studies.execution.corpora import language_of_name, read_bitexts, read_corpora
from isogloss.studies.execution.encoding_cache import with_encoding_cache
from isogloss.studies.execution.worker_context import WorkerContext
from isogloss.studies.planning.stages import TaskCorpora
from isogloss.tasks import TASKS
from isogloss.tasks.bilstm import task_for_model
from isogloss.tasks.labelled import label_facts, labelled_items
from isogloss.tasks.scoring import with_scorer
from isogloss.tasks.task import Task


class CorpusLoader:
    """The corpora of a stage after their text changes, and the task that encodes them."""

    def __init__(self, corpora: TaskCorpora, context: WorkerContext):
        self.corpora, self.context = corpora, context
        self._identities: dict[int, str] = {}  # by the Python id of a corpus

    def task(self, model: LoadedModel) -> Task:
        task = with_scorer(task_for_model(model, TASKS[self.corpora.task]), self.corpora.scorer)
        return with_encoding_cache(task, self._identities, self.context)

    def load(self, references: Sequence[str], name: str, role: str) -> AnyCorpus:
        """The corpora of a source or target, joined and changed as the text changes for `role` say.

        Items without labels are left out; a corpus without any is an error.
        """
        kind, lang = TASKS[self.corpora.task].corpus, language_of_name(name)
        changes = [change for change in self.corpora.text_changes if role in change.arguments.on]
        described = [{"name": change.name, "arguments": change.arguments.model_dump(mode="json")} for change in changes]
        versions = [change.arguments.version for change in changes]
        contents = [self.corpora.fingerprints[reference] for reference in references]
        key = digest(contents, lang, kind, described, versions)

        def read() -> AnyCorpus:
            corpus = read_corpora(references, kind, lang=lang)
            for change in changes:
                corpus = change.arguments.apply(corpus)
            return corpus

        task, corpus = TASKS[self.corpora.task], self.context.cache.get("corpus", key, read)
        labelled = self.context.cache.get("corpus", (key, task.name), lambda: labelled_items(task, corpus))
        if not len(labelled) and (error := label_facts(task, corpus).error):
            raise error
        self._identities[id(labelled)] = key if labelled is corpus else digest(key, task.name)
        return labelled


def load_training_data(
    corpora: TaskCorpora, model: LoadedModel, context: WorkerContext
) -> tuple[AnyCorpus, AnyCorpus, Task]:
    """The train and dev corpora and the task of a fine-tuning."""
    loader = CorpusLoader(corpora, context)
    train = loader.load(corpora.train, corpora.source, "train")
    return train, loader.load(corpora.dev, corpora.source, "dev"), loader.task(model)


def load_bitexts(references: Sequence[str], sentences: int | None, context: WorkerContext) -> list[Corpus[AlignedPair]]:
    """The first `sentences` pairs of each bitext."""
    bitexts = context.cache.get("corpus", ("bitext", *references), lambda: read_bitexts(references))
    return [bitext[:sentences] for bitext in bitexts]
