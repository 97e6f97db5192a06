"""File systems of fsspec for sealed files and age files that are in any other one.

    fsspec.open("sealed::s3://bucket/trips.parquet.sealed", sealed={"key": "backup.key"})
    pandas.read_parquet("age::https://example.com/trips.parquet.age", storage_options={"key": "identity"})

To write, they need gpuaes-stream, next to Python or in PATH."""

import concurrent.futures
import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import threading

import fsspec
from fsspec.implementations.chained import ChainedFileSystem
from fsspec.spec import AbstractBufferedFile

try:
    from gpuaes_stream import SealedFile, SealedFileError
except ImportError:  # not from the wheel
    from sealedfile import SealedFile, SealedFileError

KEPT = 64  # open files of a file system, at most 132 KB each


class SealedFileSystem(ChainedFileSystem):
    """The plaintext of the files in another file system, under their names without the ending .sealed. A directory of
    parts is a file. Files without the ending are not listed. ls() opens all files, because it needs their sizes.

    key, passphrase, label, header: as for SealedFile.
    recipients: files are written for these, instead of the key or the passphrase.
    pickle_secret: a passphrase, and a key that is not the name of a file, may be pickled."""

    protocol, ending = "sealed", ".sealed"

    def __init__(self, fo="", target_protocol=None, target_options=None, fs=None, key=None, passphrase=None, label="",
                 header=None, recipients=(), pickle_secret=False, **options):
        super().__init__(**options)
        self._fs = fs or fsspec.filesystem(target_protocol or "file", **(target_options or {}))
        self._pid, self._lock, self._opened = os.getpid(), threading.Lock(), {}
        self.opening = {"key": key, "passphrase": passphrase, "label": label, "header": header}
        self.recipients, self.pickle_secret = recipients, pickle_secret

    @property
    def fs(self):
        if self._pid != os.getpid():  # after a fork, other file systems are needed, and locks may be held forever
            make, arguments = self._fs.__reduce__()[:2]
            self._fs, self._pid, self._lock, self._opened = make(*arguments), os.getpid(), threading.Lock(), {}
        return self._fs

    def __reduce__(self):
        if not self.pickle_secret and not isinstance(self.opening["key"], (str, os.PathLike)):
            raise ValueError("the secret is not pickled: give the name of a key file, or pickle_secret=True")
        return super().__reduce__()

    @classmethod
    def _strip_protocol(cls, path):
        if isinstance(path, list):
            return [cls._strip_protocol(each) for each in path]
        return os.fspath(path).removeprefix(f"{cls.protocol}://")

    def plain_name(self, path):
        return self._strip_protocol(path).rstrip("/").removesuffix(self.ending)

    # --- Reading

    def stat(self, path):
        """What the other file system knows of the file."""
        path = self._strip_protocol(path)
        if path.endswith(f"{self.ending}/"):  # HTTP does not know directories
            return {"name": path, "size": None, "type": "directory"}
        with contextlib.suppress(FileNotFoundError):
            return self.fs.info(path if path.endswith(self.ending) or "?" in path else path + self.ending)
        return self.fs.info(path)

    def sealed(self, found):
        """The open file, which all share until another one has its name."""
        fs, version = self.fs, repr(sorted(found.items(), key=str))
        with self._lock:
            self._opened[version] = opening, opened = self._opened.pop(version, None) or (threading.Lock(), [])
            if len(self._opened) > KEPT:
                del self._opened[next(iter(self._opened))]
        with opening:
            if not opened:
                size = None if found["type"] == "directory" else found["size"]
                opened.append(SealedFile(found["name"], size, filesystem=fs, **self.opening))
        return opened[0]

    def _plain_info(self, found, listing=False):
        is_directory, name = found["type"] == "directory", self.plain_name(found["name"])
        if is_directory and name == found["name"].rstrip("/"):
            return found
        try:
            return {**found, "name": name, "size": self.sealed(found).size, "type": "file"}
        except SealedFileError:
            if is_directory or not listing:
                raise
            return {**found, "name": name, "size": None}

    def info(self, path, **kwargs):
        return self._plain_info(self.stat(path))

    def ls(self, path, detail=True, **kwargs):
        path = self._strip_protocol(path)
        try:
            found = [self.stat(path)] if path.endswith(self.ending) else self.fs.ls(path, detail=True)
        except (FileNotFoundError, NotADirectoryError):
            found = [self.stat(path)]
        found = [each for each in found if each["type"] == "directory" or each["name"].endswith(self.ending)]
        if not detail:
            return [self.plain_name(each["name"]) for each in found]
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            return [*pool.map(lambda each: self._plain_info(each, listing=True), found)]

    def glob(self, path, **kwargs):
        return super().glob(self.plain_name(path), **kwargs)

    def cat_file(self, path, start=None, end=None, **kwargs):
        file = self.sealed(self.stat(path))
        start, end, _ = slice(start, end).indices(file.size)
        return file.read_at(start, max(0, end - start))

    def _open(self, path, mode="rb", block_size=None, autocommit=True, **kwargs):
        if mode == "rb":
            return PlainFile(self, path, mode, block_size or "default", **kwargs)
        if mode != "wb":
            raise ValueError("files are read, or written as a whole")
        return Writer(self, self.plain_name(path) + self.ending, autocommit)

    # --- Writing

    def command(self, secret_file):
        """The command that seals, after it has written a secret that is not in a file."""
        key, passphrase, label, _ = self.opening.values()
        options = ["-k" if passphrase is None else "--passphrase-file", key]
        if not isinstance(key, (str, os.PathLike)):
            secret_file.write(os.fsencode(key or passphrase or b""))
            secret_file.seek(0)
            options[1] = f"/dev/fd/{secret_file.fileno()}"
        options = [each for recipient in self.recipients for each in ("-r", recipient)] or options
        options += ["--label", label] if label else []
        folders = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])
        program = shutil.which("gpuaes-stream", path=folders) or "gpuaes-stream"
        return [program, "-q", "-e", "-f", self.protocol, *options]

    def mkdir(self, path, create_parents=True, **kwargs):
        self.fs.mkdir(self._strip_protocol(path), create_parents, **kwargs)

    def makedirs(self, path, exist_ok=False):
        self.fs.makedirs(self._strip_protocol(path), exist_ok)

    def rm_file(self, path):
        found = self.stat(path)
        is_file = found["type"] != "directory" or found["name"].endswith(self.ending)
        self.fs.rm(found["name"], recursive=True) if is_file else self.fs.rmdir(found["name"])


class AgeFileSystem(SealedFileSystem):
    __doc__ = SealedFileSystem.__doc__.replace(".sealed", ".age")
    protocol, ending = "age", ".age"


class PlainFile(AbstractBufferedFile):
    def __init__(self, fs, path, mode, block_size, **kwargs):
        self._found, self._pid = fs.stat(path), os.getpid()
        self._plain = fs.sealed(self._found)
        super().__init__(fs, path, mode, block_size, **{**kwargs, "size": self._plain.size})

    def _fetch_range(self, start, end):
        if self._pid != os.getpid():  # after a fork
            if self.fs.stat(self.path) != self._found:
                raise OSError(f"{self.path} was replaced")
            self._plain, self._pid = self.fs.sealed(self._found), os.getpid()
        return self._plain.read_at(start, end - start)


class Writer(io.RawIOBase):
    """Pipes through gpuaes-stream into a file that gets its name when all has succeeded: in object storage, which is
    asynchronous in fsspec, by the end of the upload, elsewhere by renaming it."""

    def __init__(self, fs, path, autocommit):
        self._fs, self._path, self._autocommit, self._size = fs.fs, path, autocommit, 0
        self._handled, self._uploads, self._messages = sys.exc_info()[1], fs.fs.async_impl, tempfile.TemporaryFile()
        self._name = path if self._uploads else f"{path}.{os.urandom(8).hex()}.incomplete"
        with open(os.memfd_create("secret"), "wb") as secret:
            self._process = subprocess.Popen(fs.command(secret), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                             stderr=self._messages, pass_fds=[secret.fileno()])
        try:
            self._out = self._fs.open(self._name, "wb", **({"autocommit": False} if self._uploads else {}))
        except BaseException:
            self._process.kill()
            raise
        self._failed = []
        arguments = self._process.stdout, self._out, self._failed
        self._thread = threading.Thread(target=self._copy, args=arguments, daemon=True)
        self._thread.start()

    @staticmethod  # a thread with a reference to the Writer would keep it from being collected
    def _copy(sealed, out, failed):
        try:
            with sealed:  # if this fails, so does the process
                shutil.copyfileobj(sealed, out, 1 << 20)
        except Exception as error:
            failed.append(error)

    def writable(self):
        return True

    def tell(self):
        return self._size

    def write(self, data):
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(data)
            self._size += memoryview(data).nbytes
            return memoryview(data).nbytes
        self._end()

    def _end(self):
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._thread.join()
        if self._process.wait() != 0 or self._failed:
            self._messages.seek(0)
            raise (self._failed or [OSError(self._messages.read().decode(errors="replace").strip())])[0]

    def close(self):
        """Commits, unless an exception ends the block that writes."""
        if self.closed:
            return
        super().close()
        fails = sys.exc_info()[1] not in (None, self._handled)
        try:
            if fails:
                self._process.kill()
            self._end()
            self._out.close()
            if self._autocommit:
                self.commit()
        except BaseException:
            self.discard()
            if not fails:
                raise

    def __del__(self):
        if not self.closed and hasattr(self, "_thread"):  # incomplete
            self._process.kill()
            self.discard()

    def commit(self):
        self._out.commit() if self._uploads else self._fs.mv(self._name, self._path)

    def discard(self):
        if self._uploads:
            self._out.discard()
            self._out.closed = True  # otherwise, it would be uploaded when it is collected
        else:
            self._fs.rm_file(self._name)
