"""`isogloss transfer MODEL --task … --train … --dev … --test fr=… ru=…`: fine-tune on one language, test on others."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

from typer import Argument, Exit, Option

from isogloss.cli import adapters
from isogloss.cli.arguments import AllowPickle, CorpusFormat, Device, Repair, TrustRemoteCode, files_by_language
from isogloss.cli.screen import library_warnings, print_error, print_written, show_frame
from isogloss.cli.settings_options import with_settings
from isogloss.cli.training import CorpusFile, read_corpora_for, resumable, training_bar
from isogloss.core.errors import UsageError
from isogloss.core.settings import SettingValues
from isogloss.tasks.scoring import ScoringSettings, with_scorer
from isogloss.training.engine.settings import NoisyTrainingSettings

if TYPE_CHECKING:
    from isogloss.corpora.corpus import AnyCorpus
    from isogloss.results.rows.results import Results
    from isogloss.tasks.task import Task
    from isogloss.training.adjustment.replay import AlignmentReplay


@with_settings("scoring", ScoringSettings)
@with_settings("settings", NoisyTrainingSettings, default_of_required="published value of the task")
def transfer(
    *,
    model: Annotated[str, Argument(help="Model folder or Hugging Face name; bilstm: a baseline without pretraining.")],
    task: Annotated[str, Option(help="Task to fine-tune for (see `isogloss ls tasks`).")],
    train: Annotated[Path, Option(help="Training corpus in the source language.")],
    dev: Annotated[Path, Option(help="Development corpus in the source language; the best epoch is chosen on it.")],
    test: Annotated[
        list[str],
        Option(
            help="TARGET=FILE for every test set. Gaps are to the test set of the source language if it is among them, "
            "otherwise to its development set."
        ),
    ],
    source: Annotated[str | None, Option(help="Code of the source language; by default from the file names.")] = None,
    seeds: Annotated[str, Option(help="Number of seeds, or a list: 5 means 0,1,2,3,4; '3,' means seed 3.")] = "1",
    settings: SettingValues,
    scoring: SettingValues,
    vectors: Annotated[Path | None, Option(help="Word vectors for bilstm: lines of a word and its numbers.")] = None,
    reinit: Annotated[
        str | None, Option(help="Layers to re-initialise before fine-tuning: 1-2, 1,3,5-8, all or embeddings.")
    ] = None,
    adapter: adapters.LanguageAdapters = None,
    task_adapter: adapters.TaskAdapter = None,
    placement: adapters.Placement = "pfeiffer",
    lora: adapters.Lora = None,
    swap: adapters.Swap = None,
    weights: adapters.Weights = "uniform",
    continual: Annotated[
        list[Path] | None,
        Option(help="File of word-aligned sentence pairs that are replayed during fine-tuning; repeatable."),
    ] = None,
    continual_weight: Annotated[float, Option(help="Weight of the loss on the replayed sentence pairs.")] = 0.01,
    anchor: Annotated[
        str, Option(help="Reference model of --continual: original, adjusted, or the folder of the original model.")
    ] = "original",
    grid: Annotated[bool, Option("--grid", help="Search batch size and learning rate on --dev first.")] = False,
    folder: Annotated[
        Path | None,
        Option(
            "--out",
            "-o",
            help="Folder for networks, predictions and result rows; after an interruption the same command resumes.",
        ),
    ] = None,
    write: Annotated[
        list[Path] | None,
        Option(help="File for result rows (.csv .tsv .parquet .json) or a chart (.html .svg .png .pdf); repeatable."),
    ] = None,
    predict: Annotated[
        str | None,
        Option(help="File for predictions in the format of the corpus; {target} and {seed} in its name are replaced."),
    ] = None,
    format: CorpusFormat = None,
    repair: Repair = False,
    device: Device = None,
    allow_pickle: AllowPickle = False,
    trust_remote_code: TrustRemoteCode = False,
) -> None:
    """Fine-tune a model on one language and test it on others (zero-shot cross-lingual transfer)."""
    from isogloss.models.bilstm.baseline import BILSTM, bilstm
    from isogloss.models.interventions.intervention import apply_interventions
    from isogloss.models.interventions.reinit import reinit as reinit_layers
    from isogloss.models.loading.load import load_model
    from isogloss.results.rows.files import check_suffix
    from isogloss.results.rows.results import gap_heading
    from isogloss.studies.execution.corpora import language_of_name
    from isogloss.tasks import TASKS
    from isogloss.tasks.bilstm import task_for_model
    from isogloss.training.engine.distributed import init_distributed
    from isogloss.training.engine.settings import settings_for
    from isogloss.training.finetuning.grid_search import grid_search
    from isogloss.training.finetuning.transfer import check_corpora
    from isogloss.training.finetuning.transfer import transfer as run

    for path in write or ():
        check_suffix(path)
    if vectors and model != BILSTM:
        raise UsageError(f"--vectors is for the model bilstm; '{model}' has its own word vectors")
    if grid and model == BILSTM:
        raise UsageError(
            "--grid searches learning rates of pretrained models, far too low for bilstm; give --lr and --batch"
        )
    reinitialised = [] if reinit is None else [reinit_layers(reinit)]
    interventions = [*reinitialised, *adapters.adapter_interventions(adapter, task_adapter, placement, lora)]
    swapped = adapters.swapped_adapters(swap, weights)
    seed_numbers, files = parse_seeds(seeds), files_by_language(test, "--test")
    chosen_task = with_scorer(TASKS[task], **scoring)
    if predict:
        _check_pattern(predict, list(files), seed_numbers)
    roles = {"train": CorpusFile(train, source), "dev": CorpusFile(dev, source)}
    roles |= {f"test {name}": CorpusFile(path, language_of_name(name)) for name, path in files.items()}
    corpora = read_corpora_for(chosen_task, roles, repair, format)
    with library_warnings():
        train_corpus, dev_corpus, tests = check_corpora(
            chosen_task, corpora["train"], corpora["dev"], {name: corpora[f"test {name}"] for name in files}
        )
    init_distributed()
    if model == BILSTM:
        loaded = bilstm(vectors, device=device)
    else:
        loaded = load_model(model, device=device, allow_pickle=allow_pickle, trust_remote_code=trust_remote_code)
    for change in reinitialised:
        change.parameters_of(loaded)  # fails early if the model has no such layers
    replay = _replay(continual, continual_weight, anchor, repair, device) if continual else None
    chosen_task = task_for_model(loaded, chosen_task)
    with library_warnings(), resumable(folder), training_bar() as show_report:
        if grid:
            searched = grid_search(
                apply_interventions(loaded, interventions, seed_numbers[0]),
                chosen_task,
                train_corpus,
                dev_corpus,
                settings_for(chosen_task.defaults, **settings),
                seed=seed_numbers[0],
                out=folder,
                progress=lambda spec, report: show_report(f"batch {spec.batch}, rate {spec.learning_rate:g}", report),
            )
            show_frame("grid search: scores on the development corpus", searched.frame, ".4g")
            settings |= {"batch": searched.best.batch, "learning_rate": searched.best.learning_rate}
        results = run(
            loaded,
            chosen_task,
            train_corpus,
            dev_corpus,
            tests,
            before=interventions,
            swap=swapped,
            seeds=seed_numbers,
            continual=replay,
            out=folder,
            progress=lambda seed, report: show_report(f"seed {seed}", report),
            **settings,
        )
    if not init_distributed().is_main:
        return
    scorer = ["scorer"] if chosen_task.scorers else []
    columns = ("target", "metric", *scorer, "mean", "sd", "gap", "seeds", "n", "unknown", "characters_per_token")
    table = results.table()
    table = table.select(*columns).rename({"gap": gap_heading(table["gap_to"])})
    show_frame(f"{chosen_task.name}, trained on {results.frame['source'][0]}", table, ".4g")
    for path in write or ():
        results.write(path)
    print_written(*(write or ()), *(_write_predictions(results, chosen_task, tests, predict) if predict else ()))
    for label, reason in results.failed.items():
        print_error(f"test {label}: {reason}")
    if results.failed:
        raise Exit(1)


def parse_seeds(text: str) -> list[int]:
    """
    >>> parse_seeds("3"), parse_seeds("3,"), parse_seeds("1,7")
    ([0, 1, 2], [3], [1, 7])
    """
    try:
        numbers = [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        numbers = []
    if not numbers or min(numbers) < 0 or (text.isdecimal() and numbers[0] < 1):
        raise UsageError(f"--seeds: expected a number such as 5, or a list such as 0,1,2, got '{text}'")
    return list(range(numbers[0])) if text.strip().isdecimal() else numbers


def _replay(files: list[Path], weight: float, anchor: str, repair: bool, device: str | None) -> AlignmentReplay:
    """Continual learning on the bitexts; an anchor that is not a known name is a model folder."""
    from isogloss.cli.adjust import read_bitext
    from isogloss.models.loading.load import load_model
    from isogloss.training.adjustment.replay import ANCHORS, alignment_replay

    bitexts = [read_bitext(path, repair) for path in files]
    if anchor in ANCHORS:
        return alignment_replay(bitexts, weight=weight, anchor=cast("Literal['original', 'adjusted']", anchor))
    return alignment_replay(bitexts, weight=weight, anchor=load_model(anchor, device=device))


def _check_pattern(pattern: str, targets: list[str], seeds: list[int]) -> None:
    """Raise an error if several predictions would be written to one file."""
    for name, several in {"{target}": len(targets), "{seed}": len(seeds)}.items():
        if several > 1 and name not in pattern:
            raise UsageError(
                f"--predict: expected {name} in the file name, as there are {several} files to write, got '{pattern}'"
            )


def _write_predictions(results: Results, task: Task, tests: dict[str, AnyCorpus], pattern: str) -> list[str]:
    import json

    from isogloss.training.finetuning.evaluation import annotate_corpus

    files = []
    for (target, seed), rows in results.predictions.collect().group_by(["target", "seed"], maintain_order=True):
        values = [json.loads(text) for text in rows.sort("item")["prediction"]]
        files.append(pattern.replace("{target}", str(target)).replace("{seed}", str(seed)))
        annotate_corpus(task, tests[str(target)], values).write(files[-1])
    return files
