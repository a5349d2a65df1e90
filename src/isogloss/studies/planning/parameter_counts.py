"""The number of parameters of a study's models without loading weights: from file headers, or from planned sizes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from isogloss.core.bundled import SHIPPED
from isogloss.studies.planning.stages import ModelSpec, ModelStage, Stage, StageOfModel
from isogloss.studies.schema.interventions.language_modeling import Pretrain
from isogloss.studies.schema.study import BILSTM

BILSTM_PARAMETERS = 15e6  # three highway layers of 2 × 400 units, and the output layers
MAX_HEADER_BYTES = 100_000_000  # the limit of the safetensors format
FP32_BYTES = 4


def network_bytes(stage: Stage, stages: Mapping[str, Stage]) -> float | None:
    """The size of the network that a stage stores in fp32: 0 where it stores none, None where it is unknown."""
    if not (stage.stores_network and isinstance(stage, StageOfModel)):
        return 0.0
    parameters = model_parameters(stage.model, stages)
    return None if parameters is None else FP32_BYTES * parameters


def model_parameters(model: ModelSpec, stages: Mapping[str, Stage]) -> float | None:
    """The parameters of a model, None where it is not on this machine; `stages` are those of the plan."""
    if model.stored:
        stage = stages[model.stored]
        assert isinstance(stage, ModelStage)
        return model_parameters(stage.model, stages)
    if model.base is None:
        arguments = model.interventions[0][1].arguments
        assert isinstance(arguments, Pretrain)
        return pretrained_parameters(arguments.vocabulary, arguments.layers, arguments.width)
    if model.base == BILSTM:
        return BILSTM_PARAMETERS
    return folder_parameters(SHIPPED.get(model.base, Path(model.base))) or None


def pretrained_parameters(vocabulary: int, layers: int, width: int) -> float:
    """Embeddings, and per block four square matrices for attention and eight for the feed-forward part.

    >>> pretrained_parameters(vocabulary=100_000, layers=12, width=768) / 1e6
    161.734656
    """
    return vocabulary * width + 12 * layers * width**2


def folder_parameters(folder: Path) -> int:
    """The parameters in a folder's safetensors files; 0 where there are none."""
    return sum(_file_parameters(file, file.stat().st_mtime_ns) for file in folder.glob("*.safetensors"))


@lru_cache(maxsize=64)
def _file_parameters(file: Path, modified: int) -> int:
    """From the header, which has the shape of every tensor; a damaged file, reported elsewhere, counts nothing."""
    try:
        with file.open("rb") as stream:
            size = int.from_bytes(stream.read(8), "little")
            header = json.loads(stream.read(min(size, MAX_HEADER_BYTES)))
        return sum(math.prod(tensor["shape"]) for name, tensor in header.items() if name != "__metadata__")
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return 0
