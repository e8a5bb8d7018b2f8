"""What every step knows of themes: a number each, and one for none."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.int64]
"""One theme number per phrase; NO_THEME where it has none."""

NO_THEME = -1
