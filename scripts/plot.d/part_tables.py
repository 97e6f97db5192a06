"""Tables of gpuaes-bench results: ciphers, links and kernels."""

from inputs import group
from results import GI, MI, markdown, rate_of
from style import MODES, significant, size_name, title_of


def ciphers_table(run):
    rows = []
    for (cipher, mode), here in group([row for row in run.ciphers if int(row["chunk_bytes"]) == MI], "cipher", "mode").items():
        rates = {int(row["threads"]): float(row["gb_per_s"]) for row in here}
        rows.append([f"{title_of(cipher)}, {mode}", *(significant(rates[count]) for count in sorted(rates))])
    read = [(int(row["lanes"].partition(":")[2]), row) for row in run.of_part("file") if row["action"] == "read"]
    counts = sorted({int(row["threads"]) for row in run.ciphers})
    rows += [["`gpuaes-bench read`", *(rate_of(row) if threads == count else "" for count in counts)] for threads, row in read]
    return markdown(["GB/s, chunks of 1 MiB", *(f"{count} thread{'s' * (count > 1)}" for count in counts)], rows)


def links_table(run):
    """Each device and size has three rates: to the device, from the device, both at once."""
    rates = [row for row in run.links if row["unit"] == "GB/s"]
    rows = []
    for (device, size), here in group(rates, "device", "bytes").items():
        if len(here) >= 3:
            rows.append([f"{device}, copies of {size_name(int(size))}", *(significant(float(row["value"])) for row in here[:3])])
    return markdown(["GB/s", "to the device", "from the device", "both at once, each way"], rows)


def limits_table(run):
    return markdown(["resource", "rate", "unit"], [[row["what"], significant(float(row["value"])), row["unit"]] for row in run.limits])


MAIN_KERNELS = ("bitslice", "chacha20", "ttable")


def kernels_table(run):
    """The kernels of the filter and ttable: the largest launches, and launches of the size that lanes make."""
    rows = []
    ciphers = ("aes-128", "aes-192", "aes-256", "kuznyechik", "chacha20-poly1305")
    for kernel in MAIN_KERNELS:
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
    """All kernels in counter mode, by the place of their tables, and the limit of each."""
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
    return markdown(["launches of 256 MiB", "GB/s", "limited by", "limit, GB/s", "share of limit", "registers", "warps"], rows)


def keys_table(run):
    rows = []
    for row in run.keys:
        rates = [float(row[f"{key}_gb_per_s"]) for key in ("zeros", "ones", "random")]
        rows.append([f"`{row['variant']}`, {title_of(row['cipher'])}, {MODES.get(row['mode'], row['mode'])}", *map(significant, rates),
                     f"{float(row['keys_spread_percent']):.2f}%", f"{float(row['one_key_spread_percent']):.2f}%"])
    return markdown(["GB/s with a key of", "zeros", "ones", "random bits", "spread, several keys", "spread, one key"], rows)


TABLES = {
    "ciphers": ciphers_table, "links": links_table, "limits": limits_table,
    "kernels": kernels_table, "variants": variants_table, "keys": keys_table,
}
