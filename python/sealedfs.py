"""File systems of fsspec for sealed files and age files that are in any other one.

    fsspec.open("sealed::s3://bucket/trips.parquet.sealed", sealed={"key": "backup.key"})
    pandas.read_parquet("age::https://example.com/trips.parquet.age", storage_options={"key": "identity"})

To write, they need gpuaes-stream, next to Python or in PATH."""

import concurrent.futures
import contextlib
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
        if key is not None and passphrase is not None:
            raise ValueError("either a key or a passphrase is needed")
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
        self._check_pickle()
        return super().__reduce__()

    def to_dict(self, **options):
        self._check_pickle()
        return super().to_dict(**options)

    def _check_pickle(self):
        key, passphrase = self.opening["key"], self.opening["passphrase"]
        if not self.pickle_secret and (passphrase is not None or not isinstance(key, (str, os.PathLike, type(None)))):
            raise ValueError("the secret is not pickled: give the name of a key file, or pickle_secret=True")

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
        fs, size, version = self.fs, found["size"], repr(sorted(found.items(), key=str))
        if found["type"] == "directory":
            size = None
            with contextlib.suppress(FileNotFoundError):
                version += repr(fs.info(f"{found['name'].rstrip('/')}/index"))
        with self._lock:
            self._opened[version] = opening, opened = self._opened.pop(version, None) or (threading.Lock(), [])
            if len(self._opened) > KEPT:
                del self._opened[next(iter(self._opened))]
        with opening:
            if not opened:
                opened.append(SealedFile(found["name"], size, filesystem=fs, **self.opening))
        return opened[0]

    def _plain_info(self, found, listing=False):
        is_directory, name = found["type"] == "directory", self.plain_name(found["name"])
        if is_directory and name == found["name"].rstrip("/"):
            return found
        try:
            return {**found, "name": name, "size": self.sealed(found).size, "type": "file"}
        except SealedFileError:
            if not listing:
                raise
            return found if is_directory else {**found, "name": name, "size": None}

    def info(self, path, **kwargs):
        return self._plain_info(self.stat(path))

    def ls(self, path, detail=True, **kwargs):
        path = self._strip_protocol(path)
        with contextlib.suppress(SealedFileError):
            if path.endswith(self.ending):  # a file, unless it is a directory of another kind
                found = self.info(path)
                return [found] if detail else [found["name"]]
        try:
            found = self.fs.ls(path, detail=True)
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

    def _open(self, path, mode="rb", block_size=None, **kwargs):
        if mode not in ("rb", "wb"):
            raise ValueError("files are read, or written as a whole")
        return File(self, path, mode, block_size or "default", **kwargs)

    # --- Writing

    def command(self, secret_file):
        """The command that seals, after it has written a secret that is not in a file."""
        key, passphrase, label, _ = self.opening.values()
        if passphrase is not None and set(os.fsencode(passphrase)) & set(b"\r\n"):
            raise ValueError("a passphrase is one line")  # gpuaes-stream reads only the first
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
        is_file = found["type"] != "directory" or self._plain_info(found, listing=True)["type"] == "file"
        self.fs.rm(found["name"], recursive=True) if is_file else self.fs.rmdir(found["name"])


class AgeFileSystem(SealedFileSystem):
    __doc__ = SealedFileSystem.__doc__.replace(".sealed", ".age")
    protocol, ending = "age", ".age"


class File(AbstractBufferedFile):
    """The plaintext of a file. What is written is piped through gpuaes-stream into a file that gets its name when all has
    succeeded: in object storage, which is asynchronous in fsspec, by the end of the upload, elsewhere by renaming it."""

    def __init__(self, fs, path, mode, block_size, **kwargs):
        self._pid, self._handled, self._process = os.getpid(), sys.exc_info()[1], None
        if mode == "rb":
            self._found = fs.stat(path)
            self._plain = fs.sealed(self._found)
            kwargs["size"] = self._plain.size
        super().__init__(fs, path, mode, block_size, **kwargs)

    def _fetch_range(self, start, end):
        if self._pid != os.getpid():  # after a fork
            if self.fs.stat(self.path) != self._found:
                raise OSError(f"{self.path} was replaced")
            self._plain, self._pid = self.fs.sealed(self._found), os.getpid()
        return self._plain.read_at(start, end - start)

    def _initiate_upload(self):
        self._target, self._messages, self._failed = self.fs.fs, tempfile.TemporaryFile(), []
        self._name = self._path = self.fs.plain_name(self.path) + self.fs.ending
        if not self._target.async_impl:
            self._name += f".{os.urandom(8).hex()}.incomplete"
        with open(os.memfd_create("secret"), "wb") as secret:
            process = subprocess.Popen(self.fs.command(secret), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=self._messages, pass_fds=[secret.fileno()])
        try:
            how = {"autocommit": False} if self._target.async_impl else {}
            self._out, self._process = self._target.open(self._name, "wb", **how), process
        except BaseException:
            process.kill()
            raise
        self._thread = threading.Thread(target=self._copy, args=(process.stdout, self._out, self._failed), daemon=True)
        self._thread.start()

    @staticmethod  # a thread with a reference to the file would keep it from being collected
    def _copy(sealed, out, failed):
        try:
            with sealed:  # if this fails, so does the process
                shutil.copyfileobj(sealed, out, 1 << 20)
        except Exception as error:
            failed.append(error)

    def _upload_chunk(self, final=False):
        try:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.write(self.buffer.getbuffer())
                self._process.stdin.flush()
                if not final:
                    return
            self._end()
            if self.autocommit:
                self.commit()
        except BaseException:
            self.discard()
            raise

    def _end(self):
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._thread.join()
        if self._process.wait() != 0 or self._failed:
            self._messages.seek(0)
            raise (self._failed or [OSError(self._messages.read().decode(errors="replace").strip())])[0]
        self._out.close()

    def close(self):
        """Commits what was written, unless an exception ends the block that writes."""
        if self.mode == "wb" and not self.closed and sys.exc_info()[1] not in (None, self._handled):
            self.discard()
        super().close()

    def __del__(self):
        if getattr(self, "mode", "rb") == "wb" and not self.closed and self._pid == os.getpid():
            self.discard()

    def commit(self):
        self._out.commit() if self._target.async_impl else self._target.mv(self._name, self._path)

    def discard(self):
        """Also stops what is running."""
        self.closed = True
        if self._process is None:
            return
        self._process.kill()
        self._thread.join()
        self._process = None
        if self._target.async_impl:
            self._out.discard()
            self._out.closed = True  # otherwise, it would be uploaded when it is collected
        else:
            self._target.rm_file(self._name)
