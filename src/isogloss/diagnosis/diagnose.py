"""`ig.diagnose`: how well does a model serve a language that it did not see, what helps, and the best model of all.

The comparison of the slides on unseen languages, the verdict (see `verdict`), tokenizer statistics, a ranking of
sources, remedies within a budget, and in the end a model, a recipe and a report. All training is done by studies in
one store, so that whatever is killed, the same call goes on.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from isogloss.core.errors import IsoglossError, UsageError
from isogloss.core.registry import check_name
from isogloss.diagnosis.difficulty import BASELINES, BILSTM, SERVING, compared, differences_of, holds, judge
from isogloss.diagnosis.inputs import (
    Given,
    Sources,
    code_switched,
    from_laboratory,
    gather,
    labelled_sources,
    references,
    usual_sizes,
)
from isogloss.diagnosis.inspection import Look, Parallel, look
from isogloss.diagnosis.remedies import chosen_remedies
from isogloss.diagnosis.remedy_search import begin, remedy_frame, search
from isogloss.diagnosis.report import write_report
from isogloss.diagnosis.source_ranking import script_and_name
from isogloss.diagnosis.study_runner import Bench, Trial, joined
from isogloss.diagnosis.treatments import Material, Sizes, comparison, in_small_batches, treatment
from isogloss.diagnosis.verdict import Verdict, system_scores
from isogloss.diagnosis.zero_shot import carrying, estimated, ways
from isogloss.languages.codes import canonical
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.results.rows.results import Results
from isogloss.store.entries import Store
from isogloss.studies.execution.corpora import read_corpora
from isogloss.studies.execution.run_study import Watch
from isogloss.studies.schema.write_study import only, write_recipe
from isogloss.tasks import TASKS
from isogloss.tasks.bilstm import PARTS

Tell = Callable[[str], None]


def diagnose(
    model: LoadedModel | str | os.PathLike[str],
    *,
    lang: str,
    train: Given = None,
    dev: Given = None,
    test: Given = None,
    text: Given = None,
    task: str = "pos",
    source: Mapping[str, tuple[Given, Given]] | None = None,
    lexicon: Given = None,
    parallel: Parallel = None,
    comparable: Mapping[str, Given] | None = None,
    seeds: int | Sequence[int] = 3,
    budget: float | None = None,
    remedies: Sequence[str] | None = None,
    sizes: Sizes | None = None,
    out: str | os.PathLike[str] | None = None,
    store: str | os.PathLike[str] | None = None,
    threads: int = 1,
    device: str | None = None,
    watch: Watch | None = None,
    tell: Tell | None = None,
    **options: Any,
) -> Verdict:
    """The verdict on a language, with all that it rests on; the best model, a recipe and a report in the folder `out`.

    Corpora are paths, `hub:…`, `lab:…` or corpora in memory; for a language of the laboratory those not given come from
    there. With `train`, `dev` and `test` the four systems of the slides are compared and remedies tried; without
    `train` the task is carried over from the best of the languages of `source` (`{"en": (train, dev)}`). `text`: raw
    text of the language, for adaptation. `lexicon`: from the language of the first source to this one, for
    code-switching. `parallel` or `comparable` text of several languages, this one among them: similarity inside the
    model, for the ranking of sources.

    `budget`: minutes for remedies. `remedies`: these, in this order (`[]`: none); all that apply where not given, the
    most promising first. `sizes`: how everything is trained. `store`: where training is kept, `out/store` if not
    given; networks that did not win are removed from it. `options` are those of the backend.
    """
    check_name(task, TASKS, "task")
    folder, code = Path(out or f"diagnosis-{lang}").absolute(), canonical(lang)
    given = {"train": train, "dev": dev, "test": test, "text": text}
    material = gather(model, code, task, folder, from_laboratory(code, given, labelled=not source))
    sources = labelled_sources(source or {}, folder)
    if not material.train and not sources:
        raise UsageError("nothing to learn from: give labelled data (train, dev and test), or a source")
    material = code_switched(material, sources, lexicon, folder)
    told = tell or (lambda what: None)
    told("looking at the tokenizer and at other languages")
    texts = {name: references(f"{name}-text", one, folder) for name, one in (comparable or {}).items()}
    with _threads(threads):
        seen = look(material, tuple(sources), parallel, texts, device)
    case = _Case(
        material,
        seen,
        sources,
        _fitting(sizes or usual_sizes(code), material),
        tuple(range(seeds) if isinstance(seeds, int) else seeds),
        threads,
        Bench(folder, Store(store or folder / "store"), {"device": device, **options}, watch),
        told,
    )
    verdict = case.labelled(remedies, budget) if material.train else case.unlabelled()
    verdict.write()
    write_report(verdict)
    return verdict


def _fitting(sizes: Sizes, material: Material) -> Sizes:
    """Sizes for as many labelled sentences as there are."""
    task = TASKS[material.task]
    if not material.train or task.name not in PARTS:
        return sizes
    sentences = len(read_corpora(material.train, task.corpus, lang=material.lang))
    return in_small_batches(sizes, sentences, task.recipe.batch, PARTS[task.name].recipe.batch)


@dataclass(frozen=True)
class _Case:
    """A language to be diagnosed, and all that is needed for it."""

    material: Material
    look: Look
    sources: Sources
    sizes: Sizes
    seeds: Sequence[int]
    threads: int
    bench: Bench
    tell: Tell

    @property
    def metric(self) -> str:
        return TASKS[self.material.task].main_metric

    def labelled(self, remedies: Sequence[str] | None, budget: float | None) -> Verdict:
        """The comparison, then remedies."""
        chosen = chosen_remedies(remedies, self.material, self.look.findings)
        self.tell("comparing the four systems" if self.material.text else "comparing with the BiLSTM: no raw text")
        trial = self._done(comparison(self.material, self.sizes, self.seeds, self.threads))
        start = begin(trial, self.metric)
        self.bench.forget([trial], trial.best_run(start.best.system, self.metric))
        found = search(start, chosen, self.bench, self._treatment, self.metric, budget and 60 * budget, self.tell)
        baselines = [name for name in BASELINES if name in trial.plan.study.models]
        pairs = [(one, other) for one in SERVING if one in trial.plan.study.models for other in baselines]
        differences = compared(trial.results, pairs, self.metric)
        listed = differences_of(differences)
        judged = judge(listed)
        after = compared(found.results, [(found.ground.system, one) for one in baselines], self.metric)
        return self._verdict(
            found.best.trial,
            found.best.system,
            found.results,
            level=judged.level,
            sure=judged.sure,
            by_bilstm=judge([one for one in listed if one.baseline == BILSTM]).level,
            repaired=holds(differences_of(after)),
            differences=differences,
            remedies=found.frame(self.metric),
        )

    def unlabelled(self) -> Verdict:
        """Transfer from the best source."""
        best = next(one for one in self.look.ranking.languages if one in self.sources)
        self.tell(f"no labelled data: carrying the task over from {best}")
        steps = ways(self.material, script_and_name(best)[0], first=best == next(iter(self.sources)))
        trials = [
            self._done(carrying(one, self.material, best, self.sources, self.sizes, self.seeds, self.threads))
            for one in steps
        ]
        results = joined(trials)
        return self._verdict(
            trials[-1],
            steps[-1].name,
            results,
            level="Undecided",
            sure=False,
            by_bilstm="Undecided",
            repaired=None,
            differences=compared(results, [], self.metric),
            remedies=remedy_frame((), results, self.metric),
            estimate=estimated(results, self.metric, best, self.material.lang, list(self.sources), self.look.alike),
        )

    def _treatment(self, steps: Any) -> dict[str, Any]:
        return treatment(steps, self.material, self.sizes, self.seeds, self.threads)

    def _done(self, study: Mapping[str, Any]) -> Trial:
        """A study that everything after it rests on."""
        trial = self.bench.run(study)
        for label, reason in trial.results.failed.items():
            raise IsoglossError(f"{label}: {reason.strip().splitlines()[-1]}")
        return trial

    def _verdict(self, trial: Trial, system: str, results: Results, **found: Any) -> Verdict:
        """The verdict, once the best system is saved and its recipe written."""
        folder, material = self.bench.folder, self.material
        self.bench.save_network(trial, trial.best_run(system, self.metric), folder / "model")
        title = f"{material.task} in {material.lang}: {system}"
        study = {**only(trial.study, system), "name": f"{material.lang}-{material.task}-best", "description": title}
        write_recipe(
            study, folder / "recipe.yaml", ["What made the best model of a diagnosis: isogloss run recipe.yaml"]
        )
        return Verdict(
            model=material.model,
            lang=material.lang,
            task=material.task,
            metric=self.metric,
            best=system,
            systems=system_scores(results, self.metric, material.lang),
            tokenizer=self.look.statistics,
            sources=self.look.ranking,
            folder=folder,
            results=results,
            **found,
        )


@contextlib.contextmanager
def _threads(number: int) -> Iterator[None]:
    """So many threads and no more: on a busy machine more of them wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)
