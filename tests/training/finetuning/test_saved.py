from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from tiny_models import build
from toy import treebank

from isogloss.core.errors import InputError, UnknownName, UsageError
from isogloss.models.loading.load import load_model
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.tasks import TASKS
from isogloss.training.finetuning.evaluation import evaluate
from isogloss.training.finetuning.finetune import FineTuned
from isogloss.training.finetuning.finetuned_files import load_finetuned, save_finetuned

BANK = treebank(12)


def untrained(model: LoadedModel, task: str = "pos") -> FineTuned:
    torch.manual_seed(2)
    labels = TASKS[task].labels(BANK)
    return FineTuned(TASKS[task], model, labels, TASKS[task].network(model, labels).eval())


def test_plain_transformers_loads_it(bert: LoadedModel, tmp_path: Path) -> None:
    tuned = untrained(bert)
    save_finetuned(tuned, tmp_path / "model")
    network = transformers.AutoModelForTokenClassification.from_pretrained(tmp_path / "model")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "model")
    inputs = tokenizer("The cat sat", return_tensors="pt", return_token_type_ids=False)
    assert torch.equal(network(**inputs).logits, tuned.network(**inputs).logits)
    assert list(network.config.id2label.values()) == list(tuned.labels["tags"])


@pytest.mark.parametrize("task", ["pos", "parse"])
@pytest.mark.parametrize("family", ["bert", "xlm-roberta", "xglm", "mt5", "llama", "bart", "isogloss"])
def test_it_comes_back_and_predicts_the_same(tmp_path: Path, family: str, task: str) -> None:
    """XGLM, mT5 and BART have no class for tags here, and no family has one for parsers; "isogloss" is a NormFormer."""
    tuned = untrained(load_model(build(family, tmp_path / "base"), device="cpu"), task)
    save_finetuned(tuned, tmp_path / "model")
    again = load_finetuned(tmp_path / "model", device="cpu")
    assert (again.task, dict(again.labels)) == (tuned.task, dict(tuned.labels))
    assert not again.network.training
    for name, value in tuned.network.state_dict().items():
        assert torch.equal(value, again.network.state_dict()[name]), name
    for one in (tuned, again):
        one.network.eval()
    expected = evaluate(tuned.network, tuned.task, tuned.model, {"en": BANK}, tuned.labels)
    assert evaluate(again.network, again.task, again.model, {"en": BANK}, again.labels) == expected


def test_saving_replaces_what_was_there(bert: LoadedModel, tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "old").touch()
    (tmp_path / ".model.part").mkdir()
    save_finetuned(untrained(bert), tmp_path / "model")
    assert not (tmp_path / "model" / "old").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"class": "os:system"}, UsageError, "not a class of the transformers package"),
        ({"class": "isogloss.models.normformer.network:nn"}, UsageError, "not a class of the transformers package"),
        ({"class": "transformers.models.bert.modeling_bert:torch"}, InputError, "no transformers.models"),
        ({"class": "transformers.models.bert.modeling_bert:Nothing"}, InputError, "no transformers.models"),
        ({"task": "pso"}, UnknownName, "did you mean 'pos'"),
    ],
)
def test_a_wrong_note_is_an_error(
    bert: LoadedModel, tmp_path: Path, change: dict[str, str], error: type[Exception], said: str
) -> None:
    save_finetuned(untrained(bert), tmp_path)
    note = json.loads((tmp_path / "isogloss.json").read_text())
    (tmp_path / "isogloss.json").write_text(json.dumps({**note, **change}))
    with pytest.raises(error, match=said):
        load_finetuned(tmp_path)


@pytest.mark.parametrize("note", [None, "{", "[]", '{"task": "pos"}'])
def test_no_note_is_an_error(tmp_path: Path, note: str | None) -> None:
    if note is not None:
        (tmp_path / "isogloss.json").write_text(note)
    with pytest.raises(InputError, match=r"isogloss\.json"):
        load_finetuned(tmp_path)


@pytest.mark.parametrize(("task", "file"), [("pos", "model.safetensors"), ("parse", "head.safetensors")])
@pytest.mark.parametrize("left", [None, 0, 100])
def test_damaged_weights_are_an_error(
    bert: LoadedModel, tmp_path: Path, task: str, file: str, left: int | None
) -> None:
    save_finetuned(untrained(bert, task), tmp_path)
    data = (tmp_path / file).read_bytes()
    (tmp_path / file).unlink()
    if left is not None:
        (tmp_path / file).write_bytes(data[:left])
    with pytest.raises(InputError, match=r"expected a loadable network|expected the weights of a head"):
        load_finetuned(tmp_path, device="cpu")


def test_missing_weights_are_an_error(bert: LoadedModel, tmp_path: Path) -> None:
    """The model library would make them up."""
    save_finetuned(untrained(bert), tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    del weights["classifier.weight"]
    save_file(weights, tmp_path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match=r"none for classifier\.weight"):
        load_finetuned(tmp_path, device="cpu")
