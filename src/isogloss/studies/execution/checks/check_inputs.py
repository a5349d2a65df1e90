"""Everything about a study that can be known before training, in one call."""

from __future__ import annotations

from pathlib import Path

from isogloss.store.entries import Store
from isogloss.studies.execution.checks.context import CheckContext
from isogloss.studies.execution.checks.corpus_checks import CorpusChecks
from isogloss.studies.execution.checks.facts_cache import FactsCache
from isogloss.studies.execution.checks.findings import Findings
from isogloss.studies.execution.checks.model_checks import ModelChecks
from isogloss.studies.execution.checks.size_checks import SizeChecks
from isogloss.studies.planning.plan import Plan
from isogloss.studies.planning.records import record_of


def check_inputs(plan: Plan, store: Store | None, origin: Path | None = None) -> Findings:
    """All errors and warnings of a plan. `origin`: the study file. Facts of corpora are cached in the store."""
    findings, facts = Findings(origin), FactsCache(store)
    for error in plan.missing.values():
        findings.add(error)
    with findings.collecting():
        record_of(plan, {})  # reads published values
    context = CheckContext(plan.study, plan.fingerprints, facts, findings)
    for checks in (CorpusChecks(context), SizeChecks(context), ModelChecks(plan.study, findings)):
        checks.run()
    facts.save()
    return findings
