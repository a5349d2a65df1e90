"""Model families: what isogloss needs to know of an architecture. One declaration each; the list is all of them."""

from __future__ import annotations

from isogloss.core.registry import Registry
from isogloss.models.families.family import Family

# `model_type` of the configuration → family
FAMILIES: Registry[Family] = Registry(
    "model family",
    {
        "bert": "isogloss.models.families.bert:BERT",
        "roberta": "isogloss.models.families.bert:XLM_R",
        "xlm-roberta": "isogloss.models.families.bert:XLM_R",
        "xlm-roberta-xl": "isogloss.models.families.bert:XLM_R_XL",
        "xglm": "isogloss.models.families.xglm:XGLM",
        "t5": "isogloss.models.families.t5:T5_ENCODER",
        "mt5": "isogloss.models.families.t5:MT5_ENCODER",
        "modernbert": "isogloss.models.families.modernbert:MODERNBERT",
        "llama": "isogloss.models.families.llama:LLAMA",
        "mistral": "isogloss.models.families.llama:LLAMA",
        "qwen2": "isogloss.models.families.llama:LLAMA",
        "qwen3": "isogloss.models.families.llama:QWEN3",
        "gemma2": "isogloss.models.families.llama:GEMMA",
        "gemma3_text": "isogloss.models.families.llama:GEMMA3",
        "isogloss": "isogloss.models.families.norm_schemes:ISOGLOSS",
    },
)
