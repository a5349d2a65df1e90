"""What is done on the way from a multilingual model to one that does a task in a language, and its study file.

`Steps` are flags, so that a remedy is one more of them. `Material` is what there is to work with, as references.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from isogloss.diagnosis.difficulty import ADAPTED, BILSTM, FINETUNED, MONOLINGUAL
from isogloss.studies.schema.study import BILSTM as BILSTM_MODEL

STEPS = 8  # of an epoch, at least
NOISE = {"character_noise": 0.1, "subword_dropout": 0.1}  # as Aepli & Sennrich 2022, in every epoch anew


@dataclass(frozen=True)
class Sizes:
    """How the parts of a diagnosis are trained; what is empty is the published recipe of each.

    `finetune` are settings of fine-tuning the multilingual and the monolingual model, `bilstm` of the BiLSTM; `adapt`,
    `pretrain` and `adapter` are arguments of the model changes of those names; `vocabulary`: new sub-words.
    """

    finetune: Mapping[str, Any] = field(default_factory=dict)
    bilstm: Mapping[str, Any] = field(default_factory=dict)
    adapt: Mapping[str, Any] = field(default_factory=dict)
    pretrain: Mapping[str, Any] = field(default_factory=dict)
    adapter: Mapping[str, Any] = field(default_factory=dict)
    vocabulary: int = 2000


def in_small_batches(sizes: Sizes, sentences: int, finetune: int, bilstm: int) -> Sizes:
    """Batches so small that few sentences make `STEPS` steps an epoch, unless others are asked for: with the recipes'
    own, for thousands of sentences, training would be over before anything is learnt, the BiLSTM's above all.

    >>> in_small_batches(Sizes(bilstm={"epochs": 9}), 30, finetune=16, bilstm=32).bilstm
    {'batch': 3, 'epochs': 9}
    >>> in_small_batches(Sizes(bilstm={"epochs": 9}), 1000, finetune=16, bilstm=32).bilstm
    {'epochs': 9}
    """
    most = max(1, sentences // STEPS)
    small = [{"batch": most} if most < usual else {} for usual in (finetune, bilstm)]
    return replace(sizes, finetune={**small[0], **sizes.finetune}, bilstm={**small[1], **sizes.bilstm})


@dataclass(frozen=True)
class Material:
    """Model, language and corpora, all as a study file names them. `latin`: the raw text transliterated; `switched`:
    labelled data of a source with words of the language put in."""

    model: str
    lang: str
    task: str
    train: tuple[str, ...] = ()
    dev: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    latin: tuple[str, ...] = ()
    switched: tuple[str, ...] = ()


@dataclass(frozen=True)
class Steps:
    """`training`: nothing, masked-LM training of the whole model (adapt), or of a language adapter alone."""

    latin: bool = False
    vocabulary: bool = False
    training: Literal["", "adapt", "adapter"] = ""
    noise: bool = False
    switched: bool = False

    @property
    def name(self) -> str:
        """
        >>> Steps().name, Steps(training="adapt").name, Steps(latin=True, training="adapt").name
        ('fine-tuned', 'adapted', 'transliterated + adapted')
        """
        told = {
            "transliterated": self.latin,
            "new sub-words": self.vocabulary,
            ADAPTED: self.training == "adapt",
            "adapters": self.training == "adapter",
            "noise": self.noise,
            "code-switching": self.switched,
        }
        return " + ".join(name for name, done in told.items() if done) or FINETUNED

    def model(self, material: Material, sizes: Sizes) -> dict[str, Any]:
        """The model of a study file."""
        text = {"text": list(material.latin if self.latin else material.text), "lang": material.lang}
        changes: list[dict[str, Any]] = []
        if self.vocabulary:
            changes.append({"extend_vocabulary": {**text, "size": sizes.vocabulary}})
        if self.training == "adapt":
            changes.append({"adapt": {**text, **sizes.adapt}})
        if self.training == "adapter":
            changes += [{"language_adapter": {**text, **sizes.adapter}}, {"task_adapter": {}}]
        text_changes = [{"transliterate": {"langs": [material.lang]}}] if self.latin else []
        told = {"base": material.model, "changes": changes, "text": text_changes}
        return {name: one for name, one in told.items() if one}


def comparison(material: Material, sizes: Sizes, seeds: Sequence[int], threads: int) -> dict[str, Any]:
    """The study of the slides: the model fine-tuned as it is and after adaptation, and both baselines."""
    models: dict[str, Any] = {FINETUNED: Steps().model(material, sizes)}
    if material.text:
        models[ADAPTED] = Steps(training="adapt").model(material, sizes)
        models[MONOLINGUAL] = {"pretrain": {"texts": {material.lang: list(material.text)}, **sizes.pretrain}}
    models[BILSTM] = BILSTM_MODEL
    settings = {name: dict(sizes.bilstm if name == BILSTM else sizes.finetune) for name in models}
    study = _study(material, "comparison", list(material.train), seeds, threads)
    return {**study, "models": models, "settings": {name: one for name, one in settings.items() if one}}


def treatment(steps: Steps, material: Material, sizes: Sizes, seeds: Sequence[int], threads: int) -> dict[str, Any]:
    """The study of one system."""
    train = [*material.train, *(material.switched if steps.switched else ())]
    settings = {**sizes.finetune, **(NOISE if steps.noise else {})}
    study = _study(material, steps.name, train, seeds, threads)
    return {**study, "models": {steps.name: steps.model(material, sizes)}, "settings": settings}


def _study(material: Material, name: str, train: list[str], seeds: Sequence[int], threads: int) -> dict[str, Any]:
    slug = re.sub(r"[^\w.]+", "-", f"{material.lang}-{material.task}-{name}")
    return {
        "name": slug,
        "description": f"{material.task} in {material.lang}: {name}",
        "tasks": [material.task],
        "sources": {material.lang: {"train": train, "dev": list(material.dev)}},
        "targets": {material.lang: list(material.test)},
        "seeds": list(seeds),
        "threads": threads,
    }
