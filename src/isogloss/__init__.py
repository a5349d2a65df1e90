"""isogloss: measure, explain and repair zero-shot cross-lingual transfer.

The public names below are loaded on first use, so that `import isogloss` and `isogloss --help` stay quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# public name → the module that defines it
PUBLIC = {
    "Curves": "isogloss.results.rows.curves",
    "similarity": "isogloss.analysis.similarity",
    "untrained_encoder": "isogloss.models.loading.untrained",
    "reinit": "isogloss.models.interventions.reinit",
    "rotated": "isogloss.analysis.rotation",
    "rotation": "isogloss.analysis.rotation",
    "word_distances": "isogloss.analysis.word_distances",
    "Results": "isogloss.results.rows.results",
    "run_study": "isogloss.studies.execution.run_study",
    "diagnose": "isogloss.diagnosis.diagnose",
    "write_report": "isogloss.report.write_report",
    "Study": "isogloss.studies.schema.study",
    "gap_similarity": "isogloss.analysis.gap_similarity",
    "leave_one_language_out": "isogloss.analysis.gap_prediction",
    "predict_gaps": "isogloss.analysis.gap_prediction",
    "transfer": "isogloss.training.finetuning.transfer",
    "adapt": "isogloss.training.language_modeling.adapt",
    "extend_vocabulary": "isogloss.models.vocabulary.extension",
    "language_adapter": "isogloss.models.interventions.adapters",
    "lora": "isogloss.models.adapters.lora",
    "save_adapter": "isogloss.models.adapters.files",
    "task_adapter": "isogloss.models.interventions.adapters",
    "use_adapter": "isogloss.models.interventions.adapters",
    "adjust": "isogloss.training.adjustment.adjust",
    "alignment_replay": "isogloss.training.adjustment.replay",
    "align": "isogloss.analysis.alignment",
    "score_alignment": "isogloss.text.alignment.scoring",
    "pretrain": "isogloss.training.language_modeling.pretrain",
    "bilstm": "isogloss.models.bilstm.baseline",
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
    "mixed_language": "isogloss.corpora.kinds.nli",
    "pair_languages": "isogloss.corpora.kinds.qa",
    "read_ner": "isogloss.corpora.readers",
    "read_nli": "isogloss.corpora.readers",
    "read_parallel": "isogloss.corpora.readers",
    "read_qa": "isogloss.corpora.readers",
    "read_text": "isogloss.corpora.readers",
    "load_model": "isogloss.models.loading.load",
    "read_treebank": "isogloss.corpora.readers",
    "transliterate": "isogloss.text.transliteration.transliterate",
    "noise": "isogloss.text.changes.noise",
    "code_switch": "isogloss.text.changes.code_switching",
    "reorder": "isogloss.text.changes.reordering",
    "clean": "isogloss.text.cleaning.cleaning",
    "line_filter": "isogloss.text.cleaning.cleaning",
    "identify": "isogloss.text.cleaning.identification",
}

__all__ = ["__version__", *PUBLIC]


def __getattr__(name: str) -> Any:
    if name not in PUBLIC:
        raise AttributeError(f"module 'isogloss' has no attribute '{name}'")
    return getattr(import_module(PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
