"""Large matrices of runs of gpuaes-stream: which cases run on which lane, and how."""

from programs import SANITIZED, each_way, lanes, stream


def thinned(cases, step=5):
    """All cases, or every step-th with sanitizers, which make runs slow."""
    return list(cases)[:: step if SANITIZED else 1]


def on_each_lane(batch, cases, step=5):
    """Pairs each case with each lane, as tuples of the way to run it, the lane and the case. With sanitizers, and on
    CUDA lanes, which start slowly, each lane gets every step-th case."""
    cases, rows, on_gpus = list(cases), [], []
    for k, lane in enumerate(lanes()):
        is_cuda = lane.startswith("cuda")
        some = cases[k % step :: step] if SANITIZED or is_cuda else cases
        assert some, f"no cases for {lane}"
        (on_gpus if is_cuda else rows).extend((lane, case) for case in some)
    return [(run, lane, case) for run, (lane, case) in each_way(batch, rows)] + [(stream, *row) for row in on_gpus]


def dealt_to_lanes(batch, cases):
    """Pairs each case with one lane, in turn, for cases that take long. Returns tuples as on_each_lane() does."""
    names = lanes()
    rows = [(names[(i + i // len(names)) % len(names)], case) for i, case in enumerate(thinned(cases, 3))]
    return [(stream if lane.startswith("cuda") else run, lane, case) for run, (lane, case) in each_way(batch, rows)]
