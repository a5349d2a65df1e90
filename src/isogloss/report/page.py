"""The report as one HTML file that needs nothing else: no network, no server.

Its content security policy lets only the scripts run that were put in here, by their hashes, and lets nothing be
fetched; so even markup that slipped through an escape would do nothing.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files

import polars as pl

from isogloss import __version__
from isogloss.core.errors import MissingExtra
from isogloss.report.chart_data import chart_data
from isogloss.report.charts import Spec, curve_spec, gap_spec, histogram_spec, score_spec
from isogloss.report.examples import examples
from isogloss.report.findings import findings
from isogloss.report.inputs import ReportInputs
from isogloss.report.sections import Section, section_body
from isogloss.report.statistics import ReportStatistics, compute_statistics
from isogloss.report.tables import NamedTable, tables
from isogloss.report.templating import isolated, json_element, script_hash, shade_rules, table_html, text

MOST_CELLS = 12_000  # of all tables together: a browser has to lay them out
LICENCE = """<!-- Charts by Vega, Vega-Lite and Vega-Embed, inlined below: Copyright University of Washington
Interactive Data Lab and contributors, BSD-3-Clause; they come without warranty of any kind. -->"""


def page(inputs: ReportInputs, statistics: ReportStatistics | None = None, sections: Sequence[Section] = ()) -> str:
    """The whole page; `sections` that somebody wrote stand before what was found."""
    statistics = statistics or compute_statistics(inputs)
    data = {**chart_data(inputs, statistics.scores), "examples": examples(inputs, statistics)}
    specs = dict(charts(inputs, statistics.scores))
    found = tables(inputs, statistics)
    parts = [
        *((f"part-{number}", text(one.title), section_body(one)) for number, one in enumerate(sections, 1)),
        ("findings", "What was found", _findings(inputs, statistics)),
        ("tables", "Tables", _tables(found)),
        ("charts", "Charts", figures(specs)),
        ("wrong", "Where predictions go wrong", EXAMPLES if data["examples"] else ""),
        ("made", "How this was made", "\n".join(_made(inputs))),
    ]
    shown = [(id, title, body) for id, title, body in parts if body]
    links = "".join(f'<li><a href="#{id}">{title}</a></li>' for id, title, _ in shown)
    body = "\n".join(
        f'<section id="{id}" aria-labelledby="{id}-title">\n<h2 id="{id}-title">{title}</h2>\n{content}\n</section>'
        for id, title, content in shown
    )
    scripts = [*([vega()] if specs else []), page_script()]
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{_policy(scripts)}">
<meta name="generator" content="isogloss {__version__}">
<title>{text(inputs.title)} · isogloss</title>
<style>
{resource("page.css")}{shade_rules()}
</style>
</head>
<body>
<a class="skip" href="#findings">To the findings</a>
<header>
<h1>{isolated(inputs.title)}</h1>
<p class="lead" dir="auto">{text(inputs.description, 2000)}</p>
<p class="facts">{_facts(inputs)}</p>
<nav aria-label="Parts of the report"><ul>{links}</ul></nav>
</header>
<main>
{body}
</main>
{json_element("data", data)}
{json_element("specs", specs)}
{LICENCE if specs else ""}
{"".join(f"<script>{script}</script>" for script in scripts)}
</body>
</html>
"""


def _policy(scripts: list[str]) -> str:
    """Only these scripts; no requests."""
    allowed = " ".join(map(script_hash, scripts))
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:"


def _facts(inputs: ReportInputs) -> str:
    frame, curves = inputs.results.frame, inputs.results.curves.frame
    done = (frame if len(frame) else curves)["run"].drop_nulls().n_unique()  # some studies only measure
    told = [f"{done:,} runs"] if done else []
    if inputs.planned is not None and inputs.planned > done:
        told[:1] = [f"{done:,} of {inputs.planned:,} runs"]
    for column, name in (("model", "model"), ("changes", "column"), ("task", "task"), ("source", "source")):
        none = {None, ""} if column == "task" else {None}  # changes may well be called ""
        number = len(set((frame if len(frame) else curves)[column]) - none)
        told += [f"{number} {name}{'s' * (number > 1)}"] if number else []
    number = (inputs.results.tests if len(frame) else curves)["target"].n_unique()
    told.append(f"{number} target{'s' * (number != 1)}")
    if len(frame):
        told.append(f"{frame['seed'].n_unique()} seed{'s' * (frame['seed'].n_unique() > 1)}")
    return text(" · ".join(told))


def _findings(inputs: ReportInputs, statistics: ReportStatistics) -> str:
    failed = len(inputs.results.failed)
    warning = (
        f'<p class="warning">{failed} run{"s" * (failed > 1)} failed: see the end of this page.</p>' if failed else ""
    )
    listed = ""
    for title, sentences in findings(inputs, statistics).items():
        items = "\n".join(f"<li>{text(one, 2000)}</li>" for one in sentences)
        listed += f"<h3>{title}</h3>\n<ul>\n{items}\n</ul>\n"
    notes = "".join(f'<p class="note">{text(note, 1000)}</p>' for note in statistics.notes)
    reading = ""
    if len(statistics.deltas):
        reading = (
            '<p class="note">Points are hundredths of a score. Significant: p below .05 after Holm’s correction for '
            "all comparisons of an experiment, and an interval over seeds on one side of 0. Where several seeds "
            "have answered the same examples, the test takes both for samples. A difference that is not significant is "
            "not shown to be zero.</p>"
        )
    nothing = "<p>There is nothing to say yet: no run is done.</p>"
    return f"{warning}{listed or nothing}{reading}{notes}"


def _tables(found: list[NamedTable]) -> str:
    shown = []
    cells = max(300, MOST_CELLS // max(1, len(found)))
    for one in found:
        content = f'<p class="note">{text(one.note, 1000)}</p>\n{table_html(one.table, one.title, cells)}'
        title = isolated(one.title)
        if one.main:
            shown.append(f'<h3 id="{_id(one)}">{title}</h3>\n{content}')
        else:
            shown.append(f'<details id="{_id(one)}"><summary>{title}</summary>\n{content}</details>')
    return "\n".join(shown)


def _id(one: NamedTable) -> str:
    return "table-" + "".join(char if char.isascii() and char.isalnum() else "-" for char in one.name)


def charts(inputs: ReportInputs, scores: pl.DataFrame) -> Iterator[tuple[str, Spec]]:
    """The charts that there is something to draw in; `scores` as `Results.table` gives them."""
    curves = len(inputs.results.curves.frame)
    if len(scores):
        yield "scores", score_spec()
    if curves:
        yield "curves", curve_spec()
    if curves and len(scores):
        yield "gaps", gap_spec()
    if len(inputs.distances.frame):
        yield "histograms", histogram_spec()


def figures(specs: Mapping[str, Spec]) -> str:
    """Their places on the page, with the choices that `page.js` fills."""
    if not specs:
        return ""
    head = (
        '<fieldset class="controls"><legend>Languages</legend><div class="languages" id="languages"></div></fieldset>'
    )
    return head + "\n".join(FIGURES[id] for id in specs)


def _select(id: str, label: str) -> str:
    return f'<label>{label}<select id="{id}"></select></label>'


def _figure(id: str, title: str, caption: str, *controls: str) -> str:
    bar = f'<div class="controls">{"".join(controls)}</div>' if controls else ""
    return (
        f'<h3>{title}</h3>\n{bar}<figure><div class="chart" id="{id}"></div>\n'
        f'<figcaption>{caption} <span class="said" aria-live="polite"></span></figcaption></figure>'
    )


CLICK = (
    '<span class="hint">Hover for values; a click on the legend (or Tab and Enter) brings one out, with the shift key '
    "several.</span>"
)
FIGURES = {
    "scores": _figure("scores", "Scores by target", CLICK, _select("scores-a", "Experiment"),
                      _select("scores-b", "Compare with")),
    "curves": _figure("curves", "Similarity by layer", CLICK, _select("index", "Index"),
                      _select("curves-a", "Experiment"), _select("curves-b", "Compare with (dashed)"),
                      _select("from", "From layer"), _select("to", "To layer")),
    "gaps": _figure("gaps", "Gap and similarity",
                    '<span class="hint">The layers, the index and the experiments are those chosen above.</span>'),
    "histograms": _figure("histograms", "Distances of related and unrelated words", CLICK, _select("histogram", "Of")),
}  # fmt: skip
EXAMPLES = (
    f'<div class="controls">{_select("example-of", "Experiment")}{_select("example-target", "Target")}</div>'
    '<p class="note" id="example-count" aria-live="polite"></p><div id="examples"></div>'
)


def _made(inputs: ReportInputs) -> Iterator[str]:
    results = inputs.results
    if inputs.command:
        yield f"<h3>Command</h3><pre>{text(inputs.command, 5000)}</pre>"
    else:
        yield "<p>The rows came without a record of the command that made them.</p>"
    if len(results.frame):
        seeds = ", ".join(map(str, sorted(results.frame["seed"].unique().to_list())[:50]))
        yield f"<p>Seeds: {text(seeds, 1000)}.</p>"
    for facts, runs in inputs.made:
        listed = "".join(
            f"<tr><th scope='row'>{text(name)}</th><td>{text(value)}</td></tr>" for name, value in facts.items()
        )
        told = (
            f'<div class="scroll" tabindex="0">\n<table>{listed}</table></div>'
            if facts
            else "<p>Made before versions were recorded.</p>"
        )
        yield f"<h3>Versions and hardware of {runs:,} run{'s' * (runs > 1)}</h3>{told}"
    if inputs.study:
        study = json.dumps(inputs.study, indent=1, ensure_ascii=False)
        yield f"<details><summary>The study, as it was run</summary><pre>{text(study, 200_000)}</pre></details>"
    if results.failed:
        failed = "".join(f"<li>{isolated(label)}<pre>{text(why[-800:], 800)}</pre></li>"
                         for label, why in list(results.failed.items())[:50])  # fmt: skip
        yield f"<h3>Runs that failed</h3><ul>{failed}</ul>"
    made = time.strftime("%Y-%m-%d %H:%M", time.localtime())
    yield f'<p class="note">This page was made by isogloss {text(__version__)} on {made}.</p>'


def resource(name: str) -> str:
    return files("isogloss.report").joinpath(name).read_text(encoding="utf-8")


def page_script() -> str:
    """The page's own script: tables that sort, charts, examples and their trees."""
    return "".join(map(resource, ("tree.js", "page.js")))


@cache
def vega() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script that sets `vegaEmbed`."""
    try:
        import vl_convert
    except ImportError:
        raise MissingExtra("vl-convert-python", "figures") from None
    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return bundle.replace("</script", "<\\/script")
