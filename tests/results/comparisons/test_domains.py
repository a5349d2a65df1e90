from __future__ import annotations

import pytest
from result_rows import result_rows
from scipy import stats

from isogloss.core.errors import UsageError
from isogloss.results.comparisons.domains import CONTRAST, SETTINGS, domain_deltas, domain_means

DOMAINS = {"en": "partut", "en-lines": "literature", "en-ewt": "web", "fr-partut": "partut", "fr-gsd": "wiki"}
SCORES = {
    ("REF", "fr-gsd"): [0.71, 0.72],
    ("REF", "fr-partut"): [0.83, 0.84],
    ("REF", "en-lines"): [0.78, 0.77],
    ("REF", "en-ewt"): [0.76, 0.75],
    ("REF", "en"): [0.90, 0.91],
    ("1-2", "fr-gsd"): [0.63, 0.65],
    ("1-2", "fr-partut"): [0.77, 0.78],
    ("1-2", "en-lines"): [0.77, 0.77],
    ("1-2", "en-ewt"): [0.74, 0.72],
    ("1-2", "en"): [0.89, 0.89],
}


def test_every_test_set_has_its_setting() -> None:
    found = domain_deltas(result_rows(SCORES), DOMAINS)
    assert found.select("target", "language", "domain", "setting").rows() == [
        ("en", "en", "partut", "same language, same domain"),
        ("en-lines", "en", "literature", "same language, other domain"),
        ("en-ewt", "en", "web", "same language, other domain"),
        ("fr-partut", "fr", "partut", "other language, same domain"),
        ("fr-gsd", "fr", "wiki", "other language, other domain"),
    ]
    assert found["delta"].to_list() == pytest.approx([-0.015, -0.005, -0.025, -0.06, -0.075])


def test_the_contrast_is_the_difference_of_differences() -> None:
    found = domain_means(result_rows(SCORES), DOMAINS)
    assert found["target"].to_list() == [*SETTINGS, CONTRAST]
    assert found["delta"].to_list()[:4] == pytest.approx([-0.015, -0.015, -0.06, -0.075])
    before, after = [0.77 - 0.77, 0.78 - 0.76], [0.70 - 0.755, 0.715 - 0.745]  # French − other English, by hand
    expected = stats.ttest_rel(after, before)
    contrast = found.row(4, named=True)
    assert contrast["delta"] == pytest.approx(-0.0525)
    assert contrast["p"] == pytest.approx(expected.pvalue)
    assert (contrast["low"], contrast["high"]) == pytest.approx(tuple(expected.confidence_interval(0.95)))


def test_test_sets_without_a_domain_are_left_out() -> None:
    more = {("REF", "ru"): [0.5, 0.5], ("1-2", "ru"): [0.1, 0.1]}
    assert domain_means(result_rows({**SCORES, **more}), DOMAINS).equals(domain_means(result_rows(SCORES), DOMAINS))


def test_the_source_needs_a_domain() -> None:
    with pytest.raises(UsageError, match="got none for en"):
        domain_deltas(result_rows(SCORES), {"fr-gsd": "wiki"})


def test_without_other_domains_there_is_no_contrast() -> None:
    found = domain_means(result_rows(SCORES), {"en": "partut", "fr-gsd": "wiki"})
    assert found["target"].to_list() == [SETTINGS[0], SETTINGS[3]]
