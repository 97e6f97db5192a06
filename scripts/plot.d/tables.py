"""The tables of the documents, by name."""

import re

import conclusions
import part_tables
from inputs import group
from results import (GI, GPUAGE, NOT_MEASURED, OURS, RIVALS, cpu_name, cpu_of, duration, lanes_of, lanes_rate_of, markdown, median_of, named, on_disk,
                     rate_of, size_of, time_of, with_machine)
from style import size_name, title_of

# The run -------------------------------------------------------------------------------------------


def run_table(run):
    names = run.facts_of("GPU")
    cpu = ", ".join(filter(None, (cpu_name(run), run.fact("topology") or f"{run.fact('CPUs')} CPUs")))
    commands = run.facts_of("command")
    rows = [("date", ", ".join(run.facts_of("date"))), ("commit", f"`{run.fact('commit')[:12]}`"),
            ("command", f"`{OF_A_CALL.sub('', commands[0])}`{f', in {len(commands)} calls' * (len(commands) > 1)}" if commands else ""),
            ("CPU", f"{cpu}; {run.fact('extensions')}"), ("virtual machine", run.fact("virtual machine")),
            ("caches", run.fact("caches")), ("memory", run.fact("memory")), ("disk", run.fact("disk"))]
    if names:
        count = f"{len(names)} × " if len(names) > 1 else ""
        rows.append(("GPU", f"{count}{names[0]}, {run.fact('GPU memory')}, {run.fact('link')}, driver {run.fact('driver')}"))
    rows += [("Linux", run.fact("Linux")), ("other programs", "; ".join(filter(None, (version(run, rival) for rival in RIVALS)))),
             ("from other runs", "; ".join(run.facts_of("other run"))),
             ("left out", "; ".join(OPTIONS.sub("", text) for text in run.facts_of("left out") + run.facts_of("failed")))]
    return markdown(["", ""], [row for row in rows if row[1]], align="---")


OF_A_CALL = re.compile(r" --(time|commit|parts) \S+")  # options that may differ between calls for one folder
OPTIONS = re.compile(r" --[^:]*")  # of a command


def version(run, rival):
    """age prints only a number; OpenSSL prints its version twice."""
    text = run.fact(rival).partition(" (Library")[0]
    return f"{rival} {text}" if text[:1].isdigit() else text


def commands_table(run):
    """How each program was called, by the name that tables have for it."""
    here = [row for row in run.of_part("rivals") if "auto" in (row["lanes"] or "auto")]
    here.sort(key=lambda row: (row["action"] == "decrypt", row["program"] != OURS))
    rows = {f"{name_of(row)}{', decryption' * (row['action'] == 'decrypt')}": f"`{re.sub('(?<=--stats )[^ ]+', 'FILE', row['command'])}`" for row in here}
    return markdown(["", "command"], rows.items(), align="---")


# Programs ------------------------------------------------------------------------------------------


OUR_COLUMNS = (("aes-256", "sealed"), ("chacha20-poly1305", "age"), ("aes-256", "raw"), ("kuznyechik", "sealed"))


def name_of(row):
    """The format for this program; the name of another one."""
    if row["program"] != OURS:
        return f"`{row['program']}`"
    return f"{'Kuznyechik ' * (row['cipher'] == 'kuznyechik')}{row['format']}{' format' * (row['format'] == 'age')}"


def programs_row(title, here, others, action="encrypt", show=rate_of):
    """The rates of this program's formats, and of other programs."""
    ours = [named(here, program=OURS, cipher=cipher, format=form, action=action) for cipher, form in OUR_COLUMNS]
    return [title, *map(show, [*ours, *(named(here, program=other, action=action) for other in others)])]


def programs_table(rows, others):
    headings = [name_of({"program": OURS, "cipher": cipher, "format": form}) for cipher, form in OUR_COLUMNS]
    return markdown(["GB/s", *headings, *(f"`{other}`" for other in others)], [row for row in rows if any(row[1:])])


def rivals_table(run):
    """All programs with the same input, which takes a row. The formats that have no rival are in other tables."""
    rows, others = [], (GPUAGE, *RIVALS)
    for action, ending in (("encrypt", ""), ("decrypt", ", decryption")):
        for part, where in (("output", "file to file, "), ("pipe", "between two pipes, "), ("cold", "cold file, "), ("rivals", "")):
            for (case,), here in group(run.of_part(part), "case").items():
                here = [row for row in here if row["lanes"] in ("", lanes_of(case)) and is_shown(row)]
                if any(row["program"] in RIVALS and row["action"] == action for row in here):
                    rows.append(programs_row(f"{where}{case}{ending}", here, others, action))
    return programs_table(rows, others)


def summary_table(run):
    """The README's table: medians of this program's authenticated formats next to others, and a sentence about the machine."""
    pipe, others = run.of_part("pipe"), ("age", "openssl")
    cases = [(f"{size_of(on_disk(run))} file to file, on a disk", on_disk(run)),
             (f"{size_of(pipe)} between two pipes", [row for row in pipe if row["lanes"] in ("", "auto")])]
    cases += [(f"{size_of(here)} in the page cache, {here[0]['case'].partition(', ')[2]}", here)
              for here in (run.on_cpus(count) for count in (1, run.fact("CPUs"))) if here]
    return with_machine(run, programs_table(
        [programs_row(title, [row for row in here if is_shown(row)], others, show=median_of) for title, here in cases], others))


def file_table(run):
    """A row for each format, and a column for each choice of lanes; with cuda:0, another one without the time in which CUDA
    starts and ends."""
    here, rows = run.of_part("file"), []
    for (cipher, form, action), of_form in group([row for row in here if row["program"] == OURS], "cipher", "format", "action").items():
        cpu, cuda, auto = (named(of_form, lanes=lanes) for lanes in ("cpu", "cuda:0", "auto"))
        name = name_of({"program": OURS, "cipher": cipher, "format": form})
        rows.append([f"{name}{', decryption' * (action == 'decrypt')}", rate_of(cpu), rate_of(cuda), lanes_rate_of(cuda), rate_of(auto)])
    return markdown([f"{size_of(here)}, GB/s", "CPU lanes", "`-l cuda:0`", "without CUDA startup and exit", "`-l auto`"], rows)


def pipe_table(run):
    here = run.of_part("pipe")
    rows = [[f"{name_with_lanes(row)}{', decryption' * (row['action'] == 'decrypt')}", rate_of(row), cpu_of(row)] for row in here]
    return markdown([size_of(here), "GB/s", "CPU s/GB"], rows)


def output_table(run):
    """File to file: a row for each program."""
    return table_by_case("file to file", run.of_part("output"), name_with_lanes,
                         {"{}: GB/s": rate_of, "CPU s/GB": cpu_of, "cached afterward, GiB": cached_of})


def table_by_case(title, rows, name_of_row, columns):
    """A row for each name. Each case has all columns: a heading, with {} for the case, and what is shown of a row."""
    cases, names = (dict.fromkeys(map(key, rows)) for key in (lambda row: row["case"], name_of_row))
    found = {(name_of_row(row), row["case"]): row for row in rows}
    return markdown([title, *(heading.format(case) for case in cases for heading in columns)],
                    [[name, *(show(found.get((name, case))) for case in cases for show in columns.values())] for name in names])


def cached_of(row):
    """How much of its files a program left in the page cache, if that was measured."""
    return f"{int(row['cached_bytes']) / GI:.1f}" if row and row.get("cached_bytes") else ""


def many_table(run):
    """Many files: a row for each way to encrypt them."""
    return table_by_case("", run.of_part("many"), way_of, {"{}": time_of, "CPU time": cpu_time_of})


def way_of(row):
    program, _, way = row["program"].partition(", ")
    return f"`{program}{' --output-dir' * (way == 'one run')}`, {way}"


def cpu_time_of(row):
    return duration(float(row["cpu_seconds"])) if row else ""


def cpu_seconds_table(run):
    """CPU seconds per GB of sealed and age files and of other programs, for each kind of input."""
    same, files, cold, pipe = run.on_cpus(run.fact("CPUs")), run.of_part("file"), run.of_part("cold"), run.of_part("pipe")
    inputs = {f"in the page cache, {size_of(same)}": same, f"in the page cache, {size_of(files)}": files,
              f"cold, {size_of(cold)}": cold, f"between two pipes, {size_of(pipe)}": pipe}
    shown = [(name, row) for name, rows in inputs.items() for row in rows if is_shown(row) and row["action"] in ("encrypt", "copy")]
    shown.sort(key=lambda each: (each[1]["action"] == "copy", each[1]["program"] != OURS))
    cells = {(name, name_with_lanes(row)): cpu_of(row) for name, row in shown}
    names = dict.fromkeys(name for _, name in cells)
    return markdown(["CPU s/GB", *inputs], [[name, *(cells.get((each, name), "") for each in inputs)] for name in names])


def is_shown(row):
    return row["cipher"] != "kuznyechik" and row["format"] != "raw"


def name_with_lanes(row):
    return f"{name_of(row)}, `-l {row['lanes']}`" if row["program"] == OURS else name_of(row)


def operations_table(run):
    """A table for each format."""
    tables = []
    for here in group(run.of_part("operations"), "format").values():
        rows = []
        for (action,), of_action in group(here, "action").items():
            cpu, cuda = (named(of_action, lanes=lanes) for lanes in ("cpu", "cuda:0"))
            rows.append([ACTIONS.get(action, action), time_of(cpu), time_of(cuda)])
        if here[0]["format"]:
            tables.append(markdown([f"{here[0]['format']} {size_of(here)} file", "CPU lanes", "`-l cuda:0`"], rows))
    return "\n\n".join(tables) or NOT_MEASURED


ACTIONS = {"decrypt": "decryption to `/dev/null`", "test": "`--test`", "salvage": "`--salvage`, nothing damaged",
           "salvage, damaged": "`--salvage`, one segment in 1000 damaged",
           "range of 1 MiB in the middle": "`--range`, 1 MiB in the middle",
           "range of 3/4 in the middle": "`--range`, three quarters in the middle"}


def costs_table(run):
    """Times of whole processes."""
    rows = []
    for row in run.of_part("costs"):
        name = f"{name_with_lanes(row) if row['lanes'] else name_of(row)}{', decryption' * (row['action'] == 'decrypt')}"
        if "passphrase" in row["case"]:
            name = f"{row['action']}ion with a passphrase"
        elif "rekey" in row["case"]:
            name = "`--rekey` in place" if row["action"] == "rekey" else "`cp` and `sync`"
        rows.append([f"{size_name(int(row['bytes']))}: {name}", time_of(row)])
    return markdown(["", "time"], rows)


def kind_of(cipher, form):
    return form if cipher == "chacha20-poly1305" else f"{title_of(cipher)} {form}"


def cpus_table(run, *ciphers):
    rows = []
    cases = group(run.of_part("cpus"), "cipher", "format", "case")
    for (cipher, form, case), here in sorted(cases.items(), key=lambda each: ciphers.index(each[0][0]) if each[0][0] in ciphers else -1):
        cpu, cuda, auto = (next((row for row in here if row["lanes"].startswith(lanes)), None) for lanes in ("cpu", "cuda", "auto"))
        if cipher in ciphers:
            rows.append([f"{kind_of(cipher, form)}, {size_of(here)}, {case.partition(',')[0]}",
                         *map(rate_of, (cpu, cuda, auto)), *map(cpu_of, (cpu, cuda))])
    return markdown(["GB/s", "CPU lanes", "`-l cuda:0`", "`-l auto`", "CPU s/GB: CPU lanes", "`-l cuda:0`"], rows)


def cpus_cases(run):
    """(cipher, format, count, rows of CPU lanes, CUDA lanes and -l auto) where all three were measured."""
    for (cipher, form, case), here in group(run.of_part("cpus"), "cipher", "format", "case").items():
        by_lanes = {row["lanes"].partition(":")[0]: row for row in here}
        if by_lanes.keys() == {"cpu", "cuda", "auto"}:
            yield cipher, form, case.partition(",")[0], *(by_lanes[lanes] for lanes in ("cpu", "cuda", "auto"))


def auto_sentence(run):
    """How -l auto compares with the faster of its choices."""
    shares = [auto["rate"] / max(cpu["rate"], cuda["rate"]) for *_, cpu, cuda, auto in cpus_cases(run)]
    return (f"Here and with [age files](#age-files), `-l auto` reaches {min(shares):.0%} to {max(shares):.0%} of the rate of CPU lanes or of "
            "`-l cuda:0`, whichever is faster." if shares else NOT_MEASURED)


def pays_table(run, step=1):
    """From which size a file takes less time with cuda:0, calculated from the rates and the startup of both."""
    sizes, counts = {}, {}
    for cipher, form, count, cpu, cuda, _ in cpus_cases(run):
        kind = kind_of(cipher, form)
        per_byte = [float(row["lanes_seconds"]) / int(row["bytes"]) for row in (cpu, cuda)]
        startup = [float(row["seconds"]) - float(row["lanes_seconds"]) for row in (cpu, cuda)]
        saved = per_byte[0] - per_byte[1]
        sizes.setdefault(kind, {})[count] = f"{(startup[1] - startup[0]) / saved / 1e9:.2g} GB" if saved > 0 else "never"
        counts[count] = None
    columns = list(counts)[::step]
    return markdown(["a GPU is faster from", *columns],
                    [[kind, *(found.get(count, "") for count in columns)] for kind, found in sizes.items()])


def processes_table(run):
    """Times by the number of processes; one process writes one file."""
    here = run.of_part("processes")
    columns = {"parts": "`gpuaes-parts seal` and `join`", "files": "`-d --part I/N`, N files", "--into": "`-d --part I/N --into`"}
    alone = [named(here, program=program) for program in (OURS, f"{OURS} -d -o")]
    rows = [["1 process: `gpuaes-stream -o`", time_of(alone[0]), time_of(alone[1]), ""]]
    counts = dict.fromkeys(int(found[1]) for row in here for found in [re.search(r", (\d+) process", row["program"])] if found)
    rows += [[f"{count} processes", *(time_of(named(here, program=f"{name}, {count} processes")) for name in columns)] for count in counts]
    return markdown([f"{size_of(here)} in memory", *columns.values()], rows if here else [])


TABLES = {
    "run": run_table, "commands": commands_table, "summary": summary_table, "file": file_table, "rivals": rivals_table, "pipe": pipe_table,
    "output": output_table, "cpu-seconds": cpu_seconds_table, "operations": operations_table, "costs": costs_table,
    "auto": auto_sentence, "pays": pays_table, "pays-short": lambda run: pays_table(run, 2),
    "cpus": lambda run: cpus_table(run, "aes-256", "kuznyechik"), "age": lambda run: cpus_table(run, "chacha20-poly1305"),
    "processes": processes_table, "many": many_table, **part_tables.TABLES, **conclusions.TABLES,
}
