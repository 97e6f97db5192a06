"""The tables of the documents, by name."""

import re

from run import GI, MI, MODES, OURS, RIVALS, group, lanes_of, named, significant, size_name, title_of

NOT_MEASURED = "Not measured in this run."  # instead of a table
SPREAD = 0.1  # from the slowest to the fastest run, relative to the median: tables show the range of larger ones
FORMATS = (("aes-256", "sealed"), ("chacha20-poly1305", "age"), ("aes-256", "raw"), ("kuznyechik", "sealed"))

# What a table shows of a row, if it was measured ------------------------------------------------------


def with_range(row, middle, low, high):
    """With the slowest and the fastest run if they differ much."""
    varies = float(row["max_seconds"]) - float(row["min_seconds"]) > SPREAD * float(row["seconds"])
    return f"{middle} ({low} to {high})" if varies else middle


def duration(seconds):
    return f"{significant(seconds * 1e3)} ms" if seconds < 0.9995 else f"{significant(seconds)} s"


def time_of(row):
    if not row:
        return ""
    times = [duration(float(row[name])) for name in ("seconds", "min_seconds", "max_seconds")]
    if len({each.split()[1] for each in times}) == 1:
        times[1:] = [each.split()[0] for each in times[1:]]
    return with_range(row, *times)


def rate_of(row):
    return with_range(row, *(significant(row[name]) for name in ("rate", "low", "high"))) if row else ""


def cpu_of(row):
    """CPU seconds per GB."""
    return f"{float(row['cpu_seconds']) / int(row['bytes']) * 1e9:.2f}" if row else ""


def size_of(rows):
    return size_name(int(rows[0]["bytes"])) if rows else ""


def name_of(row):
    """The format for this program; the name of another one."""
    if row["program"] != OURS:
        return f"`{row['program']}`"
    return f"{'Kuznyechik ' * (row['cipher'] == 'kuznyechik')}{row['format']}{' format' * (row['format'] == 'age')}"


def with_lanes(row):
    return f"{name_of(row)}, `-l {row['lanes']}`" if row["program"] == OURS else name_of(row)


def with_action(name, action):
    return f"{name}{', decryption' * (action == 'decrypt')}"


def is_shown(row):
    return row["cipher"] != "kuznyechik" and row["format"] != "raw"


# Tables: rows by name, and columns as headings with a function that shows a row -----------------------


def markdown(headings, rows, align="---:"):
    """Columns without a value in any row are left out."""
    rows = [list(map(str, row)) for row in rows]
    used = [i for i in range(len(headings)) if i == 0 or any(row[i] for row in rows)]
    if not rows or len(used) < 2:
        return NOT_MEASURED
    lines = ["| " + " | ".join(line[i] for i in used) + " |" for line in [headings, *rows]]
    return "\n".join([lines[0], "|" + "|".join("---" if i == 0 else align for i in used) + "|", *lines[1:]])


def listed(title, rows, *columns):
    return markdown([title, *(heading for heading, _ in columns)], [[name, *(show(row) for _, show in columns)] for name, row in rows])


def by_case(title, rows, name, *columns):
    """Each case has all columns; {} in a heading is the case."""
    cases, found = dict.fromkeys(row["case"] for row in rows), {(name(row), row["case"]): row for row in rows}
    return markdown([title, *(heading.format(case) for case in cases for heading, _ in columns)],
                    [[each, *(show(found.get((each, case))) for case in cases for _, show in columns)] for each in dict.fromkeys(map(name, rows))])


def on(lanes, show):
    """Shows rows that differ in their lanes."""
    return lambda rows: show(next((row for row in rows if row["lanes"].split(":")[0] == lanes), None))


def run_table(run):
    gpus, commands, listing = run.facts_of("GPU"), run.facts_of("command"), lambda *names: "; ".join(sum(map(run.facts_of, names), []))
    calls = f", in {len(commands)} calls" * (len(commands) > 1)
    gpu = gpus and f"{f'{len(gpus)} × ' * (len(gpus) > 1)}{gpus[0]}, {run.fact('GPU memory')}, {run.fact('link')}, driver {run.fact('driver')}"
    versions = [(rival, run.fact(rival).partition(" (Library")[0]) for rival in RIVALS]  # age prints only a number
    rows = [("date", ", ".join(run.facts_of("date"))), ("commit", f"`{run.fact('commit')[:12]}`"),
            ("command", commands and f"`{re.sub(r' --(time|commit|parts) [^ ]+', '', commands[0])}`{calls}"),
            ("CPU", f"{run.cpu()}, {run.fact('topology')}; {run.fact('extensions')}"),
            *((name, run.fact(name)) for name in ("virtual machine", "caches", "memory", "disk")), ("GPU", gpu), ("Linux", run.fact("Linux")),
            ("other programs", "; ".join(f"{rival} {text}" if text[0].isdigit() else text for rival, text in versions if text)),
            ("from other runs", listing("other run")), ("left out", re.sub(" --[^:]*", "", listing("left out", "failed")))]
    return markdown(["", ""], [row for row in rows if row[1]], align="---")


def commands_table(run):
    """How each program was called, by the name that tables have for it."""
    here = [row for row in run.of_part("rivals") if "auto" in (row["lanes"] or "auto")]
    here.sort(key=lambda row: (row["action"] == "decrypt", row["program"] != OURS))
    rows = {with_action(name_of(row), row["action"]): f"`{re.sub('(?<=--stats )[^ ]+', 'FILE', row['command'])}`" for row in here}
    return markdown(["", "command"], rows.items(), align="---")


def programs_table(cases, others, show=rate_of):
    """The rates of this program's formats and of others. A case is a title, rows and an action."""
    columns = [{"program": OURS, "cipher": cipher, "format": form} for cipher, form in FORMATS] + [{"program": other} for other in others]
    rows = [[title, *(show(named(filter(is_shown, rows), action=action, **column)) for column in columns)] for title, rows, action in cases]
    return markdown(["GB/s", *map(name_of, columns)], [row for row in rows if any(row[1:])])


def rivals_table(run):
    """All programs with the same input, which takes a row. The formats that have no rival are in other tables."""
    parts = {"output": "file to file, ", "pipe": "between two pipes, ", "cold": "cold file, ", "rivals": ""}
    cases = [(with_action(f"{where}{case}", action), [row for row in here if row["lanes"] in ("", lanes_of(case))], action)
             for action in ("encrypt", "decrypt") for part, where in parts.items() for (case,), here in group(run.of_part(part), "case").items()
             if any(row["program"] in RIVALS and row["action"] == action and is_shown(row) for row in here)]
    return programs_table(cases, ("gpuage", *RIVALS))


def summary_table(run):
    """The README's table, and a sentence about the machine."""
    pipe = [row for row in run.of_part("pipe") if row["lanes"] in ("", "auto")]
    cases = [(f"{size_of(run.on_disk())} file to file, on a disk", run.on_disk()), (f"{size_of(pipe)} between two pipes", pipe)]
    cases += [(f"{size_of(here)} in the page cache, {here[0]['case'].partition(', ')[2]}", here)
              for here in map(run.on_cpus, (1, run.fact("CPUs"))) if here]
    table = programs_table([(*case, "encrypt") for case in cases], ("age", "openssl"), lambda row: significant(row["rate"]) if row else "")
    if table == NOT_MEASURED:
        return table
    gpus = run.facts_of("GPU")
    gpu = f"{'one' if len(gpus) == 1 else f'{len(gpus)} ×'} {gpus[0]}" if gpus else "no GPU"
    kind = "a virtual machine with " * run.fact("virtual machine").startswith("yes")
    return f"{table}\n\nMeasured on {run.fact('date')}: {kind}{run.fact('CPUs')} CPUs ({run.cpu().partition(' (')[0]}), {gpu}."


def file_table(run):
    here = [row for row in run.of_part("file") if row["program"] == OURS and row["lanes"] in ("cpu", "cuda:0", "auto")]
    rows = [(with_action(name_of(rows[0]), rows[0]["action"]), rows) for rows in group(here, "cipher", "format", "action").values()]
    return listed(f"{size_of(here)}, GB/s", rows, ("CPU threads", on("cpu", rate_of)), ("`-l cuda:0`", on("cuda", rate_of)),
                  ("without CUDA startup and exit",
                   on("cuda", lambda row: significant(int(row["bytes"]) / float(row["lanes_seconds"]) / 1e9) if row else "")),
                  ("`-l auto`", on("auto", rate_of)))


def cpu_seconds_table(run):
    """For each kind of input, the CPU time of sealed and age files and of other programs."""
    inputs = (("in the page cache", run.on_cpus(run.fact("CPUs"))), ("in the page cache", run.of_part("file")), ("cold", run.of_part("cold")),
              ("between two pipes", run.of_part("pipe")))
    shown = [{**row, "case": f"{title}, {size_of(rows)}"} for title, rows in inputs for row in rows
             if is_shown(row) and row["action"] in ("encrypt", "copy")]
    names = dict.fromkeys(map(with_lanes, sorted(shown, key=lambda row: (row["action"] == "copy", row["program"] != OURS))))
    cells, cases = {(row["case"], with_lanes(row)): cpu_of(row) for row in shown}, dict.fromkeys(row["case"] for row in shown)
    return markdown(["CPU s/GB", *cases], [[name, *(cells.get((case, name), "") for case in cases)] for name in names])


ACTIONS = {"decrypt": "decryption to `/dev/null`", "test": "`--test`", "salvage": "`--salvage`, nothing damaged",
           "salvage, damaged": "`--salvage`, one segment in 1000 damaged", "range of 1 MiB in the middle": "`--range`, 1 MiB in the middle",
           "range of 3/4 in the middle": "`--range`, three quarters in the middle"}


def operations_table(run):
    return "\n\n".join(
        listed(f"{form} {size_of(here)} file", [(ACTIONS[action], rows) for (action,), rows in group(here, "action").items()],
               ("CPU threads", on("cpu", time_of)), ("`-l cuda:0`", on("cuda", time_of)))
        for (form,), here in group(run.of_part("operations"), "format").items()) or NOT_MEASURED


def cost_name(row):
    if "passphrase" in row["case"]:
        return f"{row['action']}ion with a passphrase"
    if "rekey" in row["case"]:
        return "`--rekey` in place" if row["action"] == "rekey" else "`cp` and `sync`"
    return with_action(with_lanes(row), row["action"])


def way_of(row):
    program, _, way = row["program"].partition(", ")
    return f"`{program}{' --output-dir' * (way == 'one run')}`, {way}"


def processes_table(run):
    """Times by the number of processes; one process writes one file."""
    here = run.of_part("processes")
    columns = {"parts": "`gpuaes-parts seal` and `join`", "files": "`-d --share I/N`, N files", "--into": "`-d --share I/N --into`"}
    rows = [["1 process: `gpuaes-stream -o`", *(time_of(named(here, program=program)) for program in (OURS, f"{OURS} -d -o")), ""]]
    counts = dict.fromkeys(re.findall(r", (\d+) process", "\n".join(row["program"] for row in here)))
    rows += [[f"{count} processes", *(time_of(named(here, program=f"{name}, {count} processes")) for name in columns)] for count in counts]
    return markdown([f"{size_of(here)} in memory", *columns.values()], rows if here else [])


def kind_of(row):
    return row["format"] if row["format"] == "age" else f"{title_of(row['cipher'])} {row['format']}"


def cpus_table(run, *ciphers):
    rows = [(f"{kind_of(here[0])}, {size_of(here)}, {case.partition(',')[0]}", here) for cipher in ciphers
            for (of, case), here in group(run.of_part("cpus"), "cipher", "case").items() if of == cipher]
    return listed("GB/s", rows, ("CPU threads", on("cpu", rate_of)), ("`-l cuda:0`", on("cuda", rate_of)), ("`-l auto`", on("auto", rate_of)),
                  ("CPU s/GB: CPU threads", on("cpu", cpu_of)), ("`-l cuda:0`", on("cuda", cpu_of)))


def pays_table(run, step=1):
    """From which size a file takes less time with cuda:0, calculated from the rates and the startup of both."""
    sizes, counts = {}, {}
    for (_, case), here in group(run.of_part("cpus"), "cipher", "case").items():
        if len(here) == 3:
            busy, total, size = ([float(row[name]) for row in here] for name in ("lanes_seconds", "seconds", "bytes"))
            saved = (busy[0] - busy[1]) / size[0]
            startup = (total[1] - busy[1]) - (total[0] - busy[0])
            counts[case.partition(",")[0]] = f"{startup / saved / 1e9:.2g} GB" if saved > 0 else "never"
            sizes.setdefault(kind_of(here[0]), {})[case.partition(",")[0]] = counts[case.partition(",")[0]]
    columns = list(counts)[::step]
    return markdown(["a GPU is faster from", *columns], [[kind, *(found.get(count, "") for count in columns)] for kind, found in sizes.items()])


def ciphers_table(run):
    counts = sorted({int(row["threads"]) for row in run.ciphers})
    rows = [[f"{title_of(cipher)}, {mode}", *(significant(named(here, threads=str(count))["gb_per_s"]) for count in counts)] for (cipher, mode), here
            in group([row for row in run.ciphers if int(row["chunk_bytes"]) == MI], "cipher", "mode").items()]
    rows += [["`gpuaes-bench read`", *(rate_of(row) if row["lanes"] == f"cpu:{count}" else "" for count in counts)]
             for row in run.of_part("file") if row["action"] == "read"]
    return markdown(["GB/s, chunks of 1 MiB", *(f"{count} thread{'s' * (count > 1)}" for count in counts)], rows)


def kernels_table(run):
    """The kernels of the filter and ttable: the largest launches, and launches of the size that lanes make."""
    rates = {(row["variant"], row["mode"], row["cipher"], int(row["bytes"])): float(row["gb_per_s"]) for row in run.kernels}
    ciphers = ("aes-128", "aes-192", "aes-256", "kuznyechik", "chacha20-poly1305")
    rows = [[f"`{kernel}`, {text}", *(" / ".join(f"{rates[kernel, mode, cipher, size]:.0f}" for size in (GI, 4 * MI)
                                                 if (kernel, mode, cipher, size) in rates) for cipher in ciphers)]
            for kernel in ("bitslice", "chacha20", "ttable") for mode, text in MODES.items()]
    return markdown(["GB/s, launches of 1 GiB / 4 MiB", *map(title_of, ciphers)], [row for row in rows if any(row[1:])])


def variants_table(run):
    """All kernels in counter mode, and the limit of each."""
    rows = [[f"{title_of(cipher)}, `{row['variant']}`", significant(row["gb_per_s"]), row["limit"], significant(row["limit_gb_per_s"]),
             f"{float(row['share_of_limit']):.0%}", row["registers"], row["resident_warps"]]
            for cipher in ("aes-256", "kuznyechik") for row in sorted(run.kernels, key=lambda row: -float(row["gb_per_s"]))
            if (row["cipher"], row["mode"], int(row["bytes"])) == (cipher, "ctr", 256 * MI)]
    return markdown(["launches of 256 MiB", "GB/s", "limited by", "limit, GB/s", "share of limit", "registers", "warps"], rows)


def keys_table(run):
    rows = [[f"`{row['variant']}`, {title_of(row['cipher'])}, {MODES[row['mode']]}",
             *(significant(row[f"{key}_gb_per_s"]) for key in ("zeros", "ones", "random")),
             *(f"{float(row[f'{series}_spread_percent']):.2f}%" for series in ("keys", "one_key"))] for row in run.keys]
    return markdown(["GB/s with a key of", "zeros", "ones", "random bits", "spread, several keys", "spread, one key"], rows)


TABLES = {
    "run": run_table, "commands": commands_table, "summary": summary_table, "file": file_table, "rivals": rivals_table,
    "pipe": lambda run: listed(size_of(run.of_part("pipe")), [(with_action(with_lanes(row), row["action"]), row) for row in run.of_part("pipe")],
                               ("GB/s", rate_of), ("CPU s/GB", cpu_of)),
    "output": lambda run: by_case("file to file", run.of_part("output"), with_lanes, ("{}: GB/s", rate_of), ("CPU s/GB", cpu_of),
                                  ("cached afterward, GiB", lambda row: f"{int(row['cached_bytes']) / GI:.1f}" if row and row["cached_bytes"] else "")),
    "many": lambda run: by_case("", run.of_part("many"), way_of, ("{}", time_of),
                                ("CPU time", lambda row: duration(float(row["cpu_seconds"])) if row else "")),
    "cpu-seconds": cpu_seconds_table, "operations": operations_table, "processes": processes_table,
    "costs": lambda run: listed("", [(f"{size_of([row])}: {cost_name(row)}", row) for row in run.of_part("costs")], ("time", time_of)),
    "pays": pays_table, "pays-short": lambda run: pays_table(run, 2), "cpus": lambda run: cpus_table(run, "aes-256", "kuznyechik"),
    "age": lambda run: cpus_table(run, "chacha20-poly1305"), "ciphers": ciphers_table,
    "links": lambda run: markdown(["GB/s", "to the device", "from the device", "both at once, each way"],
                                  [[f"{device}, copies of {size_name(int(size))}", *(significant(row["value"]) for row in here)]
                                   for (device, size), here in group(run.links, "device", "bytes").items() if len(here) == 3]),
    "limits": lambda run: markdown(["resource", "rate", "unit"], [[row["what"], significant(row["value"]), row["unit"]] for row in run.limits]),
    "kernels": kernels_table, "variants": variants_table, "keys": keys_table,
}
