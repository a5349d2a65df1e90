from __future__ import annotations

from pathlib import Path

import pytest

from isogloss.cli import main


@pytest.mark.slow
def test_the_demo_tells_its_story_and_leaves_a_chart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chart = tmp_path / "demo.svg"
    with pytest.raises(SystemExit) as leave:
        main.run(["demo", "--out", str(chart), "--sentences", "60"])
    assert not leave.value.code
    said = capsys.readouterr().out
    for word in ("Alvan", "One meaning in all of them", "matching", str(chart)):
        assert word in said
    assert "qla–qlf" in chart.read_text(encoding="utf-8")
