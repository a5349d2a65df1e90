"""Every address over small, hostile and unfinished stores; who may ask, and what may not be asked for."""

from __future__ import annotations

import html
import io
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import polars as pl
import pytest
from flask.testing import FlaskClient
from report_inputs import HOSTILE, SCRIPT, UYGHUR, hostile, small
from stores import parsed, runs_of, write_store
from werkzeug.test import TestResponse

from isogloss.explorer.app import create_app
from isogloss.metrics.significance import holm
from isogloss.report.statistics import compute_statistics
from isogloss.report.tables import tables
from isogloss.results.rows.study_reader import read_study_results
from isogloss.store.entries import Store
from isogloss.store.running_jobs import Notice
from isogloss.store.study_records import read_record

RUNS = [run.name for run in runs_of(small())]
OWN = {"Host": "127.0.0.1:8765"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    write_store(folder, small(), parsed(), hostile(), planned=2)
    return folder


@pytest.fixture(scope="module")
def client(folder: Path) -> FlaskClient:
    return create_app(folder).test_client()


@pytest.fixture(scope="module")
def listening(folder: Path) -> Callable[[str], FlaskClient]:
    """A client of the explorer at an address."""
    return cache(lambda address: create_app(folder, address).test_client())


def get(client: FlaskClient, path: str, **query: Any) -> TestResponse:
    return client.get(f"{path}?{urlencode(query, doseq=True)}", headers=OWN)


def page(client: FlaskClient, path: str, **query: Any) -> str:
    answer = get(client, path, **query)
    assert answer.status_code == 200, answer.text[-500:]
    assert answer.mimetype == "text/html"
    return answer.text


class Parsed(HTMLParser):
    """Elements with their attributes, and the text that a reader sees."""

    def __init__(self, text: str):
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.said = ""
        self._within_script = False
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))
        self._within_script = tag == "script"

    def handle_endtag(self, tag: str) -> None:
        self._within_script = False

    def handle_data(self, data: str) -> None:
        self.said += "" if self._within_script else f" {data}"

    def links(self) -> list[str]:
        return [attributes["href"] or "" for tag, attributes in self.elements if tag == "a" and "href" in attributes]


def test_studies_with_how_far_they_are(client: FlaskClient) -> None:
    said = " ".join(Parsed(page(client, "/")).said.split())
    assert "s a small study 6 of 8" in said
    assert "trees 2 of 4" in said


def test_a_study_lists_its_runs(client: FlaskClient) -> None:
    found = page(client, "/study", study="s")
    assert found.count('name="run"') == 8
    assert "isogloss run s.yaml" in found
    assert "out of memory" in found
    assert page(client, "/study", study="s", state="open").count('name="run"') == 2
    assert page(client, "/study", study="s", find="seed 1 ", changes="1-2").count('name="run"') == 0
    rising = re.findall(r'<td class="number">([\d.]+)</td></tr>', page(client, "/study", study="s", sort="other_score"))
    assert rising == sorted(rising)
    assert len(rising) == 6


def test_what_is_being_done_is_told(tmp_path: Path) -> None:
    store = write_store(tmp_path, small(), parsed(), planned=1)
    client = create_app(tmp_path).test_client()
    notice = Notice(store)
    facts = {"job": "finetuned-open0", "label": "<b>bert</b>", "stage": "finetuned", "step": 3, "steps": 10}
    notice.write({**facts, "loss": 0.5, "best": 0.25}, now=True)
    said = Parsed(page(client, "/progress")).said
    assert "<b>bert</b> :  finetuned" in said
    assert "step 3 of 10, loss 0.500, dev 0.2500" in said
    assert "1 running" in Parsed(page(client, "/")).said
    assert "running" in Parsed(page(client, "/run", run="open 0")).said
    assert "step 3 of 10" not in page(client, "/run", run=RUNS[0]), "that is another run"
    notice.clear()
    assert "step" not in page(client, "/progress")


def test_the_version_tells_of_new_runs(tmp_path: Path) -> None:
    store = write_store(tmp_path, parsed(), planned=1)
    client = create_app(tmp_path).test_client()
    before = page(client, "/progress")
    with store.making("similarity-x", {}):
        pass
    assert page(client, "/progress") != before


def test_a_run_has_scores_gaps_and_links_to_sentences(client: FlaskClient) -> None:
    found = page(client, "/run", run=RUNS[0])
    said = " ".join(Parsed(found).said.split())
    assert "fr accuracy 80.00 15.00 source test 10" in said
    assert "torch 2.0" in said
    assert any(link.startswith("/sentences?") and "target=ug" in link for link in Parsed(found).links())
    assert f"/compare?run={quote(RUNS[1]).replace('%20', '+')}" not in found
    compared = next(link for link in Parsed(page(client, "/run", run=RUNS[3])).links() if link.startswith("/compare"))
    assert "Δ 1-2" in client.get(compared, headers=OWN).text
    place = json.loads(re.search(r'id="data">(.*?)</script>', found)[1])["from"]  # type: ignore[index]
    data = client.get(place, headers=OWN).json
    assert data
    assert data["scores"][0]["mean"] == [9500, 8000, 4000, 7000, 5000]
    assert data["curves"][0]["value"][0] == [500, 900, 700]


def test_runs_side_by_side(client: FlaskClient) -> None:
    found = page(client, "/compare", run=RUNS)
    cells = re.findall(r'data-condition="1">([^<]*)<span class="stars"></span><small>([^<]*)</small>', found)
    assert cells[1][0] == "−19.67"
    assert cells[1][1].startswith("[−2")
    answer = get(client, "/test", run=RUNS, metric="accuracy", condition=1, target="fr").json
    assert answer
    assert answer["test"] == "t over seeds and examples"
    assert answer["delta"] == pytest.approx(-0.19667, abs=1e-5)
    marks = get(client, "/marks", run=RUNS, metric="accuracy").json
    assert marks
    p = {
        target: get(client, "/test", run=RUNS, metric="accuracy", condition=1, target=target).json["p"]
        for target in ("en", "fr", "ug", "de", "ar")
    }
    assert {mark["target"]: mark["holm"] for mark in marks} == dict(
        zip(p, map(pytest.approx, holm(list(p.values()))), strict=True)
    )


def test_sentences_and_their_filters(client: FlaskClient) -> None:
    def items(**query: Any) -> list[int]:
        found = page(client, "/sentences", run=RUNS[0], target="ug", **query)
        shown = json.loads(re.search(r'id="items">(.*?)</script>', found)[1])  # type: ignore[index]
        return [item["item"] for item in shown["items"]]

    assert items() == [2, 1]
    assert items(show="all", order="corpus") == [0, 1, 2]
    assert items(mistake="NOUN→ADJ") == [1]
    assert items(find=UYGHUR[1]) == [2, 1]
    assert items(find="nothing of it") == []
    assert items(page=9) == []


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_rows_come_as_they_are_in_the_store(client: FlaskClient, folder: Path, form: str) -> None:
    results = read_study_results(read_record(Store(folder), "s"), Store(folder))
    read = {"csv": pl.read_csv, "parquet": pl.read_parquet}[form]
    answer = get(client, f"/download/rows.{form}", study="s")
    assert answer.headers["Content-Disposition"] == f'attachment; filename="s-rows.{form}"'
    found = (
        read(io.BytesIO(answer.data), schema_overrides=results.frame.schema)
        if form == "csv"
        else read(io.BytesIO(answer.data))
    )
    assert found.equals(results.frame)
    curves = read(io.BytesIO(get(client, f"/download/curves.{form}", study="s").data))
    assert len(curves) == len(results.curves.frame)
    some = read(io.BytesIO(get(client, f"/download/predictions.{form}", run=RUNS[:2]).data))
    assert (len(some), set(some["run"])) == (30, set(RUNS[:2]))


# ---- what is hostile ----


def addresses() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every page about the hostile study."""
    runs = [run.name for run in runs_of(hostile())]
    yield "/", {}
    yield "/study", {"study": SCRIPT}
    yield "/study", {"study": SCRIPT, "find": SCRIPT, "sort": "other_score"}
    yield "/scores", {"study": SCRIPT}
    yield "/run", {"run": runs[0]}
    yield "/compare", {"run": runs}
    yield "/compare", {"run": [runs[0], runs[2]], "seeds": "separate", "metric": SCRIPT}
    for target in ("en", *HOSTILE):
        yield "/sentences", {"run": runs[0], "target": target, "find": SCRIPT}


@pytest.mark.parametrize(("path", "query"), addresses())
def test_hostile_names_and_words_stay_text(client: FlaskClient, path: str, query: dict[str, Any]) -> None:
    text = page(client, path, **query)
    found = Parsed(text)
    scripts = [attributes for tag, attributes in found.elements if tag == "script"]
    assert all(one.get("type") == "application/json" or str(one.get("src")).startswith("/assets/") for one in scripts)
    assert not [tag for tag, _ in found.elements if tag in ("img", "iframe", "object", "style", "base")]
    for _, attributes in found.elements:
        assert not [name for name in attributes if name.startswith("on")]
    assert all(link.startswith(("/", "#")) and not link.startswith("//") for link in found.links())
    assert len(text) < 2_000_000


def test_hostile_names_of_charts_are_data(client: FlaskClient) -> None:
    answer = get(client, "/chart-data", run=[run.name for run in runs_of(hostile())])
    assert (answer.status_code, answer.mimetype) == (200, "application/json")
    assert SCRIPT in {one["metric"] for one in answer.json["scores"]}  # type: ignore[index]


def test_hostile_links_lead_where_they_say(client: FlaskClient) -> None:
    for start in ("/", f"/study?{urlencode({'study': SCRIPT})}"):
        for link in Parsed(client.get(start, headers=OWN).text).links():
            if link.startswith("/"):
                assert client.get(link, headers=OWN).status_code == 200, link


@pytest.mark.parametrize(
    "path",
    [
        "/run?run=../../../etc/passwd",
        "/study?study=../isogloss-store",
        "/study?study=%2e%2e%2f",
        "/run?run=evaluation-s0",
        "/download/rows.csv?study=../../etc",
        "/download/predictions.csv?run=..%2f..%2fetc%2fpasswd",
        "/download/..%2f..%2fetc%2fpasswd.csv?study=s",
        "/download/manifest.json?study=s",
        "/assets/../app.py",
        "/assets/..%2fapp.py",
        "/assets/%2e%2e/app.py",
        "/isogloss-store.json",
        "/studies/s.json",
        "/static/explorer.js",
    ],
)
def test_nothing_but_the_studies_can_be_reached(client: FlaskClient, path: str) -> None:
    answer = client.get(path, headers=OWN)
    assert answer.status_code == 404
    assert "root:" not in answer.text
    assert "Traceback" not in answer.text


@pytest.mark.parametrize(
    ("path", "code", "said"),
    [
        ("/run", 400, "this address needs 'run='"),
        ("/compare", 400, "choose 1 to 32 runs"),
        ("/study?study=s&page=0", 400, "page: expected a number from 1"),
        ("/study?study=s&page=9999999999999999999999", 400, "expected a number"),
        ("/study?study=s&page=²", 400, "expected a number"),
        ("/study?study=s&sort=secret", 404, "secret"),
        ("/sentences?run=open+0", 400, "no sentences are stored"),
        ("/test?run=open+0&metric=x&condition=1&target=fr", 404, "metric of these runs"),
        ("/scores?study=nothing", 404, "no such study"),
        ("/%ff", 404, ""),
    ],
)
def test_what_cannot_be_shown_is_said_in_a_line(client: FlaskClient, path: str, code: int, said: str) -> None:
    answer = client.get(path, headers=OWN)
    assert answer.status_code == code
    assert said in html.unescape(answer.text)


def test_a_damaged_entry_is_said(tmp_path: Path) -> None:
    store = write_store(tmp_path, small())
    (store.place(runs_of(small())[0].evaluation) / "predictions.parquet").write_bytes(b"other bytes")
    client = create_app(tmp_path).test_client()
    answer = get(client, "/sentences", run=RUNS[0])
    assert answer.status_code == 400
    assert "predictions.parquet have changed" in answer.text


@pytest.mark.parametrize("method", ["post", "put", "delete", "patch"])
def test_it_only_reads(client: FlaskClient, method: str) -> None:
    for path in ("/", "/study?study=s", "/download/rows.csv?study=s"):
        assert getattr(client, method)(path, headers=OWN).status_code == 405


def test_the_store_stays_as_it_was(tmp_path: Path) -> None:
    write_store(tmp_path, small(), hostile())
    before = {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in tmp_path.rglob("*")}
    client = create_app(tmp_path).test_client()
    for path, query in addresses():
        page(client, path, **query)
    assert before == {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in tmp_path.rglob("*")}


@pytest.mark.parametrize(
    ("listens", "called", "answers"),
    [
        ("127.0.0.1", "127.0.0.1:8765", True),
        ("127.0.0.1", "localhost:8765", True),
        ("127.0.0.1", "LOCALHOST", True),
        ("127.0.0.1", "[::1]:8765", True),
        ("127.0.0.1", "evil.example:8765", False),
        ("127.0.0.1", "127.0.0.1.evil.example", False),
        ("127.0.0.1", "localhost.evil.example", False),
        ("127.0.0.1", "192.168.0.7:8765", False),
        ("127.0.0.1", "user@evil.example", False),
        ("127.0.0.1", "[::1", False),
        ("127.0.0.1", "", False),
        ("0.0.0.0", "192.168.0.7:8765", True),
        ("0.0.0.0", "evil.example", False),
        ("lab.example.org", "lab.example.org:8765", True),
    ],
)
def test_it_answers_to_its_own_name_only(
    listening: Callable[[str], FlaskClient], listens: str, called: str, answers: bool
) -> None:
    answer = listening(listens).get("/", headers={"Host": called})
    assert answer.status_code == (200 if answers else 403)
    assert ("small study" in answer.text) == answers


def test_every_answer_is_guarded(client: FlaskClient) -> None:
    for path in ("/", "/nowhere", "/assets/page.js", "/download/rows.csv?study=s", "/run?run=x"):
        headers = client.get(path, headers=OWN).headers
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy, "no inline script and no eval"
        assert "frame-ancestors 'none'" in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert "Access-Control-Allow-Origin" not in headers


def test_assets_are_kept_and_pages_are_not(client: FlaskClient) -> None:
    address = re.search(r'src="(/assets/page\.js\?v=[0-9a-f]{16})"', page(client, "/"))
    assert address
    answer = client.get(address[1], headers=OWN)
    assert "immutable" in answer.headers["Cache-Control"]
    assert "sortTable" in answer.text
    assert client.get("/", headers=OWN).headers["Cache-Control"] == "no-store"


def test_the_scorer_stands_beside_the_score(tmp_path: Path) -> None:
    """Rows of answers by two scripts, and rows that were stored before there was a choice."""
    inputs = small()
    names = pl.when(pl.col("target") == "fr").then(pl.lit("mlqa")).otherwise(pl.lit("squad"))
    scored = replace(inputs, results=replace(inputs.results, frame=inputs.results.frame.with_columns(scorer=names)))
    older = replace(parsed(), results=replace(parsed().results, frame=parsed().results.frame.drop("scorer")))
    write_store(tmp_path, scored, older)
    explorer = create_app(tmp_path).test_client()
    assert page(explorer, "/run", run=RUNS[0]).count("<small>scorer") == scored.results.tests["target"].n_unique()
    compared = page(explorer, "/compare", run=RUNS)
    assert re.search(r"fr</bdi></a> <small>scorer <bdi[^>]*>mlqa", compared)
    assert "<small>scorer" not in page(explorer, "/run", run=runs_of(parsed())[0].name)
    listed = {table.name: table.table for table in tables(scored, compute_statistics(scored))}
    assert "scorer" in listed["scores-pos-accuracy"].head
    assert "scorer" in listed["differences-pos-accuracy"].head
