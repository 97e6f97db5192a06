"""The tables of PERFORMANCE.md and README.md, made of the results of scripts/bench."""

import os
import re

from inputs import BadInput, group, read
from style import size_name, title_of

OURS = "gpuaes-stream"
RIVALS = ("openssl", "age", "gpg", "gost-engine")
MI, GI = 1 << 20, 1 << 30


class Run:
    """The results of one run. A table that was not measured is empty."""

    def __init__(self, folder):
        self.facts = self.read(folder, "run")
        if not self.facts:
            raise BadInput("has no run.csv")
        for name in ("programs", "memory", "ciphers", "pipeline", "links", "limits", "kernels", "keys"):
            setattr(self, name, self.read(folder, name))
        for row in self.programs:
            row["rate"] = int(row["bytes"]) / float(row["seconds"]) / 1e9

    @staticmethod
    def read(folder, name):
        path = os.path.join(folder, f"{name}.csv")
        return read(path)[0] if os.path.exists(path) else []

    def fact(self, name):
        return next((row["value"] for row in self.facts if row["name"] == name), "")

    def facts_of(self, name):
        return [row["value"] for row in self.facts if row["name"] == name]

    def of_part(self, part):
        return [row for row in self.programs if row["part"] == part]

    def find(self, part, **values):
        """The first row of a part with these values."""
        return next((row for row in self.of_part(part) if all(row[name] == value for name, value in values.items())), None)


def significant(number):
    """Three digits: more of them differ from run to run."""
    return f"{number:.0f}" if number >= 99.5 else f"{number:.1f}" if number >= 9.95 else f"{number:.2f}"


def duration(seconds):
    return f"{seconds * 1e3:.3g} ms" if seconds < 0.9995 else f"{seconds:.2f} s"


def rate_of(row):
    return significant(row["rate"]) if row else ""


def time_of(row):
    return duration(float(row["seconds"])) if row else ""


def ratio(row, base):
    return f"{significant(row['rate'] / base['rate'])} ×" if row and base else ""


def markdown(headings, rows, align="---:"):
    """Columns without a value in any row are left out."""
    rows = [[str(field) for field in row] for row in rows]
    used = [i for i in range(len(headings)) if i == 0 or any(row[i] for row in rows)]
    if not rows or len(used) < 2:
        return "Not measured in this run."
    lines = ["| " + " | ".join(headings[i] for i in used) + " |", "|" + "|".join("---" if i == 0 else align for i in used) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row[i] for i in used) + " |" for row in rows])


# The run -------------------------------------------------------------------------------------------


def run_table(run):
    gpus = run.facts_of("GPU")
    rows = [("date", run.fact("date")), ("commit", f"`{run.fact('commit')[:12]}`"), ("command", f"`{run.fact('command')}`"),
            ("CPU", f"{cpu_name(run)}, {run.fact('CPUs')} CPUs; {run.fact('extensions')}"), ("caches", run.fact("caches")),
            ("memory", run.fact("memory"))]
    if gpus:
        count = f"{len(gpus)} × " if len(gpus) > 1 else ""
        rows.append(("GPU", f"{count}{gpus[0]}, {run.fact('GPU memory')}, {run.fact('link')}, driver {run.fact('driver')}"))
    rows += [("Linux", run.fact("Linux")), ("rivals", "; ".join(filter(None, (version(run, rival) for rival in ("openssl", "age", "gpg"))))),
             ("left out", "; ".join(OPTIONS.sub("", text) for text in run.facts_of("left out") + run.facts_of("failed")))]
    return markdown(["", ""], [row for row in rows if row[1]], align="---")


OPTIONS = re.compile(r" --[^:]*")  # of a command


def version(run, rival):
    """age prints only a number, OpenSSL two equal versions."""
    text = run.fact(rival).partition(" (Library")[0]
    return f"{rival} {text}" if text[:1].isdigit() else text


def cpu_name(run):
    return run.fact("CPU").replace("(R)", "").replace("(TM)", "").removesuffix(" Processor")


def machine_name(run):
    gpus = run.facts_of("GPU")
    gpu = f"one {gpus[0]}" if len(gpus) == 1 else f"{len(gpus)} × {gpus[0]}" if gpus else "no GPU"
    return f"{run.fact('CPUs')} CPUs ({cpu_name(run)}), {gpu}"


# Programs ------------------------------------------------------------------------------------------


def case_rows(run, part, case):
    return [row for row in run.of_part(part) if row["case"] == case]


def cases_of(run, part):
    return [case for (case,) in group(run.of_part(part), "case")]


def named(rows, **values):
    return next((row for row in rows if all(row[name] == value for name, value in values.items())), None)


def best_copy(rows):
    return max((row for row in rows if row["program"] == "gpuaes-bench copy"), key=lambda row: row["rate"], default=None)


def summary_table(run):
    """The README's table: whole runs next to rivals, and a sentence on the machine."""
    large = [row for row in run.of_part("file") if row["cipher"] != "kuznyechik"]
    kuznyechik = [row for row in run.of_part("file") if row["cipher"] == "kuznyechik"]
    file = f"file of {size_of(large)} to `/dev/null`"
    rows = [summary_row(title, here, lanes) for title, here, lanes in (
        (file, large, "auto"), (f"{file}, `-l cuda:0`", large, "cuda:0"),
        ("between two pipes", [row for row in run.of_part("pipe") if row["cipher"] != "kuznyechik"], "auto"),
        (f"Kuznyechik, {file}", kuznyechik, "auto"), (f"Kuznyechik, {file}, `-l cuda:0`", kuznyechik, "cuda:0"),
        ("Kuznyechik, between two pipes", [row for row in run.of_part("pipe") if row["cipher"] == "kuznyechik"], "auto"))]
    table = markdown(["GB/s", "sealed", "raw", "decryption", *(f"`{rival}`" for rival in RIVALS)],
                     [row for row in rows if any(row[1:])])
    return f"{table}\n\nMeasured on {run.fact('date')}: {machine_name(run)}."


def summary_row(title, here, lanes):
    ours = [row for row in here if row["program"] == OURS and row["lanes"] == lanes]
    rivals = [rate_of(named(here, program=rival, action="encrypt")) if lanes == "auto" else "" for rival in RIVALS]
    return [title, rate_of(named(ours, format="sealed", action="encrypt")), rate_of(named(ours, format="raw")),
            rate_of(named(ours, action="decrypt")), *rivals]


def size_of(rows):
    return size_name(int(rows[0]["bytes"])) if rows else ""


def file_table(run):
    """A row for each kind of lanes; in each field the whole process and, with CUDA, while lanes had work."""
    rows = []
    for cipher in ("aes-256", "kuznyechik"):
        of_cipher = [row for row in run.of_part("file") if row["program"] == OURS and row["cipher"] == cipher]
        for (lanes,), here in group(of_cipher, "lanes").items():
            raw, sealed = named(here, format="raw"), named(here, format="sealed", action="encrypt")
            opened = named(here, format="sealed", action="decrypt")
            rows.append([f"{title_of(cipher)}, `-l {lanes}`", *map(both_rates, (raw, sealed, opened))])
    others = [row for row in run.of_part("file") if row["program"] != OURS]
    rows += [[f"`{row['program']}`" + (f", {row['lanes'].partition(':')[2]} threads" if row["action"] == "read" else ""),
              rate_of(row)] + ["", ""] for row in others]
    return markdown(["GB/s", "raw", "sealed", "decryption of sealed"], rows)


def both_rates(row):
    """The rate of the whole process, and in parentheses without the start and end of CUDA."""
    if not row:
        return ""
    if "cuda" not in row["lanes"] or not row["lanes_seconds"]:
        return rate_of(row)
    return f"{rate_of(row)} ({significant(int(row['bytes']) / float(row['lanes_seconds']) / 1e9)})"


def rivals_table(run):
    """How many times as fast as each rival, in each case where it ran."""
    rows = []
    for part in ("file", "sizes", "pipe", "output"):
        for case in cases_of(run, part):
            here = case_rows(run, part, case)
            rows += [row for ours in here if ours["program"] == OURS and ours["lanes"] == "auto"
                     for row in rivals_row(f"{PART_NAMES[part]} {case.partition(', AES')[0].partition(', Kuz')[0]}", ours, here)]
    return markdown(["GB/s, or time", OURS, *(f"`{rival}`" for rival in RIVALS)], rows)


PART_NAMES = {"file": "file,", "sizes": "file,", "pipe": "pipes,", "output": "file to file,"}


def rivals_row(where, ours, here):
    """None, or one row. Rivals count that do the same, with the same family of ciphers."""
    rivals = [row for row in here if row["program"] in RIVALS and row["action"] == ours["action"] and
              (row["program"] == "gost-engine") == (ours["cipher"] == "kuznyechik")]
    if not rivals:
        return []
    value = time_of if int(ours["bytes"]) < MI else rate_of
    what = (f"{title_of(ours['cipher'])} " if ours["cipher"] == "kuznyechik" else "") + ours["format"]
    if ours["action"] == "decrypt":
        what += ", decryption"
    fields = [f"{value(rival)} ({ratio(ours, rival)})" if rival else ""
              for rival in (named(rivals, program=name) for name in RIVALS)]
    return [[f"{where}: {what}", value(ours), *fields]]


def pipe_table(run):
    here = run.of_part("pipe")
    copy, openssl = best_copy(here), named(here, program="openssl")
    rows = []
    for row in here:
        if row["program"] == "gpuaes-bench copy" and row is not copy:
            continue
        action = "" if row["action"] == "encrypt" else ", decryption"
        name = f"{title_of(row['cipher'])} {row['format']}{action}, `-l {row['lanes']}`" if row["program"] == OURS else \
            "a filter that only copies" if row is copy else f"`{row['program']}`"
        rows.append([name, rate_of(row), ratio(row, copy), ratio(row, openssl),
                     f"{float(row['cpu_seconds']) / int(row['bytes']) * 1e9:.2f}"])
    return markdown([f"{size_of(here)}", "GB/s", "of a copy", "of `openssl`", "CPU s/GB"], rows)


def operations_table(run):
    rows = []
    here = run.of_part("operations")
    for (action,), of_action in group(here, "action").items():
        cpu, cuda = (next((row for row in of_action if row["lanes"] == lanes), None) for lanes in ("cpu", "cuda:0"))
        rows.append([ACTIONS.get(action, action), time_of(cpu or (of_action[0] if not cuda else None)), time_of(cuda)])
    return markdown([f"sealed file of {size_of(here)}", "CPU lanes", "`-l cuda:0`"], rows)


ACTIONS = {"decrypt": "decryption to `/dev/null`", "test": "`--test`", "salvage": "`--salvage`, nothing damaged",
           "salvage, damaged": "`--salvage`, one segment in 1000 damaged", "range of 1 MiB at the end": "`--range`, 1 MiB at the end",
           "range of 3/4 in the middle": "`--range`, three quarters in the middle", "info": "`--info`"}


def costs_table(run):
    """Times of whole processes that do not depend on a lane."""
    rows = []
    for case in ("1 KiB",):
        for row in case_rows(run, "sizes", case):
            action = {"encrypt": "", "decrypt": ", decryption"}[row["action"]]
            name = f"{title_of(row['cipher'])} {row['format']}{action}" if row["program"] == OURS else f"`{row['program']}`{action}"
            rows.append([f"{case}, {name}", time_of(row)])
    for row in run.of_part("passphrase"):
        rows.append([f"1 KiB, {row['action']}ion with a passphrase", time_of(row)])
    for row in run.of_part("rekey"):
        rows.append([f"{size_of([row])}, " + ("`--rekey` in place" if row["action"] == "rekey" else "`cp` and `sync`"), time_of(row)])
    return markdown(["", "time"], rows)


def output_table(run):
    rows = []
    for part in ("output", "cold"):
        for case in cases_of(run, part):
            here = case_rows(run, part, case)
            copy = named(here, action="copy")
            for row in here:
                where = f"{case.partition(',')[0]}, {size_of([row])}" if part == "output" else f"not in the page cache, {size_of([row])}"
                name = row["format"] if row["program"] == OURS else f"`{row['program']}`"
                rows.append([f"{where}: {name}", rate_of(row), ratio(row, copy)])
    return markdown(["", "GB/s", "of the copy"], rows)


def cpus_table(run):
    rows = []
    for (case,), here in group(run.of_part("cpus"), "case").items():
        cpu, cuda, auto = (next((row for row in here if row["lanes"].startswith(lanes)), None) for lanes in ("cpu", "cuda", "auto"))
        name = case.replace("aes-256", "AES-256").replace("kuznyechik", "Kuznyechik")
        rows.append([name, *map(rate_of, (cpu, cuda, auto))])
    rows.sort(key=lambda row: row[0].partition(", ")[2])
    return markdown([f"GB/s, whole process, {size_of(run.of_part('cpus'))}", "CPU lanes", "`-l cuda:0`", "`-l auto`"], rows)


# Parts ---------------------------------------------------------------------------------------------


def memory_table(run):
    sizes = list(dict.fromkeys(int(row["bytes"]) for row in run.memory))
    rows = []
    for (lanes, source), here in group(run.memory, "lanes", "source").items():
        peaks = {int(row["bytes"]): f"{int(row['peak_rss_bytes']) / MI:.1f}" for row in here}
        rows.append([f"`-l {lanes}`, {source}", *(peaks.get(size, "") for size in sizes)])
    return markdown(["peak memory, MiB", *map(size_name, sizes)], rows)


def ciphers_table(run):
    rows = []
    for (cipher, mode, chunk), here in group(run.ciphers, "cipher", "mode", "chunk_bytes").items():
        rates = {int(row["threads"]): float(row["gb_per_s"]) for row in here}
        rows.append([f"{title_of(cipher)}, {mode}, chunks of {size_name(int(chunk))}", *(significant(rates[count]) for count in sorted(rates))])
    counts = sorted({int(row["threads"]) for row in run.ciphers})
    return markdown(["GB/s", *(f"{count} thread{'s' * (count > 1)}" for count in counts)], rows)


def pipeline_table(run):
    rows = []
    for row in run.pipeline:
        if int(row["chunk_bytes"]) not in CHUNKS:
            continue
        rows.append([f"{row['format']}, `{row['lanes']}`, {size_name(int(row['chunk_bytes']))}",
                     *(significant(float(row[name])) for name in ("gb_per_s", "lane_us", "cipher_us", "wait_us", "rest_us"))])
    return markdown(["format, lanes, chunk", "GB/s", "µs per chunk", "cipher", "waiting", "rest"], rows)


CHUNKS = (256 << 10, 1 << 20)  # what CPU lanes use for pipes and files


def links_table(run):
    """Each device and size has three rates: to the device, from the device, both at once."""
    rates = [row for row in run.links if row["unit"] == "GB/s"]
    rows = []
    for (device, size), here in group(rates, "device", "bytes").items():
        if len(here) >= 3:
            rows.append([f"{device}, copies of {size_name(int(size))}", *(significant(float(row["value"])) for row in here[:3])])
    return markdown(["GB/s", "to the device", "from the device", "both at once, each way"], rows)


def limits_table(run):
    return markdown(["", "", ""], [[row["what"], significant(float(row["value"])), row["unit"]] for row in run.limits])


MODES = {"ctr": "counter mode", "seal": "sealing", "open": "opening"}
FILTER_KERNELS = ("bitslice", "ttable")
TABLES_OF = {"sbox": "S-box", "ttable1": "one T-table", "ttable4": "four T-tables", "ls": "LS tables"}


def kernels_table(run):
    """The filter's kernels: the largest launches, and launches of the size that lanes make."""
    rows = []
    ciphers = ("aes-128", "aes-192", "aes-256", "kuznyechik")
    for kernel in FILTER_KERNELS:
        for mode, text in MODES.items():
            fields = []
            for cipher in ciphers:
                rates = {int(row["bytes"]): float(row["gb_per_s"]) for row in run.kernels
                         if (row["variant"], row["cipher"], row["mode"]) == (kernel, cipher, mode)}
                fields.append(" / ".join(f"{rates[size]:.0f}" for size in (GI, 4 * MI) if size in rates))
            if any(fields):
                rows.append([f"`{kernel}`, {text}", *fields])
    return markdown(["GB/s, launches of 1 GiB / 4 MiB", *map(title_of, ciphers)], rows)


def variants_table(run):
    """All kernels in counter mode, by where their tables are; and what limits each."""
    here = {}
    for row in run.kernels:
        if row["mode"] == "ctr" and row["copies"] == "no" and int(row["bytes"]) == 256 * MI:
            here.setdefault(row["cipher"], []).append(row)
    rows = []
    for cipher in ("aes-256", "kuznyechik"):
        for row in sorted(here.get(cipher, []), key=lambda row: -float(row["gb_per_s"])):
            rows.append([f"{title_of(cipher)}, `{row['variant']}`", significant(float(row["gb_per_s"])), row["limit"],
                         significant(float(row["limit_gb_per_s"])) if row["limit_gb_per_s"] else "",
                         f"{float(row['share_of_limit']):.0%}" if row["share_of_limit"] else "", row["registers"],
                         row["resident_warps"]])
    return markdown(["launches of 256 MiB", "GB/s", "limited by", "limit, GB/s", "reached", "registers", "warps"], rows)


def keys_table(run):
    rows = []
    for row in run.keys:
        rates = [float(row[f"{key}_gb_per_s"]) for key in ("zeros", "ones", "random")]
        rows.append([f"`{row['variant']}`, {title_of(row['cipher'])}, {MODES.get(row['mode'], row['mode'])}", *map(significant, rates),
                     f"{float(row['keys_spread_percent']):.2f} %", f"{float(row['one_key_spread_percent']):.2f} %"])
    return markdown(["GB/s with a key of", "zeros", "ones", "random bits", "spread of keys", "spread of one key"], rows)


TABLES = {
    "run": run_table, "summary": summary_table, "file": file_table, "rivals": rivals_table, "pipe": pipe_table,
    "operations": operations_table, "costs": costs_table, "output": output_table, "cpus": cpus_table, "memory": memory_table,
    "ciphers": ciphers_table, "pipeline": pipeline_table, "links": links_table, "limits": limits_table,
    "kernels": kernels_table, "variants": variants_table, "keys": keys_table,
}
