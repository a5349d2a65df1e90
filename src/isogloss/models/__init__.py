"""Pretrained models: loading them, what their layers hold, and changing them.

Importing it registers isogloss' own networks with the Auto classes of the model library.
"""

import isogloss.models.norms  # noqa: F401
