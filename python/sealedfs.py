"""File systems of fsspec for sealed files and age files that are in any other one.

    fsspec.open("sealed::s3://bucket/trips.parquet.sealed", sealed={"key": "backup.key"})
    pandas.read_parquet("age::https://example.com/trips.parquet.age", storage_options={"key": "identity"})

To write, they need gpuaes-stream, next to Python or in PATH."""

import concurrent.futures
import contextlib
import functools
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
    from gpuaes_stream import NotAuthentic, SealedFile, SealedFileError
except ImportError:  # not from the wheel
    from sealedfile import NotAuthentic, SealedFile, SealedFileError


class SealedFileSystem(ChainedFileSystem):
    """The plaintext of the files in another file system whose names end in .sealed; the ending can be omitted. A
    directory of parts is a file, whatever its name. ls() opens all files, because it needs their sizes.

    key, passphrase, label, header: as for SealedFile.
    recipients: one or a list; files are written for these, instead of the key or the passphrase.
    pickle_secret: a passphrase, and a key that is not the name of a file, may be pickled."""

    protocol, ending = "sealed", ".sealed"

    def __init__(self, fo="", target_protocol=None, target_options=None, fs=None, key=None, passphrase=None, label="",
                 header=None, recipients=(), pickle_secret=False, **options):
        if key is not None and passphrase is not None:
            raise ValueError("either a key or a passphrase is needed")
        super().__init__(**options)
        self._use(fs or fsspec.filesystem(target_protocol or "file", **(target_options or {})))
        self.opening = {"key": key, "passphrase": passphrase, "label": label, "header": header}
        self.recipients = [recipients] if isinstance(recipients, str) else recipients
        self.pickle_secret = pickle_secret
        self._strip_protocol = self._name  # the class has another one, for URLs without a name

    def _use(self, fs):
        self._fs, self._pid = fs, os.getpid()
        self._opened = functools.lru_cache(64)(lambda version: (threading.Lock(), []))  # files of at most 132 KB each

    @property
    def fs(self):
        if self._pid != os.getpid():  # after a fork, connections are the parent's, and locks may be held forever
            self._use(type(self._fs)(*self._fs.storage_args, **self._fs.storage_options))
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

    def _name(self, path):
        if isinstance(path, list):
            return [self._name(each) for each in path]
        return self._fs._strip_protocol(os.fspath(path).removeprefix(f"{self.protocol}://"))

    def plain_name(self, path):
        return self._name(path).rstrip("/").removesuffix(self.ending)

    def sealed_name(self, path):
        return self.plain_name(path) + self.ending

    # --- Reading

    def stat(self, path):
        """What the other file system knows of the file, or of a directory."""
        path = self._name(path)
        if "://" in path and path.endswith("/"):  # HTTP does not know directories
            return {"name": path, "size": None, "type": "directory"}
        has_query = f"{self.ending}?" in path and ("://" in path or "versionId=" in path)
        with contextlib.suppress(FileNotFoundError, PermissionError):  # S3 may not say which
            found = self.fs.info(path if has_query else self.sealed_name(path))
            if found["type"] != "directory" or self.fs.exists(f"{found['name']}/index"):
                return found
        found = self.fs.info(path)
        if found["type"] != "directory":
            raise FileNotFoundError(self.sealed_name(path))
        return found

    def sealed(self, found):
        """The open file. All share it until another one has its name, if the other file system can tell."""
        name, version = found["name"], found
        if found["type"] == "directory":
            name = f"{name.rstrip('/')}/"
            try:
                version = self.fs.info(f"{name}index")
            except FileNotFoundError:
                raise NotAuthentic(f"{name}index is missing") from None
        shared = version.keys() & {"ETag", "etag", "created"}
        opening, opened = (self._opened if shared else self._opened.__wrapped__)(repr(version))
        with opening, self.forgetting(name):
            if not opened:
                opened.append(SealedFile(name, found["size"], filesystem=Other(self), **self.opening))
        return opened[0]

    @contextlib.contextmanager
    def forgetting(self, name):
        """A file that is not authentic may have been replaced, so what is known of it is not used again."""
        try:
            yield
        except NotAuthentic:
            self.invalidate_cache(name)
            raise

    def invalidate_cache(self, path=None):
        self.fs.invalidate_cache(path)
        self._opened.cache_clear()
        super().invalidate_cache(path)

    def info(self, path, **kwargs):
        return self._plain_info(self.stat(path))

    def _plain_info(self, found, detail=True):
        """If a file does not open, its size is None."""
        is_directory, size = found["type"] == "directory", None
        with contextlib.suppress(SealedFileError, FileNotFoundError, PermissionError):
            size = self.sealed(found).size if detail or is_directory else None
        if is_directory and size is None:  # of another kind
            return found
        return {**found, "name": self.plain_name(found["name"]), "size": size, "type": "file"}

    def ls(self, path, detail=True, **kwargs):
        path = self._name(path)
        found = [] if path.endswith(self.ending) else self._sealed_in(path)
        if not found:
            found = [self.stat(path)]
            if self._plain_info(found[0])["type"] == "directory":
                found = self._sealed_in(path)
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            infos = [*pool.map(lambda each: self._plain_info(each, detail), found)]
        return infos if detail else [info["name"] for info in infos]

    def _sealed_in(self, path):
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            return [each for each in self.fs.ls(path, detail=True)
                    if each["type"] == "directory" or each["name"].endswith(self.ending)]
        return []

    def glob(self, path, **kwargs):
        return super().glob(self._name(path).removesuffix(self.ending), **kwargs)

    def cat_file(self, path, start=None, end=None, **kwargs):
        found = self.stat(path)
        file = self.sealed(found)
        start, end, _ = slice(start, end).indices(file.size)
        with self.forgetting(found["name"]):
            return file.read_at(start, max(0, end - start))

    def open(self, path, mode="rb", *args, **kwargs):
        if "r" not in mode and kwargs.get("compression"):  # the compressor would not close the file
            raise ValueError("only fsspec.open() compresses")
        if "r" in mode or "b" in mode:
            return super().open(path, mode, *args, **kwargs)
        text = {each: kwargs.pop(each) for each in ("encoding", "errors", "newline") if each in kwargs}
        return Text(super().open(path, f"{mode.replace('t', '')}b", *args, **kwargs), **text)

    def _open(self, path, mode="rb", block_size=None, **kwargs):
        if mode not in ("rb", "wb"):
            raise ValueError("files are read, or written as a whole")
        return File(self, path, mode, block_size or "default", **kwargs)

    # --- Writing

    def command(self, secret_file):
        """The command that seals, after it has written a secret that is not in a file."""
        key, passphrase, label, _ = self.opening.values()
        options = [f"-r{each}" for each in self.recipients]
        if not options and isinstance(key, (str, os.PathLike)):
            options = ["-k", key]
        elif not options:
            secret = os.fsencode(key or passphrase or b"")
            if passphrase is not None and set(secret) & set(b"\r\n"):
                raise ValueError("a passphrase is one line")  # gpuaes-stream reads only the first
            secret_file.write(secret)
            secret_file.flush()
            options = ["-k" if passphrase is None else "--passphrase-file", f"/dev/fd/{secret_file.fileno()}"]
        options += ["--label", label] if label else []
        folders = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])
        program = shutil.which("gpuaes-stream", path=folders) or "gpuaes-stream"
        return [program, "-q", "-e", "-f", self.protocol, *options]

    def mkdir(self, path, create_parents=True, **kwargs):
        self.fs.mkdir(self._name(path), create_parents, **kwargs)

    def makedirs(self, path, exist_ok=False):
        self.fs.makedirs(self._name(path), exist_ok)

    def rm(self, path, recursive=False, maxdepth=None):
        for each in reversed(self.expand_path(path, recursive, maxdepth)):
            with contextlib.suppress(*[FileNotFoundError] * recursive):  # object storage keeps no empty directories
                self.rm_file(each)

    def rm_file(self, path):
        found = self.stat(path)
        if found["type"] != "directory":
            self.fs.rm_file(self.sealed_name(path))
        elif self._plain_info(found)["type"] == "file":
            self.fs.rm(found["name"], recursive=True)
        else:
            self.fs.rmdir(found["name"])


class AgeFileSystem(SealedFileSystem):
    __doc__ = SealedFileSystem.__doc__.replace(".sealed", ".age")
    protocol, ending = "age", ".age"


class Other:
    """The other file system, that of the process that reads."""

    def __init__(self, files):
        self._files = files

    def __getattr__(self, name):
        return getattr(self._files.fs, name)


class Text(io.TextIOWrapper):
    def __exit__(self, error, *others):
        self.close() if error is None else self.buffer.discard()


class File(AbstractBufferedFile):
    """The plaintext of a file. What is written is sealed in a temporary file, which close() copies to its place. It is
    discarded if an exception ends the block that writes, or if it is never closed."""

    _process = None

    def __init__(self, fs, path, mode, block_size, **kwargs):
        self._pid = os.getpid()
        if mode == "rb":
            self._plain = fs.sealed(fs.stat(path))
            kwargs["size"] = self._plain.size
        super().__init__(fs, path, mode, block_size, **kwargs)

    def _fetch_range(self, start, end):
        with self.fs.forgetting(self.path):
            return self._plain.read_at(start, end - start)

    def _initiate_upload(self):
        self._sealed = tempfile.TemporaryFile()
        with open(os.memfd_create("secret"), "wb") as secret:
            self._process = subprocess.Popen(self.fs.command(secret), stdin=subprocess.PIPE, stdout=self._sealed,
                                             stderr=subprocess.PIPE, pass_fds=[secret.fileno()])

    def _upload_chunk(self, final=False):
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(self.buffer.getbuffer())
            self._process.stdin.flush()
            if not final:
                return
        message, status = self._process.communicate()[1].decode(errors="replace").strip(), self._process.returncode
        if status != 0:
            raise OSError(status > 0 and message or str(subprocess.CalledProcessError(status, self._process.args[0])))
        if self.autocommit:
            self.commit()

    def commit(self):
        if not self.closed and not self.forced:
            raise ValueError(f"{self.path} is not closed")
        if self._process is None or self._process.returncode != 0:  # it was discarded
            return
        target, name, file = self.fs.fs, self.fs.sealed_name(self.path), f"/dev/fd/{self._sealed.fileno()}"
        incomplete = f"{name}.{os.urandom(8).hex()}.incomplete"
        with self._sealed:
            if target.async_impl:  # object storage, where an upload has no name before its end
                return target.put_file(file, name)
            if target.isdir(name):  # into which mv() would move the file
                raise IsADirectoryError(name)
            try:
                target.put_file(file, incomplete)
                target.mv(incomplete, name)
            except BaseException:
                with contextlib.suppress(FileNotFoundError):
                    target.rm_file(incomplete)
                raise

    def close(self):
        """OpenFile and others call only this when an exception ends their block, although their __exit__ gets it."""
        frame, error = sys._getframe(), sys.exc_info()[1]
        while frame and frame.f_code.co_name == "close":
            frame = frame.f_back
        given = frame.f_locals.values() if frame and frame.f_code.co_name == "__exit__" else []
        if error and any(each is error or isinstance(each, tuple) and error in each for each in given):
            self.discard()
        super().close()

    def __exit__(self, error, *others):
        self.close() if error is None else self.discard()

    def discard(self, *ignored):
        self.closed = True
        if self._process is not None and self._pid == os.getpid():
            self._process.kill()
            self._process.communicate()
            self._sealed.close()

    __del__ = _dealloc_warn = discard  # the second is for a TextIOWrapper that is collected without close()
