"""LoRA (Hu et al. 2022) with the package `peft`: low-rank matrices for the linear layers of attention.

`peft` wraps each layer in a module, which would rename the weights of the model. Here they keep their names when
weights are saved or loaded, so that plain transformers can load the files.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import torch
from torch import Tensor, nn

from isogloss.core.errors import UsageError
from isogloss.core.registry import import_extra
from isogloss.core.seeds import derive_seed
from isogloss.models.adapters.weights import LORA, adapter_description, describe_adapters, lora_weights, train_only
from isogloss.models.loading.loaded_model import LoadedModel

WRAPPED_LAYER = ".base_layer."  # the name of the wrapped layer in peft


@dataclass(frozen=True)
class Lora:
    """The intervention of `lora`: changes the model in place and returns it."""

    rank: int
    alpha: float
    dropout: float

    def __call__(self, model: LoadedModel, *, seed: int) -> LoadedModel:
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(derive_seed(seed, "adapter", LORA))
            inject_lora(model, self)
        return train_only(model, LORA)

    def __repr__(self) -> str:
        return f"lora(rank={self.rank}, alpha={self.alpha}, dropout={self.dropout})"


def lora(rank: int = 8, *, alpha: float = 16, dropout: float = 0.0) -> Lora:
    """An intervention that adds low-rank matrices to every linear layer of attention and freezes the model.

    Args:
        rank: The rank of the matrices.
        alpha: The scale of their product, divided by the rank.
        dropout: The dropout of their input.

    >>> lora(4)
    lora(rank=4, alpha=16, dropout=0.0)
    """
    if not isinstance(rank, int) or rank < 1 or not 0 <= dropout < 1:
        raise UsageError(f"lora: expected a rank above 0 and a dropout in [0, 1), got {rank!r} and {dropout!r}")
    return Lora(rank, alpha, dropout)


def inject_lora(model: LoadedModel, options: Lora) -> None:
    """Wrap the linear layers of attention; if they are wrapped already, only check the options."""
    if lora_weights(model.body):
        if (current := adapter_description(model.body)[LORA]) != asdict(options):
            raise UsageError(f"the model has low-rank matrices already, with {current}; load it again")
        return
    peft = import_extra("peft", "adapters")
    lora_config = peft.LoraConfig(
        r=options.rank,
        lora_alpha=options.alpha,  # type: ignore[arg-type]
        lora_dropout=options.dropout,
        target_modules=attention_layers(model),
    )
    device = model.device
    with torch.random.fork_rng(devices=[]):
        peft.inject_adapter_in_model(lora_config, model.body)  # type: ignore[arg-type]
    nn.Module.to(model.body, device)
    model.body.train(model.network.training)
    model.body.register_state_dict_post_hook(_plain_names)
    model.body.register_load_state_dict_pre_hook(_wrapped_names)
    describe_adapters(model, {LORA: asdict(options)})


def attention_layers(model: LoadedModel) -> list[str]:
    """The names of the linear layers of attention in every block."""
    if not model.family.attention:
        model_type = model.body.config.model_type
        raise UsageError(f"lora: the family '{model_type}' is not listed in models/families: its attention is unknown")
    prefixes = [
        f"{model.family.blocks}.{number}.{part}" for number in range(model.layers) for part in model.family.attention
    ]
    names = [name for name, module in model.body.named_modules() if isinstance(module, nn.Linear)]
    return [name for name in names if any(name == prefix or name.startswith(prefix + ".") for prefix in prefixes)]


def _plain_names(_module: nn.Module, state: dict[str, Tensor], prefix: str, _metadata: object) -> None:
    for name in [name for name in state if name.startswith(prefix) and WRAPPED_LAYER in name]:
        state[name.replace(WRAPPED_LAYER, ".")] = state.pop(name)


def _wrapped_names(module: nn.Module, state: dict[str, Tensor], prefix: str, *_: object) -> None:
    for wrapped in [name for name, _ in module.named_parameters() if WRAPPED_LAYER in name]:
        plain = prefix + wrapped.replace(WRAPPED_LAYER, ".")
        if plain in state:
            state[prefix + wrapped] = state.pop(plain)
