"""Model families: what isogloss needs to know of an architecture. One declaration each; the list is all of them."""

from __future__ import annotations

from isogloss.core.registry import Registry
from isogloss.models.families.family import Family

# `model_type` of the configuration → family
FAMILIES: Registry[Family] = Registry(
    "model family",
    {
        "bert": "isogloss.models.families.table:BERT",
        "roberta": "isogloss.models.families.table:XLM_R",
        "xlm-roberta": "isogloss.models.families.table:XLM_R",
        "xlm-roberta-xl": "isogloss.models.families.table:XLM_R_XL",
        "xglm": "isogloss.models.families.table:XGLM",
        "t5": "isogloss.models.families.table:T5_ENCODER",
        "mt5": "isogloss.models.families.table:MT5_ENCODER",
        "modernbert": "isogloss.models.families.table:MODERNBERT",
        "llama": "isogloss.models.families.table:LLAMA",
        "mistral": "isogloss.models.families.table:LLAMA",
        "qwen2": "isogloss.models.families.table:LLAMA",
        "qwen3": "isogloss.models.families.table:QWEN3",
        "gemma2": "isogloss.models.families.table:GEMMA",
        "gemma3_text": "isogloss.models.families.table:GEMMA3",
        "isogloss": "isogloss.models.families.table:ISOGLOSS",
    },
)
