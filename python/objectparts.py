"""Seals a file in parts that are objects, in S3 or whatever fsspec writes, instead of files in a shared directory.

    gpuaes-parts plan -k backup.key -i disk.img -n 64 -o disk.sealed
    python3 objectparts.py seal disk.sealed s3://bucket/disk.sealed 3    # for each part, on any host; options follow
    python3 objectparts.py missing disk.sealed s3://bucket/disk.sealed   # the parts that have to be sealed
    python3 objectparts.py join disk.sealed s3://bucket/disk.sealed
    python3 sealedfile.py -k backup.key s3://bucket/disk.sealed >disk.img

The directory has only the plan. Needs gpuaes-parts in PATH, fsspec, and its package for the storage. Attempts may be
killed, repeated and run at the same time: each has an object of its own, and the index, which is written last and once,
says which of them are the file. The others can be deleted then."""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from fsspec.core import url_to_fs

PIECE = 1 << 26  # of an upload
HEADER, RECEIPT = 73, 104  # bytes; the last 32 of the header of a frame are the commitment
NAME = re.compile(r"receipt\.(\d{7})\.([0-9a-f]{64})")


class Objects:
    """The objects under a URL."""

    def __init__(self, url):
        self.files, self.base = url_to_fs(url.rstrip("/"))

    def path(self, name):
        return f"{self.base}/{name}"

    def names(self, prefix=""):
        """The names of all objects that begin like this: a request for each thousand."""
        self.files.invalidate_cache()
        names = {path.rsplit("/", 1)[-1] for path in self.files.find(self.base, prefix=prefix)}
        return {name for name in names if name.startswith(prefix)}  # only some file systems look at the prefix

    def receipts(self, prefix="receipt."):
        """For each part that is complete, the commitment of an attempt. Its receipt was put after the part."""
        found = sorted(match.groups() for match in map(NAME.fullmatch, self.names(prefix)) if match)
        return {int(number): commitment for number, commitment in reversed(found)}


def parts(*arguments):
    return subprocess.run(["gpuaes-parts", *arguments], check=True, stdout=subprocess.PIPE).stdout


def seal(objects, plan, number, options):
    if objects.receipts(f"receipt.{int(number):07}."):
        return print(f"part {number} is already complete", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        receipt = Path(folder, "receipt")
        command = ["gpuaes-parts", "seal", plan, "--part", number, "-o", "-", "--receipt", receipt, *options]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            header = process.stdout.read(HEADER)
            attempt = f"{int(number):07}.{header[41:].hex()}"
            path, how = objects.path(f"part.{attempt}"), {"autocommit": False, "block_size": PIECE}
            upload = len(header) == HEADER and objects.files.open(path, "wb", **how)
            try:
                if upload:
                    upload.write(header)
                    shutil.copyfileobj(process.stdout, upload, 1 << 20)
                if process.wait() != 0 or not upload:
                    sys.exit(process.returncode or 1)
                upload.close()
                upload.commit()
            except BaseException:
                process.kill()
                if upload:
                    upload.discard()
                    upload.closed = True
                raise
        objects.files.pipe_file(objects.path(f"receipt.{attempt}"), receipt.read_bytes())


def missing(objects, plan):
    count = json.loads(parts("status", "--json", plan))["parts"]
    print(*sorted({*range(count)} - objects.receipts().keys()))


def join(objects, plan):
    """Takes one attempt at each part. No index replaces another one, so the file stays the same."""
    if "index" in objects.names("index"):
        return print("the parts are already joined", file=sys.stderr)
    index, receipts = Path(plan, "index"), objects.receipts()
    index.unlink(missing_ok=True)  # of a run that did not put it
    paths = [objects.path(f"receipt.{number:07}.{commitment}") for number, commitment in receipts.items()]
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"".join(objects.files.cat_ranges(paths, 0, RECEIPT, on_error="raise")))
        file.flush()
        parts("join", plan, *(["--receipts", file.name] if paths else []))
    objects.files.pipe_file(objects.path("head"), Path(plan, "head").read_bytes())
    try:
        objects.files.pipe_file(objects.path("index"), index.read_bytes(), mode="create")
    except FileExistsError:
        print("another process has joined the parts", file=sys.stderr)
        index.unlink()


def main(words=None):
    parser = argparse.ArgumentParser(description="Seal a file in parts that are objects.")
    parser.add_argument("command", choices=["seal", "missing", "join"])
    parser.add_argument("plan", help="the directory that gpuaes-parts made")
    parser.add_argument("url", help="where the objects are")
    arguments, rest = parser.parse_known_args(words)
    objects = Objects(arguments.url)
    if arguments.command == "seal" and (not rest or not rest[0].isdecimal()):
        parser.error("seal needs the number of a part")
    try:
        if arguments.command == "seal":
            seal(objects, arguments.plan, rest[0], rest[1:])
        else:
            {"missing": missing, "join": join}[arguments.command](objects, arguments.plan)
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
    except OSError as error:
        sys.exit(f"{parser.prog}: error: {error}")


if __name__ == "__main__":
    main()
