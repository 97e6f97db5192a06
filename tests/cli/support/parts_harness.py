"""Functions for tests of files in parts: an independent implementation, as `pf`, in addition to those of
sealed_harness.py."""

import parts_format as pf
from sealed_harness import *
