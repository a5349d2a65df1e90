"""Treatments: the steps between a multilingual model and a fine-tuned system for one language.

A `Treatment` is a set of `Step`s. Each step declares its part of a study file: interventions, text changes, raw text,
training data and settings. A remedy (see `remedies/`) adds one step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

StudyDocument = dict[str, Any]  # a study file as parsed YAML
Options = Mapping[str, Any]  # options of one part of a study file


@dataclass(frozen=True)
class TrainingSizes:
    """Training options of the systems of a diagnosis; an empty mapping means the published defaults.

    Args:
        finetune: Settings for fine-tuning the multilingual and the monolingual model; they are not searched.
        bilstm: Settings for the BiLSTM baseline; they are not searched.
        start: Learning rate and epochs of fine-tuning from which the search begins, in place of the task's.
        adapt: Arguments of the intervention `adapt`.
        pretrain: Arguments of the intervention `pretrain` (the monolingual model).
        adapter: Arguments of the intervention `language_adapter`.
        vocabulary: Number of new sub-words for the remedy `vocabulary`.
    """

    finetune: Options = field(default_factory=dict)
    bilstm: Options = field(default_factory=dict)
    start: Options = field(default_factory=dict)
    adapt: Options = field(default_factory=dict)
    pretrain: Options = field(default_factory=dict)
    adapter: Options = field(default_factory=dict)
    vocabulary: int = 2000


MIN_STEPS_PER_EPOCH = 8


def fit_batch_sizes(sizes: TrainingSizes, sentences: int, finetune_batch: int, bilstm_batch: int) -> TrainingSizes:
    """Reduce default batch sizes so that an epoch has at least `MIN_STEPS_PER_EPOCH` steps.

    The published batch sizes are for thousands of sentences. Batch sizes set in `sizes` are not changed.

    >>> fit_batch_sizes(TrainingSizes(bilstm={"epochs": 9}), 30, finetune_batch=16, bilstm_batch=32).bilstm
    {'batch': 3, 'epochs': 9}
    >>> fit_batch_sizes(TrainingSizes(bilstm={"epochs": 9}), 1000, finetune_batch=16, bilstm_batch=32).bilstm
    {'epochs': 9}
    """
    largest = max(1, sentences // MIN_STEPS_PER_EPOCH)
    reduced = [{"batch": largest} if largest < default else {} for default in (finetune_batch, bilstm_batch)]
    return replace(sizes, finetune={**reduced[0], **sizes.finetune}, bilstm={**reduced[1], **sizes.bilstm})


@dataclass(frozen=True)
class DiagnosisInputs:
    """Model, language and corpora as references of a study file, and how systems are trained.

    `latin_text`: the raw text transliterated to Latin script. `code_switched`: labelled data of a source language with
    words replaced by their translations.
    """

    model: str
    lang: str
    task: str
    train: tuple[str, ...] = ()
    dev: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    latin_text: tuple[str, ...] = ()
    code_switched: tuple[str, ...] = ()
    sizes: TrainingSizes = field(default_factory=TrainingSizes)
    seeds: tuple[int, ...] = (0,)
    threads: int = 1


@dataclass(frozen=True)
class Step:
    """One step of a treatment and its part of the study file.

    Args:
        label: Its part of the system's name.
        position: Order of steps in the name and in the list of interventions.
        trains_language: Whether it is language-model training; a treatment has at most one such step.
        interventions: Entries of the model's `changes`, from `{"text": […], "lang": …}` and the training options.
        text_changes: Entries of the model's `text`.
        raw_text: Replacement for the raw text that later steps read.
        extra_train: Training data added to that of the language.
        settings: Fine-tuning settings.
    """

    label: str
    position: int
    trains_language: bool = False
    interventions: Callable[[Options, TrainingSizes], list[StudyDocument]] = lambda text, sizes: []
    text_changes: Callable[[DiagnosisInputs], list[StudyDocument]] = lambda inputs: []
    raw_text: Callable[[DiagnosisInputs], tuple[str, ...]] | None = None
    extra_train: Callable[[DiagnosisInputs], tuple[str, ...]] = lambda inputs: ()
    settings: Options = field(default_factory=dict, hash=False)


ADAPT = Step(
    label="adapted",
    position=3,
    trains_language=True,
    interventions=lambda text, sizes: [{"adapt": {**text, **sizes.adapt}}],
)


@dataclass(frozen=True)
class Treatment:
    """Steps in ascending `position`; no step means plain fine-tuning."""

    steps: tuple[Step, ...] = ()

    def with_step(self, step: Step) -> Treatment:
        """Add a step; language-model training replaces the one that is there."""
        others = [other for other in self.steps if other != step]
        if step.trains_language:
            others = [other for other in others if not other.trains_language]
        return Treatment(tuple(sorted([*others, step], key=lambda item: item.position)))

    def with_language_training(self) -> Treatment:
        """Add adaptation unless a step trains on raw text already."""
        return self if any(step.trains_language for step in self.steps) else self.with_step(ADAPT)

    @property
    def name(self) -> str:
        """
        >>> Treatment().name, Treatment().with_step(ADAPT).name
        ('fine-tuned', 'adapted')
        """
        return " + ".join(step.label for step in self.steps) or "fine-tuned"

    def model(self, inputs: DiagnosisInputs) -> StudyDocument:
        """The entry of the study file's `models`."""
        raw_text = next((step.raw_text(inputs) for step in reversed(self.steps) if step.raw_text), inputs.text)
        text = {"text": list(raw_text), "lang": inputs.lang}
        entry: StudyDocument = {
            "base": inputs.model,
            "changes": [change for step in self.steps for change in step.interventions(text, inputs.sizes)],
            "text": [change for step in self.steps for change in step.text_changes(inputs)],
        }
        return {name: value for name, value in entry.items() if value}
