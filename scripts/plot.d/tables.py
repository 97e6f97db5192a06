"""The tables of the documents, by name."""

import re

import conclusions
import part_tables
from inputs import group
from results import (MI, NOT_MEASURED, OURS, both_rates, cpu_name, cpu_of, markdown, named, rate_of, ratio, size_of, time_of,
                     with_machine)
from style import title_of

RIVALS = ("openssl", "age", "rage", "gpg", "gost-engine")


# The run -------------------------------------------------------------------------------------------


def run_table(run):
    names = run.facts_of("GPU")
    rows = [("date", run.fact("date")), ("commit", f"`{run.fact('commit')[:12]}`"), ("command", f"`{run.fact('command')}`"),
            ("CPU", f"{cpu_name(run)}, {run.fact('CPUs')} CPUs; {run.fact('extensions')}"), ("caches", run.fact("caches")),
            ("memory", run.fact("memory"))]
    if names:
        count = f"{len(names)} × " if len(names) > 1 else ""
        rows.append(("GPU", f"{count}{names[0]}, {run.fact('GPU memory')}, {run.fact('link')}, driver {run.fact('driver')}"))
    rows += [("Linux", run.fact("Linux")), ("other programs", "; ".join(filter(None, (version(run, rival) for rival in ("openssl", "age", "rage", "gpg"))))),
             ("left out", "; ".join(OPTIONS.sub("", text) for text in run.facts_of("left out") + run.facts_of("failed")))]
    return markdown(["", ""], [row for row in rows if row[1]], align="---")


OPTIONS = re.compile(r" --[^:]*")  # of a command


def version(run, rival):
    """age prints only a number; OpenSSL prints its version twice."""
    text = run.fact(rival).partition(" (Library")[0]
    return f"{rival} {text}" if text[:1].isdigit() else text


# Programs ------------------------------------------------------------------------------------------


def summary_table(run):
    """The README's table: whole runs next to other programs, and a sentence about the machine."""
    rows = []
    for prefix, kuznyechik in (("", False), ("Kuznyechik, ", True)):
        file, pipe = ([row for row in run.programs if part in (row["part"], row["case"].partition(",")[0]) and
                       (row["cipher"] == "kuznyechik") == kuznyechik] for part in ("file", "pipe"))
        title = f"{prefix}{size_of(file)} file to `/dev/null`"
        rows += [summary_row(title, file, "auto"), summary_row(f"{title}, `-l cuda:0`", file, "cuda:0"),
                 summary_row(f"{prefix}between two pipes", pipe, "auto")]
    table = markdown(["GB/s", "sealed", "raw", "decryption", "age format", *(f"`{rival}`" for rival in RIVALS)],
                     [row for row in rows if any(row[1:])])
    return with_machine(run, table)


def summary_row(title, here, lanes):
    ours = [row for row in here if row["program"] == OURS and row["lanes"] == lanes]
    rivals = [rate_of(named(here, program=rival, action="encrypt")) if lanes == "auto" else "" for rival in RIVALS]
    return [title, rate_of(named(ours, format="sealed", action="encrypt")), rate_of(named(ours, format="raw")),
            rate_of(named(ours, format="sealed", action="decrypt")), rate_of(named(ours, format="age", action="encrypt")),
            *rivals]


def file_table(run):
    """A row for each choice of lanes: rates of the whole process and, with CUDA, of the time when lanes had work."""
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
    return markdown(["GB/s", "raw", "sealed", "sealed, decryption"], rows)


def rivals_table(run):
    """The speed relative to each rival, in each case where the rival ran."""
    rows = []
    for part in ("file", "sizes", "pipe", "output"):
        for (case,), here in group(run.of_part(part), "case").items():
            rows += [row for ours in here if ours["program"] == OURS and ours["lanes"] == "auto"
                     for row in rivals_row(f"{PART_NAMES[part]} {case.partition(', AES')[0].partition(', Kuz')[0]}", ours, here)]
    return markdown(["GB/s, or time", OURS, *(f"`{rival}`" for rival in RIVALS)], rows)


PART_NAMES = {"file": "file,", "sizes": "file,", "pipe": "pipes,", "output": "file to file,"}


def rivals_row(where, ours, here):
    """None, or one row. Rivals count only if they do the same thing with the same family of ciphers."""
    rivals = [row for row in here if row["program"] in RIVALS and row["action"] == ours["action"] and
              (row["program"] == "gost-engine") == (ours["cipher"] == "kuznyechik")]
    if not rivals:
        return []
    what = (f"{title_of(ours['cipher'])} " if ours["cipher"] == "kuznyechik" else "") + ours["format"]
    if ours["action"] == "decrypt":
        what += ", decryption"
    return [[f"{where}: {what}", value_of(ours), *(next_to(ours, named(rivals, program=name)) for name in RIVALS)]]


def value_of(row):
    return time_of(row) if int(row["bytes"]) < MI else rate_of(row)


def next_to(ours, rival):
    """The rival's value, and how many times as fast this program is."""
    return f"{value_of(rival)} ({ratio(ours, rival)})" if rival else ""


def age_table(run):
    """A row for each case and choice of lanes: this program next to the others that read and write age files."""
    rows = []
    for (case, action), here in group(run.of_part("age"), "case", "action").items():
        rivals = [named(here, program=name) for name in RIVALS]
        rows += [[f"{case}: {action}ion, `-l {ours['lanes']}`", value_of(ours), *(next_to(ours, rival) for rival in rivals),
                  *map(cpu_of, (ours, *rivals))] for ours in here if ours["program"] == OURS]
    names = [OURS, *(f"`{name}`" for name in RIVALS)]
    return markdown(["age format: GB/s, or time", *names, *(f"CPU s/GB, {name}" for name in names)], rows)


def pipe_table(run):
    here = run.of_part("pipe")
    copies = [row for row in here if row["program"] == "gpuaes-bench copy"]
    copy, openssl = max(copies, key=lambda row: row["rate"], default=None), named(here, program="openssl")
    rows = []
    for row in here:
        if row in copies and row is not copy:
            continue
        action = "" if row["action"] == "encrypt" else ", decryption"
        name = f"{title_of(row['cipher'])} {row['format']}{action}, `-l {row['lanes']}`" if row["program"] == OURS else \
            "a filter that only copies" if row is copy else f"`{row['program']}`"
        rows.append([name, rate_of(row), ratio(row, copy), ratio(row, openssl), cpu_of(row)])
    return markdown([f"{size_of(here)}", "GB/s", "vs. a copy", "vs. `openssl`", "CPU s/GB"], rows)


def cpu_seconds_table(run):
    """The rate and the CPU time of sealing with AES and of other programs, for each kind of input."""
    parts = {"file": "file in the page cache", "cold": "file not in the page cache", "pipe": "between two pipes"}
    here = {part: [row for row in run.of_part(part) if is_sealed_or_other(row)] for part in parts}
    names = list(dict.fromkeys(name_with_lanes(row) for rows in here.values() for row in rows))
    cells = {(part, name_with_lanes(row)): [rate_of(row), cpu_of(row)] for part, rows in here.items() for row in rows}
    return markdown(["", *(heading for part in parts.values() for heading in (f"{part}, GB/s", "CPU s/GB"))],
                    [[name, *(cell for part in parts for cell in cells.get((part, name), ["", ""]))] for name in names])


def is_sealed_or_other(row):
    if row["cipher"] == "kuznyechik" or row["program"] == "gpuaes-bench copy":
        return False
    return row["action"] in ("encrypt", "copy") and (row["program"] != OURS or row["format"] in ("sealed", "age"))


def name_with_lanes(row):
    return f"{row['format']}, `-l {row['lanes']}`" if row["program"] == OURS else f"`{row['program']}`"


def operations_table(run):
    """A table for each format."""
    tables = []
    for here in group(run.of_part("operations"), "case").values():
        rows = []
        for (action,), of_action in group(here, "action").items():
            cpu, cuda = (named(of_action, lanes=lanes) for lanes in ("cpu", "cuda:0"))
            rows.append([ACTIONS.get(action, action), time_of(cpu or (of_action[0] if not cuda else None)), time_of(cuda)])
        tables.append(markdown([f"{here[0]['format']} {size_of(here)} file", "CPU lanes", "`-l cuda:0`"], rows))
    return "\n\n".join(tables) or NOT_MEASURED


ACTIONS = {"decrypt": "decryption to `/dev/null`", "test": "`--test`", "info": "`--info`",
           "salvage": "`--salvage`, nothing damaged", "salvage, damaged": "`--salvage`, one segment in 1000 damaged",
           "range of 1 MiB at the end": "`--range`, 1 MiB at the end",
           "range of 1 MiB in the middle": "`--range`, 1 MiB in the middle",
           "range of 3/4 in the middle": "`--range`, three quarters in the middle"}


def costs_table(run):
    """Times of whole processes that do not depend on a lane."""
    rows = []
    for row in [row for row in run.of_part("sizes") if row["case"] == "1 KiB"]:
        action = {"encrypt": "", "decrypt": ", decryption"}[row["action"]]
        name = f"{title_of(row['cipher'])} {row['format']}{action}" if row["program"] == OURS else f"`{row['program']}`{action}"
        rows.append([f"1 KiB, {name}", time_of(row)])
    for row in run.of_part("passphrase"):
        rows.append([f"1 KiB, {row['action']}ion with a passphrase", time_of(row)])
    for row in run.of_part("rekey"):
        rows.append([f"{row['case']}, " + ("`--rekey` in place" if row["action"] == "rekey" else "`cp` and `sync`"), time_of(row)])
    return markdown(["", "time"], rows)


def cpus_table(run):
    rows = []
    for (case,), here in group(run.of_part("cpus"), "case").items():
        cpu, cuda, auto = (next((row for row in here if row["lanes"].startswith(lanes)), None) for lanes in ("cpu", "cuda", "auto"))
        name = case.replace("aes-256", "AES-256").replace("kuznyechik", "Kuznyechik").replace("chacha20-poly1305 ", "")
        rows.append([name, *map(rate_of, (cpu, cuda, auto))])
    rows.sort(key=lambda row: row[0].partition(", ")[2])
    return markdown([f"GB/s, whole process, {size_of(run.of_part('cpus'))}", "CPU lanes", "`-l cuda:0`", "`-l auto`"], rows)


TABLES = {
    "run": run_table, "summary": summary_table, "file": file_table, "rivals": rivals_table, "age": age_table, "pipe": pipe_table,
    "cpu-seconds": cpu_seconds_table, "operations": operations_table, "costs": costs_table, "cpus": cpus_table,
    **part_tables.TABLES, **conclusions.TABLES,
}
