"""Functions for tests of files made of parts: an independent implementation, as `pf`, in addition to those of
sealed_harness.py."""

import parts_format as pf
from sealed_harness import *

VIAS = ("pipe", "file")
READERS = {"pipe": pf.read_pipe, "file": pf.read_file}
HEAD = 119  # bytes before the first frame, with one key slot


class Changed:
    """A changed file, which is damaged for both kinds of reader. What each may release is what the independent reader
    does: a prefix of the plaintext."""

    def __init__(self, what, data, plain, says=None, exact=True):
        """says: the error message, or a dictionary with that for pipes and that for files. exact: whether the program
        releases no less than the independent reader."""
        self.what, self.data, self.exact = what, data, exact
        self.says = says if isinstance(says, dict) else dict.fromkeys(VIAS, says)
        self.released = {}
        for via, reader in READERS.items():
            code, self.released[via] = pf.outcome(reader(data, key=KEY))
            expect_equal(4, code, f"{what}, {via}: status of the independent reader")
            expect_same(plain[: len(self.released[via])], self.released[via], f"{what}, {via}: independent reader")

    def expect(self, via, *options):
        """Checks a run with output to a pipe."""
        what, want = f"{self.what}, {via}, {options}", self.released[via]
        got = run("-d", "-k", key, *options, data=self.data, via=via)
        expect_equal(4, got.code, f"{what}: exit status ({got.err.decode()})")
        if self.exact or len(got.out) > len(want):
            expect_same(want, got.out, what)
        else:
            expect_same(want[: len(got.out)], got.out, what)
        count = f"; {len(got.out)} bytes of plaintext before that were verified"
        end = "; nothing was written" if b"; nothing was written" in got.err else count
        if self.says.get(via):
            hint = r"(gpuaes-stream: hint: use --salvage to recover the undamaged parts\n)?"
            expect_message(got, f"^gpuaes-stream: error: {re.escape(self.says[via] + end)}\n{hint}$", what)
        elif got.err.decode().count("gpuaes-stream: error: ") != 1 or end not in got.err.decode() or \
                (got.out and end != count):
            fail(f"{what}: expected one error message with '{count}', got: {got.err.decode()}")

    def expect_no_output_file(self, via, *options):
        got = run("-d", "-k", key, "-o", "out", *options, data=self.data, via=via)
        expect_equal((4, b""), (got.code, got.out), f"{self.what}, {via}, -o: exit status and standard output")
        if os.path.exists("out") or unfinished_files():
            fail(f"{self.what}, {via}, -o: expected no file, got {os.listdir()}")

    def expect_test_fails(self, via, *options):
        got = run("--test", "-k", key, *options, data=self.data, via=via)
        expect_equal((4, b""), (got.code, got.out), f"{self.what}, {via}, --test: exit status and standard output")

    def expect_salvage(self, via, *options):
        """Salvage begins with what is released otherwise, and replaces at most the bytes that are there."""
        got = run("-d", "--salvage", "-k", key, *options, data=self.data, via=via)
        what = f"{self.what}, {via}, --salvage"
        expect_equal(4, got.code, f"{what}: exit status ({got.err.decode()})")
        if self.exact:
            expect_same(self.released[via], got.out[: len(self.released[via])], what)
        if len(got.out) > len(self.data):
            fail(f"{what}: expected at most {len(self.data)} bytes, got {len(got.out)}")


def spread(cases, count):
    """At most that many of the cases, evenly spaced."""
    return cases[:: -(-len(cases) // count)]


def expect_all(cases, everywhere=False):
    """Reads each changed file from a pipe and a file, with small and large chunks in turn, on CPU lanes in turn or, with
    everywhere=True, on all except the reference lane. CUDA lanes read a few. Each is also read with an output file,
    --test or --salvage."""
    cases = list(cases)
    cpu = [lanes for lanes in LANES if not lanes.startswith("cuda")]
    for k, lanes in enumerate(LANES):
        if everywhere and lanes == "reference":
            continue
        some = cases if everywhere or lanes not in cpu else cases[k :: len(cpu)]
        if lanes not in cpu:
            some = spread(some, 4)
        elif slow:
            some = spread(some, 30)
        for i, case in enumerate(some):
            options = ["-l", lanes, *(["-b", "16K"], [])[(i + k) % 2]]
            for via in VIAS:
                case.expect(via, *options)
            other_way = (case.expect_no_output_file, case.expect_test_fails, case.expect_salvage)[(i + k) % 3]
            other_way(VIAS[i // 3 % 2], *options)
