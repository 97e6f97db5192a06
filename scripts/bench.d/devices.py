"""Parts that gpuaes-bench measures, and the timeline of CUDA lanes."""

import json
import subprocess

from units import GI

MAIN_KERNELS = ["--variants", "bitslice,chacha20,ttable"]
OTHER_KERNELS = ["--variants", "sbox*,ttable1*,ttable4*,ls-*"]
TRACE_BYTES = 4 * GI
TRACE_MS = 4


def run_limits(fixture):
    fixture.results.heading("limits")
    fixture.bench_rows("ciphers", "memory", "--ciphers", "aes-256,kuznyechik")
    if fixture.gpus:
        fixture.bench_rows("links", "device", seconds=40)
        fixture.bench_rows("limits", "limits", seconds=40)


def run_kernels(fixture):
    """Measures the filter's kernels and ttable with all ciphers and modes, then with more sizes; then the others in counter
    mode."""
    if fixture.gpus:
        fixture.results.heading("CUDA kernels, data in device memory")
        fixture.bench_rows("kernels", "kernels", *MAIN_KERNELS, "--ciphers", "aes-128,aes-192,aes-256,kuznyechik,chacha20-poly1305",
                           "--modes", "ctr,aead", "--sizes", "4M,1G", seconds=170)
        fixture.bench_rows("kernels", "kernels", *MAIN_KERNELS, "--ciphers", "aes-256,kuznyechik,chacha20-poly1305", "--modes", "ctr,seal",
                           "--sizes", "16K,64K,256K,1M,16M,64M,256M", seconds=100)
        fixture.bench_rows("kernels", "kernels", *OTHER_KERNELS, "--ciphers", "aes-256,kuznyechik", "--modes", "ctr",
                           "--sizes", "256M", seconds=90)


def run_keys(fixture):
    if fixture.gpus:
        fixture.results.heading("CUDA kernels with different keys")
        fixture.bench_rows("keys", "keys", "--ciphers", "aes-256,kuznyechik,chacha20-poly1305", seconds=60)


def run_trace(fixture):
    """Keeps TRACE_MS milliseconds from the middle of the run, when all lanes are at work."""
    if not fixture.gpus:
        return
    fixture.results.heading("timeline of CUDA lanes")
    trace = fixture.path("trace.json")
    with open(fixture.file_of(min(TRACE_BYTES, fixture.file_size)), "rb") as source:
        subprocess.run([fixture.program, "-q", "-k", fixture.key_file, "-l", "cuda:0", "--trace", trace], stdin=source,
                       stdout=subprocess.DEVNULL, check=True)
    with open(trace, encoding="utf-8") as file:
        rows = window_of(json.load(file)["traceEvents"])
    fixture.results.add("trace", rows)
    print(f"  {len(rows)} spans", flush=True)


def window_of(events):
    names = {event["tid"]: event["args"]["name"] for event in events if event["ph"] == "M" and event["name"] == "thread_name"}
    spans = [event for event in events if event["ph"] == "X" and event["dur"] > 0]
    work = [event for event in spans if event["name"] == "kernel"] or spans
    middle = sorted(event["ts"] for event in work)[len(work) // 2]
    since, until = middle - 500 * TRACE_MS, middle + 500 * TRACE_MS
    kept = [(event, max(event["ts"], since), min(event["ts"] + event["dur"], until)) for event in spans]
    return [{"track": names[event["tid"]], "what": event["name"], "start_us": f"{start - since:.1f}", "length_us": f"{end - start:.1f}"}
            for event, start, end in kept if start < end]
