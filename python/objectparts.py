"""Encrypts a file in parts that are objects, in S3 or any other object storage that fsspec supports.

    gpuaes-parts plan -k backup.key -i disk.img -n 64 -o disk.sealed
    python3 objectparts.py missing disk.sealed s3://bucket/disk.sealed  # prints the numbers of the missing parts
    python3 objectparts.py seal disk.sealed s3://bucket/disk.sealed 3   # encrypts part 3, on any host
    python3 objectparts.py join disk.sealed s3://bucket/disk.sealed
    python3 sealedfile.py -k backup.key s3://bucket/disk.sealed >disk.img

Needs gpuaes-parts in PATH, fsspec, and the package that fsspec uses for the storage. Commands can be killed, repeated,
and run at the same time: each attempt at a part writes a separate object, and join writes an index that lists one
attempt for each part. The others can then be deleted."""

import argparse
import contextlib
import hmac
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

RECEIPT = re.compile(r"receipt\.([0-9]{7})\.[0-9a-f]{64}")
SUITES = {3: (b"c2sp.org/chunked-encryption@v1+AEAD_AES_256_GCM", 44), 4: (b"gpuaes-stream/1+KUZNYECHIK_MGM", 48)}


class Plan:
    """Verifies objects with the file key, which the job file contains. gpuaes-stream(5) describes the formats."""

    def __init__(self, folder):
        self.folder, job = folder, Path(folder, "job").read_bytes()
        self.file_key = job[15:47]
        if not self.has_mac(b"gpuaes-parts/1 job", job[:-32], job[-32:]):
            raise ValueError(f"{folder}/job is damaged or has an unsupported version")
        label = 48 + job[47]
        head = label + 2 + int.from_bytes(job[label : label + 2], "big")
        self.label, self.head = job[48:label], job[label + 2 : head]
        self.count, self.has_input = int.from_bytes(job[head : head + 4], "big"), any(job[head + 4 : head + 6])
        if self.count == 0:
            raise ValueError(f"{folder} does not record the number of parts; make the plan with -n")

    def derive(self, info):
        return hmac.digest(self.file_key, info + b"\1", "sha512")  # the first 64 bytes of HKDF-Expand-SHA-512

    def has_mac(self, info, message, mac):
        return hmac.compare_digest(hmac.digest(self.derive(info), message, "sha512")[:32], mac)

    def has_receipt(self, path, data):
        message = self.head[:17] + b"\1" + data[:72] + self.label
        named = path.endswith(f"/receipt.{int.from_bytes(data[:4], 'big'):07}.{data[40:72].hex()}")
        return named and self.has_mac(b"gpuaes-stream/1 receipt", message, data[72:])

    def has_index(self, data):
        name, at = SUITES[self.head[16]]  # only the beginning of the commitment is verified; readers verify the rest
        info = name + b"\0" + data[17:41] + self.head[:17] + b"\2" + data[1:9] + self.label
        return hmac.compare_digest(self.derive(info)[at:], data[41 : 105 - at])


class Objects:
    """The objects of a plan at a URL."""

    def __init__(self, plan, url):
        from fsspec.core import url_to_fs  # here, so that main() reports if it is missing
        self.plan = plan
        self.files, base = url_to_fs(url, skip_instance_cache=True)  # others would join our transactions
        self.base = base.rstrip("/") + "/"

    def names(self, prefix=""):
        """The names that begin with a prefix. This takes one request for every thousand objects."""
        self.files.invalidate_cache()
        paths = self.files.find(self.base[:-1], prefix=prefix)  # also of longer URLs; some storage ignores the prefix
        names = {path[len(self.base) :] for path in paths if path.startswith(self.base + prefix)}
        return {name for name in names if name and "/" not in name}

    def check_head(self, put=False):
        """Verifies the head. It is put first and never replaced, so all objects at a URL belong to one plan."""
        path = self.base + "head"
        try:
            head = self.files.cat_file(path)
            if not self.plan.has_mac(b"gpuaes-stream/1 header", head[:-32], head[-32:]):
                raise ValueError(f"{path} is not the head of {self.plan.folder}: other parts are at this URL")
        except FileNotFoundError:
            names = self.names()
            if names and "head" not in names:
                raise ValueError(f"{path} is missing, but other objects are at this URL; use another URL") from None
            if put:
                with contextlib.suppress(FileExistsError):
                    self.files.pipe_file(path, self.plan.head, mode="create")
            if put or names:
                self.check_head()

    def receipts(self, prefix="receipt."):
        """The name of one receipt for each complete part. A receipt is put after its part."""
        found = map(RECEIPT.fullmatch, sorted(self.names(prefix), reverse=True))
        return {int(match[1]): match[0] for match in found if match}

    def read_receipts(self, names):
        paths = sorted(self.base + name for name in names)
        receipts = self.files.cat_ranges(paths, None, None, on_error="raise")
        wrong = " ".join(path for path, data in zip(paths, receipts) if not self.plan.has_receipt(path, data))
        if wrong:
            raise ValueError(f"remove these receipts (damaged or from another plan) and seal the parts again: {wrong}")
        return b"".join(receipts)

    def is_joined(self):
        joined = "index" in self.names("index")
        if joined and not self.plan.has_index(self.files.cat_file(self.base + "index")):
            raise ValueError(f"{self.base}index is damaged or from another plan; remove it, and join again")
        return joined


def say(text):
    print(f"objectparts.py: {text}", file=sys.stderr)


def seal(objects, number, options):
    if not objects.plan.has_input and not any(option.startswith(("-i", "--i")) for option in options):
        raise ValueError("this plan has no input; name a file for the part with -i, because its size must be known")
    objects.check_head(put=True)
    receipts = objects.receipts(f"receipt.{number:07}.")
    if receipts:
        objects.read_receipts(receipts.values())
        return say(f"part {number} is already complete")
    read_end, write_end = os.pipe()
    command = ["gpuaes-parts", "seal", objects.plan.folder, "--part", str(number), "-o", "-"]
    command += ["--receipt", f"/dev/fd/{write_end}", *options]
    pipes = {"stdout": subprocess.PIPE, "pass_fds": [write_end]}
    with open(read_end, "rb") as receipt, subprocess.Popen(command, **pipes) as process:
        os.close(write_end)
        header = process.stdout.read(73)  # of the frame; ends with the commitment
        attempt = f"{number:07}.{header[41:].hex()}"
        name = f"{objects.base}part.{attempt}"  # appears at the end of the transaction, unless there is an exception
        with objects.files.transaction, objects.files.open(name, "wb", block_size=1 << 26) as part:
            part.write(header)
            shutil.copyfileobj(process.stdout, part, 1 << 20)
            if process.wait() != 0:
                raise subprocess.CalledProcessError(process.returncode, "gpuaes-parts")
        objects.files.pipe_file(f"{objects.base}receipt.{attempt}", receipt.read())


def join(objects):
    objects.check_head()
    if objects.is_joined():
        return say("the parts are already joined")
    receipts, count = objects.receipts(), objects.plan.count
    if len(receipts) < count:
        raise ValueError(f"{count - len(receipts)} of {count} parts missing; objectparts.py missing lists them")
    index = Path(objects.plan.folder, "index")
    index.unlink(missing_ok=True)  # left by a join that was killed
    command = ["gpuaes-parts", "join", "-q", objects.plan.folder, "--receipts", "-"]
    subprocess.run(command, input=objects.read_receipts(receipts.values()), check=True)
    try:
        data = index.read_bytes()
        index.unlink()
        objects.files.pipe_file(objects.base + "index", data, mode="create")
        say(f"the parts are joined; once you have read the whole file, remove {objects.plan.folder}/job")
    except (FileNotFoundError, FileExistsError):  # another join was faster
        join(objects)


def main(words):
    parser = argparse.ArgumentParser("objectparts.py", description="Encrypt a file in parts that are objects.")
    parser.add_argument("command", choices=["missing", "seal", "join"])
    parser.add_argument("plan", help="the directory that gpuaes-parts plan made")
    parser.add_argument("url", help="where the objects are")
    parser.add_argument("part", nargs="?", type=int, help="the part to seal; options of gpuaes-parts seal can follow")
    arguments, options = parser.parse_known_args(words)
    sealing = arguments.command == "seal"
    if sealing != (arguments.part is not None) or (options and not sealing) or "--" in words:
        parser.error("seal takes the number of a part and options, no command; the others take only a plan and a URL")
    try:
        objects = Objects(Plan(arguments.plan), arguments.url)
        if sealing:
            seal(objects, arguments.part, options)
        elif arguments.command == "join":
            join(objects)
        else:
            objects.check_head()
            print(*sorted({*range(objects.plan.count)} - objects.receipts().keys()))
    except (Exception, KeyboardInterrupt) as error:
        if getattr(error, "returncode", 0) > 0:  # gpuaes-parts has printed why
            sys.exit(error.returncode)
        text = re.sub(r"^\[Errno \d+\]|\s+", " ", str(error)).strip()
        sys.exit(f"{parser.prog}: error: {text or type(error).__name__}")


if __name__ == "__main__":
    main(sys.argv[1:])
