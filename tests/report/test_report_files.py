"""`isogloss report` and what it writes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import torch
from subjects import SCORES, hostile, small

from isogloss.cli import main
from isogloss.core.errors import UsageError
from isogloss.corpora.lab.laboratory import Laboratory
from isogloss.report.analysis import analyse
from isogloss.report.export import export, file_name
from isogloss.report.tables import tables
from isogloss.report.write import write_report
from isogloss.results.files import write_rows
from isogloss.studies.run import run_study
from result_rows import result_rows
from tiny_models import build_masked


def isogloss(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as leave:
        main.run([str(one) for one in arguments])
    told = capsys.readouterr()
    return int(leave.value.code or 0), told.out, told.err


def test_the_command_writes_page_and_export(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_rows(result_rows(SCORES), "rows.csv")
    code, out, err = isogloss(capsys, "report", "rows.csv", "-o", "r.html", "--export", "all")
    assert code == 0, err
    assert "written: r.html" in out
    assert "What each change costs: pos, accuracy" in Path("r.html").read_text()
    latex = Path("all/tables/costs-pos-accuracy.tex").read_text()
    assert r"\begin{table}" in latex
    assert r"\label{tab:costs-pos-accuracy}" in latex
    for suffix, start in {".svg": b"<svg", ".png": b"\x89PNG", ".pdf": b"%PDF"}.items():
        assert Path(f"all/figures/scores-pos-accuracy{suffix}").read_bytes().startswith(start)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["report", "nowhere.csv"], 3, "nowhere.csv: expected an existing file"),
        (["report", "."], 3, "expected a store"),
        (["report", "rows.csv", "-o", "r.pdf"], 2, "a report is one page; expected .html"),
        (["report", "rows.csv", "--study", "x"], 3, "--study names a study of a store"),
        (["report"], 2, "Missing argument"),
    ],
)
def test_what_cannot_be_done(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    code: int,
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    write_rows(result_rows(SCORES), "rows.csv")
    got, _, err = isogloss(capsys, *words)
    assert (got, said in err.replace("\n", " ")) == (code, True), err
    assert "Traceback" not in err


def test_every_table_and_figure_is_exported(tmp_path: Path) -> None:
    subject = small()
    written = export(subject, analyse(subject), tmp_path)
    names = {path.stem for path in written if path.parent.name == "tables"}
    assert names == {file_name(one.name) for one in tables(subject, analyse(subject))}
    kinds = {path.stem.split("-")[0] for path in written if path.parent.name == "figures"}
    assert kinds == {"scores", "similarity", "gap", "histogram"}
    assert all(path.stat().st_size for path in written)


def test_hostile_names_stay_within_the_folder(tmp_path: Path) -> None:
    subject = hostile()
    for path in export(subject, analyse(subject), tmp_path / "inner"):
        assert path.parent.parent == tmp_path / "inner"
        assert re.fullmatch(r"[\w-]{1,100}\.\w+", path.name)
    assert [path.name for path in tmp_path.iterdir()] == ["inner"]


def test_a_page_is_html(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"expected \.html, got '\.pdf'"):
        write_report(small(), tmp_path / "report.pdf")


def test_a_study_from_its_run_to_its_page(tmp_path: Path) -> None:
    study = {
        "name": "toys",
        "model": str(build_masked(tmp_path / "bert")),
        "task": "pos",
        "changes": {"REF": [], "1": [{"reinit": "1"}]},
        "sources": {"qla": {"train": "lab:qla/train/12", "dev": "lab:qla/dev/4"}},
        "targets": {"qla": "lab:qla/test/4", "qlb": "lab:qlb/test/4"},
        "settings": {"epochs": 1},
        "measure": {"parallel": "lab:qla,qlb/test/8", "indexes": ["anc"], "when": ["before"]},
    }
    run_study(study, store=tmp_path / "store", device="cpu", workers=0)
    write_report(tmp_path / "store", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    words = Laboratory().treebank("qlb", "test", 4)[0].words
    assert json.dumps(words, ensure_ascii=False, separators=(",", ":")) in page, "the words of the examples"
    for told in ("Language-neutral neurons", "Versions and hardware of 2 runs", torch.__version__, "lab:qla/train/12"):
        assert told in page
