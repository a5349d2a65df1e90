"""Adapters inside a text stack: modules of their own beside the model's, and hooks that let the states pass through.

The order is that of MAD-X: an invertible adapter after the embeddings; in every block the language's adapter, then the
task's; the invertible adapter's inverse before the output embeddings. With r a sub-layer's output, x the residual
stream before it and N the norm behind (pre-LN blocks have none there),

    pfeiffer:  L = r + U₁ relu(D₁ N(x + r)),  T = r + U₂ relu(D₂ L),  and the block goes on with N(x + T)
    houlsby:   L = r + U₁ relu(D₁ r),         T = r + U₂ relu(D₂ L),  after attention too

so that a task's adapter reads what the language's made, while the residual of both is r, as published. Hooks are
methods of modules within the stack: a deep copy of the model has hooks that lead to its own adapters.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from torch import Tensor, nn

from isogloss.core.errors import UsageError
from isogloss.models.adapters.modules import Mixture
from isogloss.models.families.family import AdapterSites
from isogloss.models.loading.loaded_model import LoadedModel

Placement = Literal["pfeiffer", "houlsby"]
PLACEMENTS = ("pfeiffer", "houlsby")
LANGUAGE, TASK = "language", "task"  # from below to above
ROLES = (LANGUAGE, TASK)
NAME = "adapters"  # of the stack, as a sub-module of the body


class Site(nn.Module):
    """The adapters after one sub-layer; without any, states pass unchanged."""

    def __init__(self) -> None:
        super().__init__()
        self.language: nn.Module | None = None
        self.task: nn.Module | None = None
        self.residual: Tensor | None = None  # r, between two hooks of one forward pass

    def keep_residual(self, _module: nn.Module, _inputs: Any, output: Any) -> None:
        if self.language is not None and self.task is not None:
            self.residual = _states(output)

    def before_norm(self, norm: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        if self.language is None and self.task is None:
            return inputs
        # `forward` itself: calling the norm would lead back here
        return (inputs[0] + self._added(norm.forward(inputs[0])), *inputs[1:])

    def after_block(self, _module: nn.Module, _inputs: Any, output: Any) -> Any:
        return self._changed(output)

    def after_sublayer(self, module: nn.Module, inputs: Any, output: Any) -> Any:
        self.keep_residual(module, inputs, output)
        return self._changed(output)

    def _changed(self, output: Any) -> Any:
        if self.language is None and self.task is None:
            return output
        states = _states(output)
        changed = states + self._added(states)
        return (changed, *output[1:]) if isinstance(output, tuple) else changed

    def _added(self, states: Tensor) -> Tensor:
        """What is added to r in the end."""
        residual, self.residual = self.residual, None
        added: Tensor
        if self.language is not None:
            added = self.language(states)
            if self.task is None:
                return added
            assert residual is not None
            states = residual + added
        assert self.task is not None
        added = self.task(states)
        return added


class Gate(nn.Module):
    """The invertible adapter between the embeddings and the first block, and back before the output embeddings."""

    def __init__(self) -> None:
        super().__init__()
        self.language: nn.Module | None = None

    def before_blocks(self, _module: nn.Module, inputs: Any, named: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
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


class Stack(nn.Module):
    """All adapters of a model: a gate, and the sites of its blocks from below to above."""

    def __init__(self, placement: Placement, sites: int):
        super().__init__()
        self.placement = placement
        self.gate = Gate()
        self.sites = nn.ModuleList(Site() for _ in range(sites))

    def put(self, role: str, sites: list[Mixture], gate: Mixture | None = None) -> None:
        """Set the adapters of a role in place of those that are there."""
        self.remove(role)
        for site, mixture in zip(self.sites, sites, strict=True):
            setattr(site, role, mixture)
        if role == LANGUAGE:
            self.gate.language = gate

    def remove(self, role: str) -> None:
        for part in [*self.sites, *([self.gate] if role == LANGUAGE else [])]:
            setattr(part, role, None)

    def parts(self, role: str) -> list[Mixture]:
        """The mixtures of a role: of the gate, if it has one, then of every site."""
        found = [getattr(self.gate, role, None), *(getattr(site, role) for site in self.sites)]
        return [part for part in found if part is not None]

    def mixtures(self) -> Iterator[Mixture]:
        """Those of more than one member."""
        return (part for role in ROLES for part in self.parts(role) if len(part.members) > 1)


def stack_of(body: nn.Module) -> Stack | None:
    """The adapters of a text stack, if it has any."""
    found = getattr(body, NAME, None)
    return found if isinstance(found, Stack) else None


def attach(model: LoadedModel, placement: Placement) -> Stack:
    """The model's stack; an empty one is put in where there is none."""
    stack = stack_of(model.body)
    if stack is None:
        stack = _hooked(model, placement)
        model.body.add_module(NAME, stack)
    if stack.placement != placement:
        raise UsageError(f"adapters: those in the model are placed as '{stack.placement}', these as '{placement}'")
    return stack


def adapter_sites(model: LoadedModel) -> AdapterSites:
    """Where the blocks of a model take adapters."""
    if model.family.adapters is None:
        raise UsageError(
            f"adapters: the family '{model.body.config.model_type}' is not in models/families/table.py: "
            "the modules at the end of its attention and feed-forward are unknown; lora() needs such an entry too"
        )
    return model.family.adapters


def _hooked(model: LoadedModel, placement: Placement) -> Stack:
    places, blocks = adapter_sites(model), model.blocks
    stack = Stack(placement, len(blocks) * (2 if placement == "houlsby" else 1))
    sites: Iterator[Any] = iter(stack.sites)
    for block in blocks:
        after = block.get_submodule(places.feed_forward)
        if placement == "houlsby":
            block.get_submodule(places.attention).register_forward_hook(next(sites).after_sublayer)
            after.register_forward_hook(next(sites).after_sublayer)
            continue
        site = next(sites)
        after.register_forward_hook(site.keep_residual)
        if places.norm is None:
            block.register_forward_hook(site.after_block)
        else:
            block.get_submodule(places.norm).register_forward_pre_hook(site.before_norm)
    blocks[0].register_forward_pre_hook(stack.gate.before_blocks, with_kwargs=True)
    network: Any = model.network
    if network is not model.body:
        network.get_output_embeddings().register_forward_pre_hook(stack.gate.before_output)
    return stack


def _states(output: Any) -> Tensor:
    states: Tensor = output[0] if isinstance(output, tuple) else output
    return states
