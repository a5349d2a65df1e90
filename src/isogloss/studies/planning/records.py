"""The record of a planned study, for the programs that read the store later."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from isogloss.store.study_records import Record
from isogloss.studies.planning.plan import Plan


def record_of(plan: Plan, failed: Mapping[str, str]) -> Record:
    from isogloss.studies.planning.published_rows import published_rows  # imports scipy, which planning does not need

    study = plan.study
    return Record(
        name=study.name,
        description=study.description,
        runs=plan.runs,
        stages=list(plan.stages),
        failed=dict(failed),
        reference=study.reference,
        text=next(iter(study.text)),
        continual=next(iter(study.continual)),
        published=published_rows(study),
        study=study.model_dump(mode="json", exclude_defaults=True),
        command=shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        written=time.time(),
    )
