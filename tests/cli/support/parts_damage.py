"""Expectations about changed files made of parts: readers release only what the independent reader does."""

import os
import re

import parts_format as pf
from programs import KEY, SANITIZED, each_way, expect_same, lanes, some_bytes, spread, stream

HEAD = 119  # bytes before the first frame, with one key slot
VIAS = ("pipe", "file")
READERS = {"pipe": pf.read_pipe, "file": pf.read_file}

ERRORS = "|".join((
    r"the input is corrupt at byte \d+, in its header: it is not followed by part 0",
    r"the input is corrupt at byte \d+, in its header: the header or its MAC was modified",
    r"the input is corrupt at byte \d+, in its header, or was encrypted with a different label",
    r"the input is corrupt at byte \d+, in the header of (part \d+|the index)",
    r"the input is corrupt( or truncated)? at byte \d+, in part \d+",
    r"the input is corrupt at byte \d+, in the index(, which lists other parts)?",
    r"the input is corrupt at byte \d+, in the number of parts",
    r"the input is corrupt or truncated at byte \d+: its index is missing or damaged",
    r"the input is truncated after byte \d+, in (its header|part \d+|a part or the index)",
    r"the input has trailing bytes after byte \d+",
))


def pieces_of(lengths):
    """Plaintexts of these lengths, and all of them together."""
    plain = some_bytes(sum(lengths))
    ends = [sum(lengths[: i + 1]) for i in range(len(lengths))]
    return [plain[end - length : end] for end, length in zip(ends, lengths)], plain


def begins_of(parts):
    """The offsets of the parts in the file, and of what follows them."""
    return [HEAD + len(b"".join(parts[:i])) for i in range(len(parts) + 1)]


class Changed:
    """A changed file, which is damaged for both kinds of reader."""

    def __init__(self, what, data, plain, says=None, exact=True):
        """says: the error message, or a dictionary with that for pipes and that for files. exact: whether the program
        releases no less than the independent reader."""
        self.what, self.data, self.exact = what, data, exact
        self.says = says if isinstance(says, dict) else dict.fromkeys(VIAS, says)
        self.released = {}
        for via, reader in READERS.items():
            status, self.released[via] = pf.outcome(reader(data, key=KEY))
            assert status == 4, f"{what}, {via}"
            expect_same(plain[: len(self.released[via])], self.released[via], f"{what}, {via}")

    def run(self, run, via, options):
        return run("-q", *options, status=4, input=self.data, via=via)

    def decrypt(self, run, via, options):
        got = self.run(run, via, ["-d", *options])
        want = self.released[via]
        expect_same(want if self.exact else want[: len(got.out)], got.out, self.what)
        error, _, end = got.error.partition("; ")
        assert self.says.get(via) in (None, error), self.what
        assert re.fullmatch(ERRORS, error), error
        in_header = ", in its header" in error
        if in_header or (via == "file" and end == "nothing was written"):
            assert (end, got.out) == ("nothing was written", b""), self.what
        else:
            assert end == f"{len(got.out)} bytes of plaintext before that were verified"
        hint = "copy or download it again"
        if in_header and "truncated" not in error:
            hint = ""
        elif not in_header:
            hint += ", or use --salvage to recover the undamaged parts"
        if "different label" in error:
            hint = "--label must be the text the input was encrypted with, or omitted if there was none"
        assert got.hint == hint, error

    def decrypt_to_a_file(self, run, via, options):
        assert self.run(run, via, ["-d", "-o", os.path.abspath("out"), *options]).out == b"", self.what
        assert os.listdir() == [], self.what

    def test(self, run, via, options):
        assert self.run(run, via, ["--test", *options]).out == b"", self.what

    def salvage(self, run, via, options):
        """Salvage begins with what is released otherwise, and replaces at most the bytes that are there."""
        got = self.run(run, via, ["-d", "--salvage", *options])
        assert len(got.out) <= len(self.data), self.what
        if self.exact:
            expect_same(self.released[via], got.out[: len(self.released[via])], self.what)


def expect_damage(batch, key, cases, everywhere=False):
    """Reads each changed file from a pipe and a file, with small or large chunks, on CPU lanes in turn or, with
    everywhere=True, on all. CUDA lanes read a few. Each is also read with -o, --test or --salvage, in turn."""
    cases, runs = list(cases), []
    cpu = [lane for lane in lanes() if not lane.startswith("cuda")]
    for k, lane in enumerate(lanes()):
        some = cases if everywhere or lane not in cpu else cases[k :: len(cpu)]
        if SANITIZED or lane not in cpu:
            some = spread(some, 30 if lane in cpu else 4)
        for i, case in enumerate(some):
            options = ["-k", key, "-l", lane, *(["-b", "16K"], [])[(i + k) % 2]]
            runs += [(case.decrypt, via, options) for via in VIAS]
            other_ways = (case.decrypt_to_a_file, case.test, case.salvage)
            runs.append((other_ways[i % 3], VIAS[i // 3 % 2], options))
    for run, (expect, via, options) in each_way(batch, runs):
        expect(stream if options[3].startswith("cuda") else run, via, options)
