"""Checks of sizes: no corpus is smaller than what a study reads of it, and parallel text has the languages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from isogloss.languages.codes import canonical
from isogloss.studies.execution.checks.context import CheckContext, Place, sampled
from isogloss.studies.execution.corpora import language_of_name, read_bitexts, read_parallel
from isogloss.studies.schema.interventions.adjust import Adjust
from isogloss.studies.schema.measurements import Measure
from isogloss.studies.schema.references import LAB, SpecError

PARALLEL: Place = ("measure", "parallel")


@dataclass(frozen=True)
class SizeChecks:
    """The checks of sizes of one study: with fewer items, a key would silently mean something else."""

    context: CheckContext

    def run(self) -> None:
        study = self.context.study
        for place, intervention in self.context.interventions():
            if isinstance(arguments := intervention.arguments, Adjust):
                self.check_bitexts(arguments.bitext, arguments.pairs, (*place, "pairs"))
        for name, continual in study.continual.items():
            if continual:
                self.check_bitexts(continual.bitext, continual.sentences, ("continual", name, "sentences"))
        if study.distances:
            self.check_bitexts(study.distances.bitext, study.distances.sentences, ("distances", "sentences"))
        if study.measure:
            with self.context.findings.collecting():
                self.check_parallel(study.measure)

    def check_bitexts(self, references: Sequence[str], limit: int | None, place: Place) -> None:
        """Every bitext can be read, and has as many sentence pairs as are to be read from it."""
        for reference in references:
            with self.context.findings.collecting():
                if self.context.is_readable([reference]):
                    name = reference if LAB.fullmatch(reference) else Path(reference).name
                    self._compare(limit, self._pairs(reference), f"sentence pairs in {name}", place)

    def check_parallel(self, measure: Measure) -> None:
        """Parallel text has two languages or more, the source languages, and enough sentences."""
        references = list(measure.parallel.values())
        if not self.context.is_readable(references):
            return
        facts, key = self.context.facts, [list(measure.parallel), self.context.fingerprints.corpus(references)]
        sample = {lang: sampled(reference) for lang, reference in measure.parallel.items()}
        languages = facts.names(key, lambda: list(read_parallel(sample).languages))
        if len(languages) < 2:
            self._add("two languages or more", ", ".join(languages), PARALLEL)
        for source in [measure.source] if measure.source else self.context.study.sources:
            code = language_of_name(source) or source
            if canonical(code) not in languages:
                self._add(f"parallel text in '{code}'", f"only {', '.join(languages)}", PARALLEL)
        match = LAB.fullmatch(references[0])
        size = int(match["number"]) if match else facts.number(key, lambda: len(read_parallel(measure.parallel)))
        self._compare(measure.sentences, size, "sentences in the parallel text", ("measure", "sentences"))

    def _pairs(self, reference: str) -> int:
        if match := LAB.fullmatch(reference):
            read_bitexts([sampled(reference)])
            return int(match["number"])
        key = self.context.fingerprints.corpus([reference])
        return self.context.facts.number(key, lambda: len(read_bitexts([reference])[0]))

    def _compare(self, limit: int | None, size: int, items: str, place: Place) -> None:
        if limit is not None and limit > size:
            advice = f"there are {size:,} {items}; leave the key out to read all"
            self._add(f"at most {size:,}", f"{limit:,}", place, advice)

    def _add(self, expected: str, got: str, place: Place, advice: str = "") -> None:
        self.context.findings.add(SpecError(expected, got, advice, place))
