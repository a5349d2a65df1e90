"""A study written as YAML is the same study when it is read."""

from __future__ import annotations

from pathlib import Path

from isogloss.studies.schema.study_file import read_study, study_of
from isogloss.studies.schema.write_study import write_recipe


def test_it_reads_back_and_the_folder_may_move(tmp_path: Path) -> None:
    folder = tmp_path / "ö folder"
    (folder / "corpora").mkdir(parents=True)
    study = {
        "name": "no-pos",
        "description": "pos in no: 1e-3, yes",
        "models": {"a + b": {"base": "bilstm", "text": [{"transliterate": {"langs": ["no"]}}]}},
        "tasks": ["pos"],
        "sources": {"no": {"train": [str(folder / "corpora" / "no.conllu")], "dev": ["lab:qlj/dev/5"]}},
        "targets": {"no": [f"transliterated:{folder / 'corpora' / 'x.conllu'}"]},
        "settings": {"learning_rate": 5e-5},
        "seeds": [0, 1],
    }
    write_recipe(study, folder / "recipe.yaml", ["why: because"])
    assert (folder / "recipe.yaml").read_text().startswith("# why: because\nname: no-pos\n")
    assert str(folder) not in (folder / "recipe.yaml").read_text()
    assert read_study(folder / "recipe.yaml") == study_of(study)
    moved = folder.rename(tmp_path / "moved")
    (target,) = read_study(moved / "recipe.yaml").targets["no"][""]
    assert target == f"transliterated:{moved / 'corpora' / 'x.conllu'}"
