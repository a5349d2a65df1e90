"""Batches of language modelling: sequences sampled, masked and labelled on the device.

A batch is a pure function of the seed and the step number. Every worker samples the same batch and reads its rows, so
the number of workers does not change the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from isogloss.core.seeds import derive_seed
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.batching import IntArray
from isogloss.training.language_modeling.language_sampling import sequence_order
from isogloss.training.language_modeling.losses import next_tokens
from isogloss.training.language_modeling.masking import IGNORED_LABEL, MaskingRules, mask_sequences, masking_rules
from isogloss.training.language_modeling.packing import Sequences, separator
from isogloss.training.language_modeling.settings import LanguageModelSettings

MAX_GPU_MEMORY_SHARE = 0.25  # of the free memory, for the text
PADDED_LENGTH_MULTIPLE = 32  # tokens; keeps the number of compiled shapes small


@dataclass(frozen=True)
class LanguageModelBatch:
    """Sequences of a step with their labels; `positions` for masked language modelling only."""

    ids: Tensor
    labels: Tensor
    positions: Tensor | None
    attention: Tensor | None
    terms: Tensor  # number of predicted tokens in the whole step
    tokens: int  # number of tokens in the whole step, without padding

    def rows(self, which: slice) -> LanguageModelBatch:
        positions, attention = (x if x is None else x[which] for x in (self.positions, self.attention))
        return replace(self, ids=self.ids[which], labels=self.labels[which], positions=positions, attention=attention)


class BatchSampler:
    """The steps of one training over packed sequences."""

    def __init__(
        self,
        model: LoadedModel,
        sequences: Sequences,
        settings: LanguageModelSettings,
        seed: int,
        slots: Sequence[int] | None = None,
    ):
        self.sequences, self.settings, self.seed, self.device = sequences, settings, seed, model.device
        sizes = list(sequences.languages.values())
        self.order = sequence_order(sizes, alpha=settings.alpha, batch=settings.batch, seed=derive_seed(seed, "text"))
        if slots is not None:
            self.order = replace(self.order, slots=slots)
        self.rules: MaskingRules | None = None
        if not settings.causal:
            self.rules = masking_rules(model, settings.masking, settings.mask_share)
        self.separator = torch.tensor(separator(model), device=self.device)
        self.generator = torch.Generator(self.device)
        self.ids = _to_device_if_it_fits(sequences.ids, self.device)
        self.starts = None if sequences.starts is None else _to_device_if_it_fits(sequences.starts, self.device)

    def at(self, step: int) -> LanguageModelBatch:
        """The batch of a step."""
        chosen = self.order.at(step)
        ids = _select_rows(self.ids, chosen, self.device).long()
        present, tokens = None, ids.numel()
        if self.sequences.lengths is not None:
            ids, present, tokens = self._trimmed(ids, self.sequences.lengths[chosen])
        attention = self._within_lines(ids) if self.settings.confine else present
        if self.rules is None:
            labels = next_tokens(ids, present)
            return LanguageModelBatch(ids, labels, None, attention, (labels != IGNORED_LABEL).sum(), tokens)
        self.generator.manual_seed(derive_seed(self.seed, "masks", step))
        starts = None if self.starts is None else _select_rows(self.starts, chosen, self.device)[:, : ids.shape[1]]
        masked = mask_sequences(ids, self.rules, self.generator, starts)
        terms = (masked.labels != IGNORED_LABEL).sum().clamp(min=1)
        return LanguageModelBatch(masked.ids, masked.labels, masked.positions, attention, terms, tokens)

    def _trimmed(self, ids: Tensor, lengths: IntArray) -> tuple[Tensor, Tensor, int]:
        """The ids without padding that all rows share, which tokens are present, and their number."""
        longest = min(ids.shape[1], -(-int(lengths.max()) // PADDED_LENGTH_MULTIPLE) * PADDED_LENGTH_MULTIPLE)
        present = np.arange(longest) < lengths[:, None]
        return ids[:, :longest], torch.from_numpy(present).to(self.device, non_blocking=True), int(lengths.sum())

    def _within_lines(self, ids: Tensor) -> Tensor:
        """Attention mask between the tokens of one line, including its separator."""
        ends = torch.isin(ids, self.separator)
        line = ends.cumsum(1) - ends.long()
        seen = line[:, None, :, None] == line[:, None, None, :]
        return seen.tril() if self.settings.causal else seen


def _to_device_if_it_fits(array: np.ndarray, device: torch.device) -> Tensor:
    """The array as a tensor, on the GPU if it takes a small share of the free memory, otherwise on the CPU."""
    fits = device.type == "cuda" and array.nbytes < MAX_GPU_MEMORY_SHARE * torch.cuda.mem_get_info(device)[0]
    return torch.from_numpy(array).to(device if fits else "cpu")


def _select_rows(table: Tensor, rows: IntArray, device: torch.device) -> Tensor:
    index = torch.from_numpy(rows)
    if table.device.type == "cpu":
        return table[index].to(device, non_blocking=True)
    return table[index.to(device, non_blocking=True)]
