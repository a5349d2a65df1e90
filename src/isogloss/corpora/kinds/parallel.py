"""Parallel sentences of one file, by language; `isogloss.corpora.parallel` makes a `ParallelSet` of them."""

from __future__ import annotations

from isogloss.corpora.kinds.kind import CorpusKind

ParallelRow = dict[str, str]  # language → sentence

PARALLEL: CorpusKind[ParallelRow] = CorpusKind("parallel", lambda rows: {"sentences": len(rows)}, is_language_pair=True)
