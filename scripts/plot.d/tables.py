"""The tables of the documents, by name."""

import re

from run import MODES, OURS, RIVALS, group, is_with_rivals, significant, title_of

NOT_MEASURED = "Not measured in this run."  # instead of a table
SPREAD = 0.1  # from the slowest to the fastest run, relative to the median: tables show the range of larger ones

# What a table shows of a row --------------------------------------------------------------------------


def with_range(row, middle, low, high):
    """With the slowest and the fastest run if they differ much."""
    varies = float(row["max_seconds"]) - float(row["min_seconds"]) > SPREAD * float(row["seconds"])
    return f"{middle} ({low} to {high})" if varies else middle


def duration(seconds):
    return f"{significant(seconds * 1e3)} ms" if seconds < 0.9995 else f"{significant(seconds)} s"


def time_of(row):
    middle, *ends = [duration(float(row[name])) for name in ("seconds", "min_seconds", "max_seconds")]
    is_same_unit = len({each.split()[1] for each in (middle, *ends)}) == 1
    return with_range(row, middle, *(each.split()[0] if is_same_unit else each for each in ends))


def rate_of(row):
    return with_range(row, *(significant(row[name]) for name in ("rate", "low", "high")))


def cpu_of(row):
    """CPU seconds per GB."""
    return f"{float(row['cpu_seconds']) / int(row['bytes']) * 1e9:.2f}"


def of(column):
    """The number in a column."""
    return lambda row: significant(row[column])


def size_of(rows):
    return rows[0]["size"] if rows else ""


def name_of(row):
    """The format for this program; the name of another one."""
    if row["program"] != OURS:
        return f"`{row['program']}`"
    return f"{'Kuznyechik ' * (row['cipher'] == 'kuznyechik')}{row['format']}{' format' * (row['format'] == 'age')}"


def with_lanes(row):
    return f"{name_of(row)}, `-l {row['lanes']}`" if row["program"] == OURS else name_of(row)


def with_action(name, row):
    return f"{name}{', decryption' * (row['action'] == 'decrypt')}"


def is_shown(row):
    return row["cipher"] != "kuznyechik" and row["format"] != "raw"


# Tables: a line for each name, and columns (heading, function that shows a row, condition for the row) -


def where(column, value):
    return lambda row: row[column] == value


def by_lanes(show):
    """A column for each kind of lane."""
    return [(title, show, where("on", lanes)) for lanes, title in (("cpu", "CPU threads"), ("cuda", "`-l cuda:0`"), ("auto", "`-l auto`"))]


def table(title, rows, name, *columns):
    lines = {}
    for row in rows:
        lines.setdefault(name(row), []).append(row)
    return markdown([title, *(heading for heading, *_ in columns)],
                    [[each, *(cell(here, *column) for _, *column in columns)] for each, here in lines.items()])


def cell(rows, show, condition=lambda row: True):
    return next((show(row) for row in rows if condition(row)), "")


def markdown(headings, rows, align="---:"):
    """Columns without a value in any row are left out."""
    used = [i for i in range(len(headings)) if i == 0 or any(row[i] for row in rows)]
    if len(used) < 2:
        return NOT_MEASURED
    lines = ["| " + " | ".join(line[i] for i in used) + " |" for line in [headings, *rows]]
    return "\n".join([lines[0], "|" + "|".join("---" if i == 0 else align for i in used) + "|", *lines[1:]])


def by_case(title, rows, name, *columns):
    """Each case has all columns; {} in a heading is the case."""
    return table(title, rows, name, *((heading.format(case), show, where("case", case))
                                      for (case,) in group(rows, "case") for heading, show in columns))


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
    rows = {with_action(name_of(row), row): f"`{re.sub('(?<=--stats )[^ ]+', 'FILE', row['command'])}`" for row in here}
    return markdown(["", "command"], rows.items(), align="---")


def programs_table(rows, name, others, show=rate_of):
    """The rates of this program's formats and of others."""
    headings = ("sealed", "age format", *(f"`{other}`" for other in others))
    return table("GB/s", filter(is_shown, rows), name,
                 *((heading, show, lambda row, heading=heading: name_of(row) == heading) for heading in headings))


def rivals_table(run):
    """All programs with the same input, which takes a row. The formats that have no rival are in other tables."""
    inputs = {"output": "file to file, ", "pipe": "between two pipes, ", "cold": "cold file, ", "rivals": ""}
    rows = [row for action in ("encrypt", "decrypt") for part in inputs for row in run.of_part(part)
            if row["action"] == action and is_with_rivals(row) and (part, action) != ("pipe", "decrypt")]
    return programs_table(rows, lambda row: with_action(inputs[row["part"]] + row["case"], row), ("gpuage", *RIVALS))


def summary_table(run):
    """The README's table, and a sentence about the machine."""
    inputs = {"output": "file to file, on a disk", "pipe": "between two pipes", "rivals": "in the page cache, {}"}
    rows = [row for row in [*run.of_part("output"), *run.of_part("pipe"), *run.on_cpus(1), *run.on_cpus(run.fact("CPUs"))]
            if row["action"] == "encrypt" and is_with_rivals(row) and not row["case"].startswith(("disk, cold", "memory"))]
    speed = programs_table(rows, lambda row: f"{row['size']} {inputs[row['part']].format(row['case'].partition(', ')[2])}", ("age", "openssl"), of("rate"))
    gpus = run.facts_of("GPU")
    gpu = f"{'one' if len(gpus) == 1 else f'{len(gpus)} ×'} {gpus[0]}" if gpus else "no GPU"
    virtual = "virtual " * run.fact("virtual machine").startswith("yes")
    others = [each.partition(": ") for each in run.facts_of("other run")]
    dates = sorted({run.fact("date"), *(what.partition(",")[0] for parts, _, what in others if set(parts.split(", ")) & set(inputs))})
    return f"{speed}\n\nMeasured on {' and '.join(dates)}, on a {virtual}machine with {run.fact('CPUs')} CPUs ({run.cpu().partition(' (')[0]}) and {gpu}."


def file_table(run):
    here = [row for row in run.of_part("file") if row["program"] == OURS and row["lanes"] in ("cpu", "cuda:0", "auto")]
    cpu, gpu, auto = by_lanes(rate_of)
    running = ("without CUDA startup and exit", lambda row: significant(int(row["bytes"]) / float(row["lanes_seconds"]) / 1e9), where("on", "cuda"))
    return table(f"{size_of(here)}, GB/s", here, lambda row: with_action(name_of(row), row), cpu, gpu, running, auto)


def cpu_seconds_table(run):
    """For each kind of input, the CPU time of sealed and age files and of other programs."""
    inputs = (("in the page cache", run.on_cpus(run.fact("CPUs"))), ("in the page cache", run.of_part("file")), ("cold", run.of_part("cold")),
              ("between two pipes", run.of_part("pipe")))
    rows = [{**row, "case": f"{title}, {size_of(rows)}"} for title, rows in inputs for row in rows
            if is_shown(row) and row["action"] in ("encrypt", "copy")]
    in_order = sorted(rows, key=lambda row: (row["action"] == "copy", row["program"] != OURS))
    return table("CPU s/GB", in_order, with_lanes, *((case, cpu_of, where("case", case)) for (case,) in group(rows, "case")))


ACTIONS = {"decrypt": "decryption to `/dev/null`", "test": "`--test`", "salvage": "`--salvage`, nothing damaged",
           "salvage, damaged": "`--salvage`, one segment in 1000 damaged", "range of 1 MiB in the middle": "`--range`, 1 MiB in the middle",
           "range of 3/4 in the middle": "`--range`, three quarters in the middle"}


def operations_table(run):
    tables = [table(f"{form} {size_of(here)} file", here, lambda row: ACTIONS[row["action"]], *by_lanes(time_of))
              for (form,), here in group(run.of_part("operations"), "format").items()]
    return "\n\n".join(tables) or NOT_MEASURED


def cost_name(row):
    if "passphrase" in row["case"]:
        return f"{row['action']}ion with a passphrase"
    if "rekey" in row["case"]:
        return "`--rekey` in place" if row["action"] == "rekey" else "`cp` and `sync`"
    return with_action(with_lanes(row), row)


def way_of(row):
    program, _, way = row["program"].partition(", ")
    return f"`{program}{' --output-dir' * (way == 'one run')}`, {way}"


def processes_table(run):
    """Times by the number of processes; one process writes one file."""
    here = run.of_part("processes")
    columns = {OURS: "parts", f"{OURS} -d -o": "files"}  # of one process
    rows = [{**row, "of": columns.get(row["program"], row["program"].partition(",")[0])} for row in here]
    return table(f"{size_of(here)} in memory", rows, lambda row: row["program"].partition(", ")[2] or f"1 process: `{OURS} -o`",
                 ("`gpuaes-parts seal` and `join`", time_of, where("of", "parts")),
                 ("`-d --share I/N`, N files", time_of, where("of", "files")), ("`-d --share I/N --into`", time_of, where("of", "--into")))


def kind_of(row):
    return row["format"] if row["format"] == "age" else f"{title_of(row['cipher'])} {row['format']}"


def cpus_table(run, *ciphers):
    rows = [row for cipher in ciphers for row in run.of_part("cpus") if row["cipher"] == cipher]
    (title, *cpu), gpu, _ = by_lanes(cpu_of)
    return table("GB/s", rows, lambda row: f"{kind_of(row)}, {row['size']}, {row['case'].partition(',')[0]}", *by_lanes(rate_of),
                 (f"CPU s/GB: {title}", *cpu), gpu)


def pays_table(run, step=1):
    """From which size a file takes less time with cuda:0, calculated from the rates and the startup of both."""
    rows = []
    for cpu, gpu, _ in [here for here in group(run.of_part("cpus"), "cipher", "case").values() if len(here) == 3]:
        cpu_total, cpu_busy, gpu_total, gpu_busy = (float(row[name]) for row in (cpu, gpu) for name in ("seconds", "lanes_seconds"))
        saved = (cpu_busy - gpu_busy) / int(cpu["bytes"])
        startup = (gpu_total - gpu_busy) - (cpu_total - cpu_busy)
        size = f"{startup / saved / 1e9:.2g} GB" if saved > 0 else "never"
        rows.append({**cpu, "cpus": cpu["case"].partition(",")[0], "from": size})
    counts = [count for (count,) in group(rows, "cpus")][::step]
    return table("a GPU is faster from", rows, kind_of, *((count, lambda row: row["from"], where("cpus", count)) for count in counts))


def ciphers_table(run):
    rows = [{"name": f"{title_of(row['cipher'])}, {row['mode']}", "threads": row["threads"], "rate": significant(row["gb_per_s"])}
            for row in run.ciphers if row["chunk_bytes"] == str(1 << 20)]
    rows += [{"name": "`gpuaes-bench read`", "threads": row["lanes"].removeprefix("cpu:"), "rate": rate_of(row)}
             for row in run.of_part("file") if row["action"] == "read"]
    return table("GB/s, chunks of 1 MiB", rows, lambda row: row["name"],
                 *((f"{count} thread{'s' * (count != '1')}", lambda row: row["rate"], where("threads", count)) for (count,) in group(rows, "threads")))


def kernels_table(run):
    """The kernels of the filter and ttable: the largest launches, and launches of the size that lanes make."""
    ciphers = ("aes-128", "aes-192", "aes-256", "kuznyechik", "chacha20-poly1305")
    rates = {(row["variant"], row["mode"], row["cipher"], row["size"]): f"{float(row['gb_per_s']):.0f}" for row in run.kernels}
    rows = [[f"`{kernel}`, {text}", *(" / ".join(rates[kernel, mode, cipher, size] for size in ("1 GiB", "4 MiB") if (kernel, mode, cipher, size) in rates)
                                      for cipher in ciphers)] for kernel in ("bitslice", "chacha20", "ttable") for mode, text in MODES.items()]
    return markdown(["GB/s, launches of 1 GiB / 4 MiB", *map(title_of, ciphers)], [row for row in rows if any(row[1:])])


def variants_table(run):
    """All kernels in counter mode, and the limit of each."""
    rows = [row for cipher in ("aes-256", "kuznyechik") for row in sorted(run.kernels, key=lambda row: -float(row["gb_per_s"]))
            if (row["cipher"], row["mode"], row["size"]) == (cipher, "ctr", "256 MiB")]
    return table("launches of 256 MiB", rows, lambda row: f"{title_of(row['cipher'])}, `{row['variant']}`", ("GB/s", of("gb_per_s")),
                 ("limited by", lambda row: row["limit"]), ("limit, GB/s", of("limit_gb_per_s")),
                 ("share of limit", lambda row: f"{float(row['share_of_limit']):.0%}"), ("registers", lambda row: row["registers"]),
                 ("warps", lambda row: row["resident_warps"]))


def keys_table(run):
    return table("GB/s with a key of", run.keys, lambda row: f"`{row['variant']}`, {title_of(row['cipher'])}, {MODES[row['mode']]}",
                 ("zeros", of("zeros_gb_per_s")), ("ones", of("ones_gb_per_s")), ("random bits", of("random_gb_per_s")),
                 ("spread, several keys", lambda row: f"{float(row['keys_spread_percent']):.2f}%"),
                 ("spread, one key", lambda row: f"{float(row['one_key_spread_percent']):.2f}%"))


TABLES = {
    "run": run_table, "commands": commands_table, "summary": summary_table, "file": file_table, "rivals": rivals_table,
    "pipe": lambda run: by_case(size_of(run.of_part("pipe")), run.of_part("pipe"), lambda row: with_action(with_lanes(row), row),
                                ("GB/s", rate_of), ("CPU s/GB", cpu_of)),
    "output": lambda run: by_case("file to file", run.of_part("output"), with_lanes, ("{}: GB/s", rate_of), ("CPU s/GB", cpu_of),
                                  ("cached afterward, GiB", lambda row: row["cached_bytes"] and f"{int(row['cached_bytes']) / (1 << 30):.1f}")),
    "many": lambda run: by_case("", run.of_part("many"), way_of, ("{}", time_of), ("CPU time", lambda row: duration(float(row["cpu_seconds"])))),
    "cpu-seconds": cpu_seconds_table, "operations": operations_table, "processes": processes_table,
    "costs": lambda run: table("", run.of_part("costs"), lambda row: f"{row['size']}: {cost_name(row)}", ("time", time_of)),
    "pays": pays_table, "pays-short": lambda run: pays_table(run, 2), "cpus": lambda run: cpus_table(run, "aes-256", "kuznyechik"),
    "age": lambda run: cpus_table(run, "chacha20-poly1305"), "ciphers": ciphers_table,
    "links": lambda run: table("GB/s", run.links, lambda row: f"{row['device']}, copies of {row['size']}",
                               ("to the device", of("value"), where("what", "to device")),
                               ("from the device", of("value"), where("what", "from device")),
                               ("both at once, each way", of("value"), where("what", "both at once, each way"))),
    "limits": lambda run: table("resource", run.limits, lambda row: row["what"], ("rate", of("value")), ("unit", lambda row: row["unit"])),
    "kernels": kernels_table, "variants": variants_table, "keys": keys_table,
}
