"""isogloss: measure, explain and repair zero-shot cross-lingual transfer.

The public names below are loaded on first use, so that `import isogloss` and `isogloss --help` stay quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# public name → the module that defines it
PUBLIC = {
    "Curves": "isogloss.results.curves",
    "similarity": "isogloss.models.similarity",
    "untrained_encoder": "isogloss.models.fresh",
    "reinit": "isogloss.models.reinit",
    "rotated": "isogloss.models.rotation",
    "rotation": "isogloss.models.rotation",
    "word_distances": "isogloss.models.word_distances",
    "Results": "isogloss.results.record",
    "run_study": "isogloss.studies.run",
    "diagnose": "isogloss.studies.diagnose",
    "write_report": "isogloss.report.write",
    "Study": "isogloss.studies.spec",
    "gap_similarity": "isogloss.results.gap_similarity",
    "leave_one_language_out": "isogloss.results.gap_prediction",
    "predict_gaps": "isogloss.results.gap_prediction",
    "transfer": "isogloss.training.transfer",
    "adapt": "isogloss.training.adapt",
    "extend_vocabulary": "isogloss.models.vocabulary",
    "language_adapter": "isogloss.models.adapters",
    "lora": "isogloss.models.adapters_lora",
    "save_adapter": "isogloss.models.adapters_files",
    "task_adapter": "isogloss.models.adapters",
    "use_adapter": "isogloss.models.adapters",
    "adjust": "isogloss.training.adjust",
    "adjusting": "isogloss.training.adjust",
    "alignment_replay": "isogloss.training.replay",
    "align": "isogloss.models.align",
    "score_alignment": "isogloss.text.alignment_score",
    "pretrain": "isogloss.training.pretrain",
    "bilstm": "isogloss.models.bilstm_model",
    "anc": "isogloss.indexes.anc",
    "cca": "isogloss.indexes.cca",
    "cka": "isogloss.indexes.cka",
    "first_align_then_predict": "isogloss.indexes.curve_shape",
    "matching_accuracy": "isogloss.indexes.matching",
    "neuron_correlations": "isogloss.indexes.anc",
    "procrustes": "isogloss.indexes.procrustes",
    "pwcca": "isogloss.indexes.pwcca",
    "svcca": "isogloss.indexes.svcca",
    "Corpus": "isogloss.corpora.corpus",
    "Laboratory": "isogloss.corpora.lab.laboratory",
    "ParallelSet": "isogloss.corpora.parallel",
    "language": "isogloss.languages.facts",
    "read_alignment": "isogloss.corpora.readers",
    "read_bitext": "isogloss.corpora.readers",
    "read_lexicon": "isogloss.corpora.readers",
    "mixed_language": "isogloss.corpora.nli",
    "pair_languages": "isogloss.corpora.questions",
    "read_ner": "isogloss.corpora.readers",
    "read_nli": "isogloss.corpora.readers",
    "read_parallel": "isogloss.corpora.readers",
    "read_qa": "isogloss.corpora.readers",
    "read_text": "isogloss.corpora.readers",
    "load_model": "isogloss.models.load",
    "read_treebank": "isogloss.corpora.readers",
    "transliterate": "isogloss.text.transliterate",
    "noise": "isogloss.text.noise",
    "code_switch": "isogloss.text.code_switching",
    "reorder": "isogloss.text.word_order",
    "clean": "isogloss.text.cleaning",
    "line_filter": "isogloss.text.cleaning",
    "identify": "isogloss.text.identification",
}

__all__ = ["__version__", *PUBLIC]


def __getattr__(name: str) -> Any:
    if name not in PUBLIC:
        raise AttributeError(f"module 'isogloss' has no attribute '{name}'")
    return getattr(import_module(PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
