"""One tiny model for every test of this room."""

from __future__ import annotations

import pytest
from toy import tiny_bert

from isogloss.models.loading.loaded_model import LoadedModel


@pytest.fixture(scope="session")
def bert(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return tiny_bert(tmp_path_factory.mktemp("bert"))
