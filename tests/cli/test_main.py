from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from isogloss import __version__
from isogloss.cli import main

SENTENCE = "1\tHi\thi\tINTJ\t_\t_\t0\troot\t_\t_\n\n"


def isogloss(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as leave:
        main.run(arguments)
    streams = capsys.readouterr()
    return int(leave.value.code or 0), streams.out, streams.err


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert isogloss(capsys, "--version")[:2] == (0, f"isogloss {__version__}\n")
    code, text, _ = isogloss(capsys)
    assert code == 0
    assert "validate" in text


def test_help_loads_nothing_heavy() -> None:
    """The half-second of `isogloss --help` is kept by importing neither torch nor its like."""
    program = (
        "import sys\n"
        "from isogloss.cli import main\n"
        "try:\n    main.run(['--help'])\n"
        "except SystemExit:\n    pass\n"
        "print(sorted({'torch', 'numpy', 'transformers', 'polars', 'altair', 'qq', 'scipy'} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["validat"], "Did you mean 'validate'"),
        (["ls", "formts"], "did you mean 'formats'"),
        (["validate"], "Missing argument"),
        (["validate", "--frob", "x"], "No such option"),
        (["validate", "x", "--format", "conlu"], "did you mean 'conllu'"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_two(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    code, _, err = isogloss(capsys, *arguments)
    assert code == 2
    assert said in err
    assert len(err.splitlines()) == 1


def test_validate_counts_a_good_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "fr_x-ud-dev.conllu"
    path.write_text(SENTENCE * 3)
    code, text, _ = isogloss(capsys, "validate", str(path))
    assert code == 0
    assert "valid" in text
    assert ["sentences", "3"] in [line.split() for line in text.splitlines()]
    assert ["language", "fr"] in [line.split() for line in text.splitlines()]


def test_validate_names_file_and_line_of_what_is_wrong(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(SENTENCE + "1\tHi\n\n")
    code, _, err = isogloss(capsys, "validate", str(path))
    assert code == 3
    assert err.startswith(f"error: {path}:3: expected 10 columns")
    assert len(err.splitlines()) == 1
    assert isogloss(capsys, "validate", str(path), "--repair")[0] == 0


def test_debug_shows_the_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    _, _, err = isogloss(capsys, "validate", "absent.conllu", "--debug")
    assert "Traceback" in err
    assert err.splitlines()[-1].startswith("error: absent.conllu")


def test_unexpected_errors_are_one_line_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def boom(*_: object, **__: object) -> None:
        raise RuntimeError("the [bold]cause")

    monkeypatch.setattr("isogloss.corpora.readers.read_file", boom)
    code, _, err = isogloss(capsys, "validate", "x")
    assert (code, len(err.splitlines())) == (1, 1)
    assert "unexpected RuntimeError: the [bold]cause" in err


def test_control_c_gives_130(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("isogloss.corpora.readers.read_file", interrupt)
    code, _, err = isogloss(capsys, "validate", "x")
    assert (code, err) == (130, "error: interrupted\n")


def test_ls_shows_one_line_per_format(capsys: pytest.CaptureFixture[str]) -> None:
    from isogloss.corpora.formats import FORMATS

    os.environ["COLUMNS"] = "200"
    code, text, _ = isogloss(capsys, "ls", "formats")
    assert code == 0
    first_words = [line.split()[0] for line in text.splitlines() if line.strip()]
    assert set(FORMATS) <= set(first_words)


def test_a_study_file_is_not_taken_for_a_corpus(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text("task: pos\n")
    code, _, err = isogloss(capsys, "validate", str(tmp_path / "study.yaml"))
    assert code == 3
    assert "expected the key 'name', got none" in err
