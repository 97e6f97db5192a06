"""A large file from the page cache to /dev/null, on every kind of lane."""

from units import words_of


def run(fixture):
    size, lanes = fixture.file_size, ["cpu", *fixture.cuda_lanes(), "auto"]
    fixture.results.heading(f"file of {words_of(size)} to /dev/null")
    path = fixture.file_of(size)
    sources = {"raw": path, "sealed": path, "open": fixture.encrypted(size)}
    ours = [fixture.ours(form, each, source) for each in lanes for form, source in sources.items()]
    ours.append(fixture.ours("sealed", "auto:low-cpu", path))
    if fixture.gpus:
        ours.append(fixture.ours("sealed", "cpu+cuda:0", path))
    read = fixture.read_alone(path)
    fixture.compare(f"{words_of(size)}, AES-256", [read, *ours], size, read)
    fixture.forget_encrypted()
    kuznyechik = [fixture.ours(form, each, path, cipher="kuznyechik") for each in lanes for form in ("raw", "sealed")]
    fixture.compare(f"{words_of(size)}, Kuznyechik", kuznyechik, size)
    sources = {"age": path, "open age": fixture.encrypted(size, "age")}
    age = [fixture.ours(form, each, source) for each in fixture.age_lanes() for form, source in sources.items()]
    fixture.compare(f"{words_of(size)}, age", age, size)
    fixture.forget_encrypted()
