"""The timeline of a trace: what each lane does, and when."""

import re

from inputs import BadInput, number, spans_of_trace
from style import BLACK, BLUE, GRAY, GREEN, LIGHT, ORANGE, PURPLE, SKY, VERMILION, entitle, plain

COLUMNS = {"track", "what", "start_us", "length_us"}
COLORS = {"read": SKY, "cipher": BLUE, "kernel": BLUE, "write": VERMILION, "enqueue": BLACK, "device": GREEN, "H2D": ORANGE, "D2H": PURPLE,
          "wait": LIGHT, "queue": LIGHT}
MAX_LANES = 3
VISIBLE = 1 / 400  # of the width: what never takes longer is not shown
NAMES = {"enqueue": "start the job", "device": "wait for the job", "queue": "in the device's queue", "H2D": "copy to the device",
         "D2H": "copy from the device"}


def draw(plt, rows, save, _):
    """The part of a trace that scripts/bench keeps."""
    spans = [(row["track"], row["what"], number(row["start_us"]) / 1e3, number(row["length_us"]) / 1e3) for row in rows]
    draw_spans(plt, spans, save)


def draw_trace(plt, events, save):
    draw_spans(plt, spans_of_trace(events), save)


def lane_of(track):
    found = re.match(r"lane \d+", track)
    return found.group() if found else track


def draw_spans(plt, spans, save):
    spans = [span for span in spans if span[3] > 0]
    if not spans:
        raise BadInput("has nothing that took time")
    end = max(start + length for _, _, start, length in spans)
    lanes = list(dict.fromkeys(lane_of(track) for track in sorted({span[0] for span in spans}, key=natural)))[:MAX_LANES]
    tracks = [track for track in sorted({span[0] for span in spans}, key=natural) if lane_of(track) in lanes]
    rows = {track: i + 0.4 * lanes.index(lane_of(track)) for i, track in enumerate(tracks)}
    figure, axis = plt.subplots(figsize=(9, 1 + 0.26 * (len(tracks) + 0.4 * len(lanes))))
    bars = {}
    for track, what, start, length in spans:
        if track in rows:
            bars.setdefault(what, {}).setdefault(track, []).append((start, length))
    handles = []
    for what, by_track in bars.items():
        if max(length for here in by_track.values() for _, length in here) < VISIBLE * end:
            continue
        color = COLORS.get(what, GRAY)
        handles.append(plt.Rectangle((0, 0), 1, 1, label=plain(NAMES.get(what, what)), facecolor=color))
        for track, here in by_track.items():
            axis.broken_barh(here, (rows[track] - 0.42, 0.84), facecolor=color, edgecolor="white", linewidth=0.3)
    axis.set_yticks(list(rows.values()), [plain(track) for track in rows])
    axis.invert_yaxis()
    axis.set_xlim(0, end)
    axis.set_xlabel("milliseconds")
    entitle(figure, longest_of(bars))
    axis.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1), ncol=5, fontsize=8, frameon=False)
    save(figure, "timeline")


def longest_of(bars):
    """What lanes do most of the time."""
    seconds = {what: sum(length for here in by_track.values() for _, length in here) for what, by_track in bars.items()}
    longest = max(seconds, key=seconds.get)
    return f"Lanes spend most of their time on '{NAMES.get(longest, longest)}'{'; copies and kernels run meanwhile' * ('kernel' in bars)}"


def natural(text):
    """Sorts lane 10 after lane 9."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", text)]
