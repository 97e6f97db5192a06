"""The time that a run may take."""

import time


class Deadline:
    def __init__(self, seconds):
        self.start, self.seconds = time.monotonic(), seconds

    def now(self):
        """Seconds since the start of the run."""
        return time.monotonic() - self.start

    def left(self):
        return self.seconds - self.now()

    def at_most(self, seconds):
        """A deadline for a part of the run."""
        return Deadline(max(0, min(seconds, self.left())))
