"""`isogloss report` and what it writes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest
import torch
from report_inputs import SCORES, hostile, small
from result_rows import result_rows
from tiny_models import build_masked

from isogloss.cli import main
from isogloss.core.errors import UsageError
from isogloss.corpora.lab.laboratory import Laboratory
from isogloss.report.charts import gap_spec
from isogloss.report.export import export, file_name
from isogloss.report.inputs import ReportInputs
from isogloss.report.sections import Section, render_chart
from isogloss.report.statistics import compute_statistics
from isogloss.report.tables import tables
from isogloss.report.write_report import write_report
from isogloss.results.rows.files import write_rows
from isogloss.results.rows.study_results import StudyResults
from isogloss.results.tables.tables import Cell, Table
from isogloss.studies.execution.run_study import run_study


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
    assert "Differences to the reference: pos, accuracy" in Path("r.html").read_text()
    latex = Path("all/tables/differences-pos-accuracy.tex").read_text()
    assert r"\begin{table}" in latex
    assert r"\label{tab:differences-pos-accuracy}" in latex
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
    inputs = small()
    written = export(inputs, compute_statistics(inputs), tmp_path)
    names = {path.stem for path in written if path.parent.name == "tables"}
    assert names == {file_name(one.name) for one in tables(inputs, compute_statistics(inputs))}
    kinds = {path.stem.split("-")[0] for path in written if path.parent.name == "figures"}
    assert kinds == {"scores", "similarity", "gap", "histogram"}
    assert r"\caption{Correlation of cross-lingual gap and similarity. Spearman" in (
        tmp_path / "tables" / "gap-and-similarity.tex"
    ).read_text(encoding="utf-8")
    assert all(path.stat().st_size for path in written)


def test_what_a_section_shows_is_exported(tmp_path: Path) -> None:
    table = Table(("system", "test"), ((Cell("a_b"), Cell("-1.5", number=True)),))
    drawn = render_chart(
        gap_spec() | {"data": {"values": [{"similarity": 0.1, "gap": 2.0, "name": "fr", "target": "fr"}]}}, "a chart"
    )
    parts = [Section("1. Words", ("Only words.",)), Section("2. Both", ("A & B.",), table, image=drawn)]
    write_report(small(), tmp_path / "r.html", folder=tmp_path / "all", sections=parts)
    latex = (tmp_path / "all/tables/part-2.tex").read_text()
    assert r"\caption{2. Both. A \& B.}" in latex and r"a\_b" in latex
    assert not (tmp_path / "all/tables/part-1.tex").exists()
    for suffix, start in {".svg": b"<svg", ".png": b"\x89PNG", ".pdf": b"%PDF"}.items():
        assert (tmp_path / f"all/figures/part-2{suffix}").read_bytes().startswith(start)


def test_names_that_are_alike_have_files_of_their_own(tmp_path: Path) -> None:
    """`1-2` and `1 2` are two columns, and one name of a file."""
    rows = pl.concat([result_rows({("REF", "fr"): [0.5]}, task=task) for task in ("a-b", "a b", "é", "è")])
    inputs = ReportInputs("t", StudyResults(rows))
    written = export(inputs, compute_statistics(inputs), tmp_path)
    assert len(set(written)) == len(written) == 4 * 3 + 4 * 3
    assert {path.name for path in written if path.suffix == ".csv"} == {
        "scores-a-b-accuracy.csv", "scores-a-b-accuracy-2.csv", "scores-accuracy.csv", "scores-accuracy-2.csv",
    }  # fmt: skip


def test_hostile_names_stay_within_the_folder(tmp_path: Path) -> None:
    inputs = hostile()
    for path in export(inputs, compute_statistics(inputs), tmp_path / "inner"):
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
