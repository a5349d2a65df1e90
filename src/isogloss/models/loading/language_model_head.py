"""A model with its language-model head, which is read from its files if necessary."""

from __future__ import annotations

import os

import torch

from isogloss.core.errors import InputError, UsageError
from isogloss.models.loading.load import load_model
from isogloss.models.loading.loaded_model import LoadedModel, clone


def with_lm_head(model: LoadedModel | str | os.PathLike[str], device: str | None = None) -> LoadedModel:
    """A copy of the model with its language-model head, in fp32."""
    if not isinstance(model, LoadedModel):
        return _from_files(model, device)
    if model.network is not model.body:
        copied = clone(model)
        copied.network.float()
        return copied
    try:
        loaded = _from_files(model.name, str(model.device))
        loaded.body.load_state_dict(model.body.state_dict())  # the weights may have changed since loading
    except torch.OutOfMemoryError:  # not an error of the model
        raise
    except (InputError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise UsageError(
            f"'{model.name}' has no language-model head (use load_model(…, head='mlm' or 'clm')): {reason}"
        ) from None
    return loaded


def _from_files(name: str | os.PathLike[str], device: str | None) -> LoadedModel:
    bare = load_model(name, device="cpu")
    if bare.family.encoder_decoder:
        raise UsageError(f"'{name}' is an encoder-decoder model: it has neither a masked nor a causal objective")
    return load_model(name, head="clm" if bare.family.causal else "mlm", device=device)
