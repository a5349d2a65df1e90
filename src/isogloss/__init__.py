"""isogloss: measure, explain and repair zero-shot cross-lingual transfer.

Public names are imported on first use, so that `import isogloss` and `isogloss --help` stay fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # what type checkers see; a test keeps it equal to PUBLIC
    from isogloss.analysis.alignment import align as align
    from isogloss.analysis.gap_prediction import leave_one_language_out as leave_one_language_out
    from isogloss.analysis.gap_prediction import predict_gaps as predict_gaps
    from isogloss.analysis.gap_similarity import gap_similarity as gap_similarity
    from isogloss.analysis.rotation import rotated as rotated
    from isogloss.analysis.rotation import rotation as rotation
    from isogloss.analysis.similarity import similarity as similarity
    from isogloss.analysis.word_distances import word_distances as word_distances
    from isogloss.corpora.corpus import Corpus as Corpus
    from isogloss.corpora.kinds.nli import mixed_language as mixed_language
    from isogloss.corpora.kinds.qa import pair_languages as pair_languages
    from isogloss.corpora.lab.laboratory import Laboratory as Laboratory
    from isogloss.corpora.parallel import ParallelSet as ParallelSet
    from isogloss.corpora.readers import read_alignment as read_alignment
    from isogloss.corpora.readers import read_bitext as read_bitext
    from isogloss.corpora.readers import read_lexicon as read_lexicon
    from isogloss.corpora.readers import read_ner as read_ner
    from isogloss.corpora.readers import read_nli as read_nli
    from isogloss.corpora.readers import read_parallel as read_parallel
    from isogloss.corpora.readers import read_qa as read_qa
    from isogloss.corpora.readers import read_text as read_text
    from isogloss.corpora.readers import read_treebank as read_treebank
    from isogloss.diagnosis.diagnose import diagnose as diagnose
    from isogloss.indexes.anc import anc as anc
    from isogloss.indexes.anc import neuron_correlations as neuron_correlations
    from isogloss.indexes.cca import cca as cca
    from isogloss.indexes.cka import cka as cka
    from isogloss.indexes.curve_shape import first_align_then_predict as first_align_then_predict
    from isogloss.indexes.matching import matching_accuracy as matching_accuracy
    from isogloss.indexes.procrustes import procrustes as procrustes
    from isogloss.indexes.pwcca import pwcca as pwcca
    from isogloss.indexes.svcca import svcca as svcca
    from isogloss.languages.facts import language as language
    from isogloss.models.adapters.files import save_adapter as save_adapter
    from isogloss.models.adapters.lora import lora as lora
    from isogloss.models.bilstm.baseline import bilstm as bilstm
    from isogloss.models.interventions.adapters import language_adapter as language_adapter
    from isogloss.models.interventions.adapters import task_adapter as task_adapter
    from isogloss.models.interventions.adapters import use_adapter as use_adapter
    from isogloss.models.interventions.reinit import reinit as reinit
    from isogloss.models.loading.load import load_model as load_model
    from isogloss.models.loading.untrained import untrained_encoder as untrained_encoder
    from isogloss.models.vocabulary.extension import extend_vocabulary as extend_vocabulary
    from isogloss.report.write_report import write_report as write_report
    from isogloss.results.rows.curves import Curves as Curves
    from isogloss.results.rows.results import Results as Results
    from isogloss.studies.execution.run_study import run_study as run_study
    from isogloss.studies.schema.study import Study as Study
    from isogloss.text.alignment.scoring import score_alignment as score_alignment
    from isogloss.text.changes.code_switching import code_switch as code_switch
    from isogloss.text.changes.noise import noise as noise
    from isogloss.text.changes.reordering import reorder as reorder
    from isogloss.text.cleaning.cleaning import clean as clean
    from isogloss.text.cleaning.cleaning import line_filter as line_filter
    from isogloss.text.cleaning.identification import identify as identify
    from isogloss.text.transliteration.transliterate import transliterate as transliterate
    from isogloss.training.adjustment.adjust import adjust as adjust
    from isogloss.training.adjustment.replay import alignment_replay as alignment_replay
    from isogloss.training.finetuning.transfer import transfer as transfer
    from isogloss.training.language_modeling.adapt import adapt as adapt
    from isogloss.training.language_modeling.pretrain import pretrain as pretrain

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


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in PUBLIC:
            raise AttributeError(f"module 'isogloss' has no attribute '{name}'")
        return getattr(import_module(PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
