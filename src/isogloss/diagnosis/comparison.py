"""The comparison of Muller et al. (2021): the model fine-tuned directly and after adaptation, and two baselines."""

from __future__ import annotations

from isogloss.diagnosis.difficulty import ADAPTED, BILSTM, FINETUNED, MONOLINGUAL
from isogloss.diagnosis.treatments import ADAPT, DiagnosisInputs, StudyDocument, Treatment, base_study
from isogloss.studies.schema.study import BILSTM as BILSTM_MODEL


def comparison_study(inputs: DiagnosisInputs) -> StudyDocument:
    """The study of all systems; without raw text there is neither adaptation nor a monolingual model."""
    sizes = inputs.sizes
    models: StudyDocument = {FINETUNED: Treatment().model(inputs)}
    if inputs.text:
        models[ADAPTED] = Treatment((ADAPT,)).model(inputs)
        models[MONOLINGUAL] = {"pretrain": {"texts": {inputs.lang: list(inputs.text)}, **sizes.pretrain}}
    models[BILSTM] = BILSTM_MODEL
    settings = {name: dict(sizes.bilstm if name == BILSTM else sizes.finetune) for name in models}
    return {
        **base_study(inputs, "comparison", inputs.train),
        "models": models,
        "settings": {name: options for name, options in settings.items() if options},
    }
