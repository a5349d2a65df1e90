"""How many weights a model of a study has, without reading them: from file headers, or from the sizes it will have."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from isogloss.core.bundled import SHIPPED
from isogloss.studies.execution.backends import Stage
from isogloss.studies.schema.study import BILSTM

UNKNOWN = 180e6  # of a model of the hub: mBERT's
BILSTM_WEIGHTS = 15e6  # three highway layers of 2 × 400 units, and what is read from them
LONGEST_HEADER = 100_000_000  # bytes; the format allows no more


def weights_of(recipe: Mapping[str, Any], stages: Mapping[str, Stage]) -> float:
    """The weights of the model that a stage's recipe begins with; `stages` are those of the plan."""
    model = recipe.get("model", recipe)
    if model["stored"]:
        return weights_of(stages[model["stored"]].recipe, stages)
    base = model["base"]
    if base is None:
        return pretrained_weights(**model["changes"][0]["arguments"])
    return BILSTM_WEIGHTS if base == BILSTM else folder_weights(SHIPPED.get(base, Path(base))) or UNKNOWN


def pretrained_weights(*, vocabulary: int, layers: int, width: int, **_: object) -> float:
    """Embeddings, and in every block four square matrices for attention and eight in the feed-forward part.

    >>> pretrained_weights(vocabulary=100_000, layers=12, width=768) / 1e6
    161.734656
    """
    return vocabulary * width + 12 * layers * width**2


def folder_weights(folder: Path) -> int:
    """The weights in a folder's safetensors; 0 where there are none."""
    return sum(_file_weights(file, file.stat().st_mtime_ns) for file in folder.glob("*.safetensors"))


@lru_cache(maxsize=64)
def _file_weights(file: Path, changed: int) -> int:
    """By the header, which has the shape of every tensor; a damaged file, which is told elsewhere, counts nothing."""
    try:
        with file.open("rb") as stream:
            size = int.from_bytes(stream.read(8), "little")
            header = json.loads(stream.read(min(size, LONGEST_HEADER)))
        return sum(math.prod(tensor["shape"]) for name, tensor in header.items() if name != "__metadata__")
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return 0
