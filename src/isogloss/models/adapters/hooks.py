"""Adapters inside a text stack: extra modules, and hooks that pass the states through them.

The order is that of MAD-X: an invertible adapter after the embeddings; in every block the language adapter, then the
task adapter; the inverse of the invertible adapter before the output embeddings. With r the output of a sub-layer, x
the residual stream before it and N the following norm (pre-LN blocks have none),

    pfeiffer:  L = r + U₁ relu(D₁ N(x + r)),  T = r + U₂ relu(D₂ L),  the output is N(x + T)
    houlsby:   L = r + U₁ relu(D₁ r),         T = r + U₂ relu(D₂ L),  after attention, too

The task adapter reads the output of the language adapter, and the residual of both is r, as published. Hooks are
methods of modules inside the stack: the hooks of a deep copy use the adapters of the copy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, cast

from torch import Tensor, nn

from isogloss.core.errors import UsageError
from isogloss.models.adapters.modules import Mixture
from isogloss.models.families.family import AdapterSites
from isogloss.models.loading.loaded_model import LayerOutput, LoadedModel

Placement = Literal["pfeiffer", "houlsby"]
PLACEMENTS = ("pfeiffer", "houlsby")
LANGUAGE, TASK = "language", "task"  # in the order of computation
ROLES = (LANGUAGE, TASK)
STACK_NAME = "adapters"  # sub-module of the body


class SublayerAdapters(nn.Module):
    """The adapters after one sub-layer; without adapters the states do not change."""

    def __init__(self) -> None:
        super().__init__()
        self.language: nn.Module | None = None
        self.task: nn.Module | None = None
        self.residual: Tensor | None = None  # r, between two hooks of one forward pass

    def keep_residual(self, _module: nn.Module, _inputs: object, output: LayerOutput) -> None:
        if self.language is not None and self.task is not None:
            self.residual = output[0] if isinstance(output, tuple) else output

    def before_norm(self, norm: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        if self.language is None and self.task is None:
            return inputs
        # `forward`, because calling the norm would run this hook again
        return (inputs[0] + self._added(norm.forward(inputs[0])), *inputs[1:])

    def after_block(self, _module: nn.Module, _inputs: object, output: LayerOutput) -> LayerOutput:
        if self.language is None and self.task is None:
            return output
        if isinstance(output, tuple):
            return (output[0] + self._added(output[0]), *output[1:])
        return output + self._added(output)

    def after_sublayer(self, module: nn.Module, inputs: object, output: LayerOutput) -> LayerOutput:
        self.keep_residual(module, inputs, output)
        return self.after_block(module, inputs, output)

    def _added(self, states: Tensor) -> Tensor:
        """The term that is added to r."""
        residual, self.residual = self.residual, None
        added: Tensor = states
        if self.language is not None:
            added = self.language(states)
            if self.task is not None:
                assert residual is not None
                states = residual + added
        if self.task is not None:
            added = self.task(states)
        return added


class EmbeddingAdapter(nn.Module):
    """The invertible adapter between the embeddings and the first block; its inverse before the output embeddings."""

    def __init__(self) -> None:
        super().__init__()
        self.language: nn.Module | None = None

    def before_blocks(
        self, _module: nn.Module, inputs: tuple[Tensor, ...], named: dict[str, Tensor]
    ) -> tuple[tuple[Tensor, ...], dict[str, Tensor]]:
        if self.language is None:
            return inputs, named
        if inputs:
            return (self.language(inputs[0]), *inputs[1:]), named
        return inputs, {**named, "hidden_states": self.language(named["hidden_states"])}

    def before_output(self, _module: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        if self.language is None:
            return inputs
        undone: Tensor = self.language.inverse(inputs[0])  # type: ignore[operator]
        return (undone, *inputs[1:])


class AdapterStack(nn.Module):
    """All adapters of a model: the embedding adapter (`gate`) and the sub-layers of its blocks (`sites`)."""

    def __init__(self, placement: Placement, sites: int):
        super().__init__()
        self.placement = placement
        self.gate = EmbeddingAdapter()
        self.sites = nn.ModuleList(SublayerAdapters() for _ in range(sites))

    def set_role(self, role: str, sites: list[Mixture], gate: Mixture | None = None) -> None:
        """Replace the adapters of a role."""
        self.remove(role)
        for site, mixture in zip(self.sites, sites, strict=True):
            setattr(site, role, mixture)
        if role == LANGUAGE:
            self.gate.language = gate

    def remove(self, role: str) -> None:
        for part in [*self.sites, *([self.gate] if role == LANGUAGE else [])]:
            setattr(part, role, None)

    def parts(self, role: str) -> list[Mixture]:
        """The mixtures of a role: of the embedding adapter if there is one, then of every sub-layer."""
        candidates = [getattr(self.gate, role, None), *(getattr(site, role) for site in self.sites)]
        return [part for part in candidates if part is not None]

    def mixtures(self) -> Iterator[Mixture]:
        """Mixtures of more than one member."""
        return (part for role in ROLES for part in self.parts(role) if len(part.members) > 1)


def stack_of(body: nn.Module) -> AdapterStack | None:
    """The adapters of a text stack, or None."""
    stack = getattr(body, STACK_NAME, None)
    return stack if isinstance(stack, AdapterStack) else None


def get_or_add_stack(model: LoadedModel, placement: Placement) -> AdapterStack:
    """The adapters of the model; an empty stack is added if there is none."""
    stack = stack_of(model.body)
    if stack is None:
        stack = _add_stack(model, placement)
        model.body.add_module(STACK_NAME, stack)
    if stack.placement != placement:
        raise UsageError(
            f"adapters: the model has adapters with placement='{stack.placement}', got placement='{placement}'"
        )
    return stack


def adapter_sites(model: LoadedModel) -> AdapterSites:
    """Where the blocks of a model take adapters."""
    if model.family.adapters is None:
        raise UsageError(
            f"adapters: the family '{model.body.config.model_type}' is not listed in models/families: "
            "the modules at the end of its attention and feed-forward are unknown; lora() needs such an entry too"
        )
    return model.family.adapters


def _add_stack(model: LoadedModel, placement: Placement) -> AdapterStack:
    sites, blocks = adapter_sites(model), model.blocks
    stack = AdapterStack(placement, len(blocks) * (2 if placement == "houlsby" else 1))
    sublayers = cast(Iterator[SublayerAdapters], iter(stack.sites))
    for block in blocks:
        feed_forward = block.get_submodule(sites.feed_forward)
        if placement == "houlsby":
            block.get_submodule(sites.attention).register_forward_hook(next(sublayers).after_sublayer)
            feed_forward.register_forward_hook(next(sublayers).after_sublayer)
            continue
        site = next(sublayers)
        feed_forward.register_forward_hook(site.keep_residual)
        if sites.norm is None:
            block.register_forward_hook(site.after_block)
        else:
            block.get_submodule(sites.norm).register_forward_pre_hook(site.before_norm)
    blocks[0].register_forward_pre_hook(stack.gate.before_blocks, with_kwargs=True)
    if model.network is not model.body:
        model.network.get_output_embeddings().register_forward_pre_hook(stack.gate.before_output)
    return stack
