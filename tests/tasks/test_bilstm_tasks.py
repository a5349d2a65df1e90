"""The baseline through the same door as any model: it learns, is saved, comes back and predicts the same."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from isogloss.cli.main import app
from isogloss.core.errors import UsageError
from isogloss.corpora.corpus import AnyCorpus
from isogloss.corpora.lab.laboratory import Laboratory
from isogloss.models.bilstm.baseline import bilstm
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.encoding import padding_id
from isogloss.tasks import TASKS
from isogloss.tasks.bilstm import UNKNOWN_CHARACTER_ID, WORD_START_ID, bilstm_task, task_for_model, vocabulary
from isogloss.tasks.examples import IGNORE_INDEX, collate
from isogloss.tasks.task import Task
from isogloss.training.engine.settings import settings_for
from isogloss.training.finetuning.evaluation import evaluate
from isogloss.training.finetuning.finetune import FineTuned, count_loss_terms, finetune
from isogloss.training.finetuning.finetuned_files import load_finetuned, save_finetuned
from isogloss.training.finetuning.transfer import transfer

NAMES = ["pos", "parse", "ner"]
LABORATORY = Laboratory(seed=0)
SMALL = {"units": 48, "layers": 1, "word_units": 32, "character_units": 32, "dropout": 0.0, "forget": 0.0}


@cache
def corpus(kind: str, n: int = 30) -> AnyCorpus:
    made: AnyCorpus = getattr(LABORATORY, kind)("qla", "train", n)
    return made


@cache
def small() -> LoadedModel:
    return bilstm(device="cpu", **SMALL)


@cache
def learnt(name: str, seed: int = 0) -> FineTuned:
    task, model = bilstm_task(TASKS[name]), small()
    data = corpus(task.corpus)
    rate, epochs = {"pos": (1.5e-2, 12), "parse": (1.5e-2, 16), "ner": (2e-2, 26)}[name]
    settings = settings_for(task.defaults, epochs=epochs, batch=4, learning_rate=rate)
    return finetune(model, task, data, data, settings, seed=seed)


def untrained(task: Task, data: AnyCorpus, model: LoadedModel | None = None) -> FineTuned:
    model, labels = model or small(), task.labels(data)
    torch.manual_seed(3)
    network = task.network(model, labels).eval()
    for parameter in network.parameters():
        if not parameter.any() and parameter.requires_grad:
            torch.nn.init.normal_(parameter, std=0.1)
    return FineTuned(task, model, labels, network)


def test_it_learns_most_of_twelve_trees() -> None:
    task, model, data = bilstm_task(TASKS["parse"]), small(), corpus("treebank", 12)
    settings = settings_for(task.defaults, epochs=20, batch=3, learning_rate=1.5e-2)
    tuned = finetune(model, task, data, data, settings)
    scores = evaluate(tuned.network, task, model, {"qla": data}, tuned.labels)["qla"].scores
    assert min(scores.values()) > 0.9, scores


@pytest.mark.parametrize("name", ["pos", pytest.param("parse", marks=pytest.mark.slow), "ner"])
def test_it_learns_thirty_sentences_by_heart(name: str) -> None:
    tuned = learnt(name)
    data = corpus(tuned.task.corpus)
    scores = evaluate(tuned.network, tuned.task, tuned.model, {"qla": data}, tuned.labels)["qla"].scores
    assert min(scores.values()) > 0.99, scores


@pytest.mark.parametrize("name", NAMES)
def test_padding_changes_nothing(name: str) -> None:
    task = bilstm_task(TASKS[name])
    tuned = untrained(task, corpus(task.corpus, 6))
    examples = task.encode(tuned.model, corpus(task.corpus, 6), tuned.labels)
    whole, alone = collate(examples, padding_id(tuned.model)), [collate([e], padding_id(tuned.model)) for e in examples]
    assert len({batch.input_ids.shape[1] for batch in alone}) > 1, "unlike lengths, or this shows nothing"
    predicted = [task.predict(tuned.network, batch, tuned.labels)[0] for batch in alone]
    assert predicted == task.predict(tuned.network, whole, tuned.labels)
    terms = torch.tensor([float(count_loss_terms(example)) for example in examples])
    losses = torch.stack([task.loss(tuned.network, batch) for batch in alone])
    expected = (losses * terms).sum() / terms.sum()
    torch.testing.assert_close(task.loss(tuned.network, whole), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", NAMES)
def test_it_comes_back_from_disk_and_predicts_the_same(name: str, tmp_path: Path) -> None:
    task = bilstm_task(TASKS[name])
    data = corpus(task.corpus, 6)
    (tmp_path / "v").write_text(f"{data[0].words[0]} 1 2\nsomething 3 4\n")
    tuned = untrained(task, data, bilstm(tmp_path / "v", device="cpu", **SMALL))
    save_finetuned(tuned, tmp_path / "model")
    again = load_finetuned(tmp_path / "model", device="cpu")
    assert dict(again.labels) == dict(tuned.labels)
    assert all(torch.equal(value, again.network.state_dict()[key]) for key, value in tuned.network.state_dict().items())
    expected = evaluate(tuned.network, tuned.task, tuned.model, {"qla": data}, tuned.labels)["qla"]
    assert evaluate(again.network, again.task, again.model, {"qla": data}, again.labels)["qla"] == expected


def test_the_same_seed_gives_the_same_bits() -> None:
    task, data = bilstm_task(TASKS["parse"]), corpus("treebank", 8)
    settings = settings_for(task.defaults, epochs=1, batch=4)
    model = bilstm(device="cpu", **{**SMALL, "dropout": 0.3, "forget": 0.3})
    states = [finetune(model, task, data, data, settings, seed=seed).network.state_dict() for seed in (1, 1, 2)]
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])
    assert not all(torch.equal(states[0][name], states[2][name]) for name in states[0])


def test_transfer_by_name_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isogloss.training.finetuning.transfer.bilstm", lambda: bilstm(device="cpu", **SMALL))
    data = corpus("treebank", 8)
    first, again = (
        transfer("bilstm", "pos", data, data, {"qla": data}, epochs=1, batch=4, out=tmp_path) for _ in range(2)
    )
    assert first.frame.equals(again.frame)
    assert set(first.frame["model"]) == {"bilstm"}
    assert len(list(tmp_path.glob("entries/finetuned/finetuned-pos-qla-seed0-*"))) == 1


def test_command_line_trains_and_predicts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def tiny(vectors: Path | None, device: str | None) -> LoadedModel:
        return bilstm(vectors, device="cpu", **SMALL)

    monkeypatch.setattr("isogloss.models.bilstm.baseline.bilstm", tiny)
    file = tmp_path / "qla-train.conllu"
    corpus("treebank", 8).write(file)
    (tmp_path / "v.vec").write_text("da 1 2\n")
    data = ["--task", "parse", "--train", file, "--dev", file, "--test", f"qla={file}", "--epochs", "1"]
    arguments = ["transfer", "bilstm", *data, "--vectors", tmp_path / "v.vec", "--out", tmp_path / "out"]
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    (folder,) = (tmp_path / "out" / "entries" / "finetuned").glob("finetuned-parse-*")
    result = CliRunner().invoke(app, ["predict", f"{folder}/model", str(file), "--out", str(tmp_path / "p.conllu")])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "p.conllu").read_text().count("\n") == file.read_text().count("\n")


@pytest.mark.parametrize(
    ("model", "option", "said"),
    [("bilstm", "--grid", "far too low for bilstm"), ("a/b", "--vectors=v", "--vectors is for the model bilstm")],
)
def test_options_that_make_no_sense_are_refused(model: str, option: str, said: str) -> None:
    files = ["--train", "a.conllu", "--dev", "b.conllu", "--test", "en=c.conllu"]
    result = CliRunner().invoke(app, ["transfer", model, "--task", "pos", *files, option])
    assert isinstance(result.exception, UsageError) and said in str(result.exception)


def test_only_three_tasks_and_only_over_the_baseline() -> None:
    with pytest.raises(UsageError, match="does pos, parse, ner; 'nli' needs a pretrained model"):
        task_for_model(small(), TASKS["nli"])
    assert task_for_model("bert-base-multilingual-cased", TASKS["pos"]) is TASKS["pos"]


def test_words_are_lower_cased_characters_are_not_and_both_occur_twice() -> None:
    assert vocabulary([["Aa", "aa"], ["Ab", "É"]]) == {"words": ("aa",), "characters": ("A", "a")}


def test_a_sentence_as_arrays() -> None:
    task, data = bilstm_task(TASKS["pos"]), corpus("treebank", 2)
    labels = {**task.labels(data), "words": ("da",), "characters": ("a", "d")}
    tree = data[0].with_nodes(form=["Da", "dx", *data[0].words[2:]])
    example = task.encode(small(), data.with_items([tree]), labels)[0]
    assert example.windows[0][:6].tolist() == [
        WORD_START_ID,
        UNKNOWN_CHARACTER_ID,
        3,
        WORD_START_ID,
        4,
        UNKNOWN_CHARACTER_ID,
    ]
    assert example.arrays["position"][:3].tolist() == [0, 3, 6]
    assert example.arrays["words"][:2].tolist() == [1, 0]
    assert example.arrays["vectors"].tolist() == [1] * len(tree.words)


def test_an_endless_word_and_an_unknown_tag_do_no_harm() -> None:
    task, data = bilstm_task(TASKS["pos"]), corpus("treebank", 3)
    tuned = untrained(task, data)
    longer = data[0].with_nodes(form=["x" * 100_000, *data[0].words[1:]], upos=["NEVER", *data[0].upos[1:]])
    (example,) = task.encode(tuned.model, data.with_items([longer]), tuned.labels)
    assert example.tokens < 500
    assert example.arrays["tags"][0] == IGNORE_INDEX
    batch = collate([example], padding_id(tuned.model))
    assert torch.isfinite(task.loss(tuned.network, batch))
    assert len(task.predict(tuned.network, batch, tuned.labels)[0]) == len(longer.words)


def test_a_treebank_without_tags_is_parsed_without_them() -> None:
    task = bilstm_task(TASKS["parse"])
    bare = corpus("treebank", 4).with_items(t.with_nodes(upos=["_"] * len(t.words)) for t in corpus("treebank", 4))
    assert "tags" in task.labels(corpus("treebank", 4))
    assert "tags" not in task.labels(bare)
    tuned = untrained(task, bare)
    batch = collate(task.encode(tuned.model, bare, tuned.labels), padding_id(tuned.model))
    assert torch.isfinite(task.loss(tuned.network, batch))


def test_a_note_cannot_name_another_class_of_ours(tmp_path: Path) -> None:
    save_finetuned(untrained(bilstm_task(TASKS["pos"]), corpus("treebank", 3)), tmp_path)
    note = json.loads((tmp_path / "isogloss.json").read_text())
    forbidden = {**note, "class": "isogloss.models.bilstm.networks:BilstmTagger"}
    (tmp_path / "isogloss.json").write_text(json.dumps(forbidden))
    with pytest.raises(UsageError, match="is not a class of the transformers package"):
        load_finetuned(tmp_path)
