"""`isogloss demo`: what it says was measured is in its store; what stops it is told, and the same command goes on."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from browsing import Opened, chromium

from isogloss.cli import demo, main, screen
from isogloss.diagnosis import study_runner as bench
from isogloss.report.inputs import inputs_from_store
from isogloss.report.sections import Section
from isogloss.results.rows.study_results import StudyResults
from isogloss.results.tables.tables import Cell, Table
from isogloss.studies.execution import run_study as run

RUNS_STUDIES = bench  # imported before a test replaces `run_study`: it would keep the replacement


def isogloss(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as leave:
        main.run([str(one) for one in arguments])
    told = capsys.readouterr()
    return int(leave.value.code or 0), told.out, told.err


def test_an_interruption_keeps_what_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "run_study", interrupted)
    code, text, told = isogloss(capsys, "demo", "--out", tmp_path / "demo", "--sentences", 50)
    assert code == 130
    assert f"the work so far is saved in {tmp_path / 'demo'}; the same command resumes it" in told
    assert "Alvan" in text and "One sentence in all languages" in text


def test_a_run_that_fails_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failed = StudyResults(pl.DataFrame(), failed={"laboratory 1-2 pos qla seed 0": "out of memory"})
    monkeypatch.setattr(run, "run_study", lambda *_, **__: failed)
    code, _, told = isogloss(capsys, "demo", "--out", tmp_path / "demo", "--sentences", 50)
    assert code == 1
    assert "laboratory 1-2 pos qla seed 0: out of memory" in told


def test_parts_and_histograms_are_shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(screen.out, "_width", 100)
    demo._show_section(Section("1. Table", ("Not here.",), Table(("pair", "value"), ((Cell("a-[b]"), Cell("1.0")),))))
    demo._show_section(Section("2. Without", ("This [one].",)))
    bins = [("REF", "related", 1.0, 2.0, 0.2), ("REF", "related", 0.0, 1.0, 0.8), ("REF", "unrelated", 0.0, 2.0, 1.0)]
    demo._histograms(pl.DataFrame(bins, schema=["model", "words", "low", "high", "share"], orient="row"))
    text = capsys.readouterr().out
    assert "1. Table" in text and "a-[b]" in text and "Not here." not in text
    assert "2. Without\nThis [one].\n" in text
    assert re.search(r"REF +related +0\.0 +█▂ +2\.0", text)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_whole_demo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "demo"
    code, text, told = isogloss(capsys, "demo", "--out", folder, "--device", "cpu")
    assert code == 0, told
    short = text.partition("In short\n")[2]
    assert [line[:2] for line in short.splitlines()[:5]] == ["1.", "2.", "3.", "4.", "5."]
    one, two, three, four, five = short.splitlines()[:5]
    assert f"Report: {folder / 'report.html'}" in short

    subject = inputs_from_store(folder / "store", "demo")
    curves, rows = subject.results.curves.frame, subject.results.frame.filter(split="test")
    matching = curves.filter(changes="REF", index="matching")
    means = matching.group_by("layer").agg(pl.col("value").mean()).sort("layer")["value"].to_list()
    assert f"{means[0]:.2f} at layer 0" in one and f"{means[-1]:.2f} at layer 12" in one
    assert f"{max(means):.2f} at layer {means.index(max(means))}" in one

    def away(column: str) -> float:
        return float(rows.filter(pl.col("target") != "qla", changes=column)["value"].to_numpy().mean())

    costs = {pair: 100 * (away(pair) - away("REF")) for pair in ("1-2", "5-6", "11-12")}
    worst = min(costs, key=lambda pair: costs[pair])
    told_cost = f"{costs[worst]:+.1f}".replace("-", "−")
    assert f"the largest loss is for layers {worst}: {told_cost} points" in two
    assert "over 10 languages" in three
    verdict = json.loads((folder / "qlj" / "verdict.json").read_text(encoding="utf-8"))
    assert f"is {verdict['level']}" in four
    for row in verdict["systems"]:
        assert f"{row['system']} {100 * row['test']:.1f}" in four
    before, after = (curves.filter(changes=name, index="matching", target="qlf", layer=12)["value"][0]
                     for name in ("REF", "adjusted"))  # fmt: skip
    assert f"is {after:.2f} instead of {before:.2f} at the last layer" in five

    # the laboratory is what its declaration says, and the repair holds
    assert verdict["level"] == "Hard" and verdict["repaired"]
    _look(folder / "report.html")
    code, again, told = isogloss(capsys, "demo", "--out", folder, "--device", "cpu")
    assert code == 0 and "done:" not in told  # nothing is done twice
    assert again.partition("In short\n")[2] == text.partition("In short\n")[2]


def _look(report: Path) -> None:
    """The page has all five parts, drawn, at both widths."""
    with chromium() as browser:
        for width in (390, 1440):
            opened = Opened(browser.new_page(), report.as_uri(), width)
            assert not opened.errors and not opened.requests and not opened.low_contrast()
            assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
            assert [opened.page.locator(f"#part-{n} h2").count() for n in range(1, 6)] == [1] * 5
            assert opened.page.locator("section[id^=part-] > figure > svg").count() == 3
            opened.page.close()
