"""The conclusions of PERFORMANCE.md: a sentence each, with figures of the run. One whose rows were not measured is left out."""

from results import NOT_MEASURED, OURS, compared, cpu_of, median_of, named, on_disk, size_of


def conclusions(run):
    lines = [text for text in (conclude(run) for conclude in (disk, pipes, page_cache, gpu, cold_files)) if text]
    return "\n".join(f"- {line}" for line in lines) or NOT_MEASURED


def ours(rows, **values):
    return named(rows, **{"program": OURS, "cipher": "aes-256", "format": "sealed", "action": "encrypt", **values})


AGE = {"cipher": "chacha20-poly1305", "format": "age"}


def next_to_others(rows, **values):
    """How this program's formats compare with the programs that people use instead; nothing unless all were measured."""
    texts = []
    for form, other in ((AGE, "age"), ({}, "openssl")):
        row, base = ours(rows, **form, **values), named(rows, program=other, action="encrypt")
        if not row or not base:
            return ""
        texts.append(f"{median_of(row)} GB/s, {compared(row, base, f'`{other}`')}")
    return f"encrypting to age's format reaches {texts[0]}, and sealing {texts[1]}"


def disk(run):
    text = next_to_others(on_disk(run))
    return text and f"**From file to file on a disk**, {text}. [File to file](#file-to-file)"


def pipes(run):
    text = next_to_others(run.of_part("pipe"), lanes="auto")
    return text and f"**Between two pipes**, {text}. [Pipes](#pipes)"


def page_cache(run):
    cpus = run.fact("CPUs")
    texts = [next_to_others(run.on_cpus(count)) for count in (1, cpus)]
    return all(texts) and (f"**From the page cache** to `/dev/null` with one CPU, {texts[0]}. With {cpus} CPUs, {texts[1]}. "
                           "[Comparison](#comparison-with-other-programs)")


def gpu(run):
    files = run.of_part("file")
    kinds = {"AES": {}, "age's format": AGE, "Kuznyechik": {"cipher": "kuznyechik"}}
    pairs = {name: (ours(files, lanes="cuda:0", **values), ours(files, lanes="cpu", **values)) for name, values in kinds.items()}
    base = f"{run.fact('CPUs')} CPUs"
    texts = [f"{median_of(gpu)} GB/s with {name}, {compared(gpu, cpus, base)}" for name, (gpu, cpus) in pairs.items() if gpu and cpus]
    return texts and (f"**A GPU** encrypts a {size_of(files)} file at {'; '.join(texts)}. CUDA startup and shutdown are included. "
                      "[Files on a GPU](#files-on-a-gpu)")


def cold_files(run):
    here = run.of_part("cold")
    row, openssl = ours(here, lanes="auto"), named(here, program="openssl")
    return row and openssl and (f"**Sealing a file that is not in the page cache** takes {cpu_of(row)} CPU seconds per GB; `openssl` takes "
                                f"{cpu_of(openssl)}. [Cold files](#cold-files-and-cpu-time)")


TABLES = {"conclusions": conclusions}
