"""LoRA (Hu et al. 2022) through the package `peft`: low-rank matrices beside the linear layers of attention.

The package wraps each layer in a module of its own, which would rename the model's weights; here they keep their names
wherever weights are saved or loaded, so that plain `transformers` still finds the model in the files.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import nn

from isogloss.core.errors import MissingExtra, UsageError
from isogloss.core.seeds import derive_seed
from isogloss.models.adapters.weights import LORA, describe_adapters, description, lora_weights, train_only
from isogloss.models.loading.loaded_model import LoadedModel

WRAPPED = ".base_layer."  # how the package names what it wraps


@dataclass(frozen=True)
class Lora:
    """What `lora` makes: called with a model, it changes that model and returns it."""

    rank: int
    alpha: float
    dropout: float

    def __call__(self, model: LoadedModel, *, seed: int) -> LoadedModel:
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(derive_seed(seed, "adapter", LORA))
            inject_lora(model, asdict(self))
        return train_only(model, LORA)

    def __repr__(self) -> str:
        return f"lora(rank={self.rank}, alpha={self.alpha}, dropout={self.dropout})"


def lora(rank: int = 8, *, alpha: float = 16, dropout: float = 0.0) -> Lora:
    """New low-rank matrices, the identity at first, beside every linear layer of attention; the model is frozen.

    >>> lora(4)
    lora(rank=4, alpha=16, dropout=0.0)
    """
    if not isinstance(rank, int) or rank < 1 or not 0 <= dropout < 1:
        raise UsageError(f"lora: expected a rank above 0 and a dropout in [0, 1), got {rank!r} and {dropout!r}")
    return Lora(rank, alpha, dropout)


def inject_lora(model: LoadedModel, options: dict[str, Any]) -> None:
    """Wrap the layers of attention; where they are wrapped already, nothing is left to do but to check the sizes."""
    if lora_weights(model.body):
        if (told := description(model.body)[LORA]) != options:
            raise UsageError(f"the model has low-rank matrices already, with {told}; load it anew")
        return
    try:
        from peft import LoraConfig, inject_adapter_in_model
    except ImportError:
        raise MissingExtra("peft", "adapters") from None
    matrices = LoraConfig(
        r=options["rank"], lora_alpha=options["alpha"], lora_dropout=options["dropout"], target_modules=layers(model)
    )
    device = model.device
    with torch.random.fork_rng(devices=[]):
        inject_adapter_in_model(matrices, model.body)  # type: ignore[arg-type]
    nn.Module.to(model.body, device)
    model.body.train(model.network.training)
    hooked: Any = model.body
    hooked.register_state_dict_post_hook(_plain_names)
    hooked.register_load_state_dict_pre_hook(_wrapped_names)
    describe_adapters(model, LORA, options)


def layers(model: LoadedModel) -> list[str]:
    """The names of the linear layers of attention in every block."""
    if not model.family.attention:
        model_type = model.body.config.model_type
        raise UsageError(
            f"lora: the family '{model_type}' is not in models/families/table.py: its attention is unknown"
        )
    prefixes = [
        f"{model.family.blocks}.{number}.{part}" for number in range(model.layers) for part in model.family.attention
    ]
    names = [name for name, module in model.body.named_modules() if isinstance(module, nn.Linear)]
    return [name for name in names if any(name == prefix or name.startswith(prefix + ".") for prefix in prefixes)]


def _plain_names(_module: nn.Module, state: dict[str, Any], prefix: str, _metadata: Any) -> None:
    for name in [name for name in state if name.startswith(prefix) and WRAPPED in name]:
        state[name.replace(WRAPPED, ".")] = state.pop(name)


def _wrapped_names(module: nn.Module, state: dict[str, Any], prefix: str, *_: Any) -> None:
    for wrapped in [name for name, _ in module.named_parameters() if WRAPPED in name]:
        plain = prefix + wrapped.replace(WRAPPED, ".")
        if plain in state:
            state[prefix + wrapped] = state.pop(plain)
