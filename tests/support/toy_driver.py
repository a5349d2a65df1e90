"""A driver to be killed: `python toy_driver.py STORE SEEDS OUT keep` does a study of toys and writes its rows."""

from __future__ import annotations

import sys
from typing import Any

STUDY: dict[str, Any] = {
    "name": "toys",
    "model": "bilstm",
    "task": "pos",
    "changes": {"REF": [], "1": [{"reinit": "1"}]},
    "sources": {"qla": {"train": "lab:qla/train/10", "dev": "lab:qla/dev/10"}},
    "targets": {"qla": "lab:qla/test/10", "qlb": "lab:qlb/test/10"},
}


def main(store: str, seeds: str, out: str, networks: str) -> None:
    from isogloss.studies.execution.run_study import run_study
    from isogloss.studies.planning import job

    job.STAGE_FUNCTIONS_MODULE = "toy_makers"
    results = run_study({**STUDY, "seeds": int(seeds), "networks": networks}, store=store, device="cpu", workers=2)
    assert not results.failed, results.failed
    results.frame.write_parquet(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
