"""Workers find the toys of these tests."""

from study_fixtures import _pages_without_vega, _toys_for_workers, bert  # noqa: F401
