"""fsspec file systems that show the plaintext of sealed files or age files in another file system.

    fsspec.open("sealed::s3://bucket/trips.parquet.sealed", sealed={"key": "backup.key"})
    pandas.read_parquet("age::https://example.com/trips.parquet.age", storage_options={"key": "identity"})

Writing needs gpuaes-stream, next to Python or in PATH."""

import concurrent.futures
import contextlib
import functools
import io
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

import fsspec
from fsspec.implementations.chained import ChainedFileSystem
from fsspec.spec import AbstractBufferedFile

try:
    from gpuaes_stream import NotAuthentic, NotSupported, SealedFile, SealedFileError
except ImportError:  # not from the wheel
    from sealedfile import NotAuthentic, NotSupported, SealedFile, SealedFileError


class SealedFileSystem(ChainedFileSystem):
    """The plaintext of the files whose names end in .sealed. Paths can omit the ending, and listings do. A directory of
    parts with such a name is a file. ls() opens every file to get its size.

    key, passphrase, label, header: as for SealedFile.
    recipients: one or a list; files are written for these, instead of for the key or the passphrase.
    pickle_secret: also pickle a passphrase, or a key that is not the name of a file."""

    protocol, ending = "sealed", ".sealed"

    def __init__(self, fo="", target_protocol=None, target_options=None, fs=None, key=None, passphrase=None, label="",
                 header=None, recipients=(), pickle_secret=False, **options):
        super().__init__(**options)
        # In an attribute named fs, fsspec.open_files() would find a cache, and write plaintext to it.
        self.other = Other(fs or fsspec.filesystem(target_protocol or "file", **(target_options or {})))
        self.opening = {"key": key, "passphrase": passphrase, "label": label, "header": header}
        self.recipients = [recipients] if isinstance(recipients, str) else [*recipients]
        self.pickle_secret = pickle_secret
        self._strip_protocol = self._name  # not a method, because fsspec also calls that of the class
        self._opened = functools.lru_cache(64)(lambda *version: (threading.Lock(), []))  # files of at most 132 KB each

    def __reduce__(self):
        key, passphrase, *_ = self.opening.values()
        if not self.pickle_secret and (passphrase is not None or not isinstance(key, (str, os.PathLike, type(None)))):
            raise ValueError("secrets are not pickled: use the name of a key file, or set pickle_secret")
        return super().__reduce__()

    def to_dict(self, **options):
        self.__reduce__()  # refuses the same secrets
        return super().to_dict(**options)

    def _name(self, path):
        if isinstance(path, list):
            return [self._name(each) for each in path]
        return self.other._strip_protocol(os.fspath(path).removeprefix(f"{self.protocol}://"))

    def plain_name(self, name):
        plain = name.rstrip("/").removesuffix(self.ending)
        return name if plain.endswith(self.ending) else plain  # without one of two endings, it would be another file's

    def sealed_name(self, path):
        name = self._name(path).rstrip("/")
        if f"{self.ending}?" in name and ("://" in name or "versionId=" in name):
            return name
        return name.removesuffix(self.ending) + self.ending

    # --- Reading

    def stat(self, path, **kwargs):
        """What the other file system knows about the file, or about a directory."""
        path = self._name(path)
        if "://" in path and path.endswith("/"):  # HTTP does not know directories
            return {"name": path, "size": None, "type": "directory"}
        with contextlib.suppress(FileNotFoundError, PermissionError):  # S3 may not say which
            found = self.other.info(self.sealed_name(path), **kwargs)
            if self.is_file(found):
                return found
        found = self.other.info(path, **kwargs)
        if found["type"] != "directory":
            raise FileNotFoundError(self.sealed_name(path))
        return found

    def is_file(self, found):
        name = found["name"].rstrip("/")
        return found["type"] != "directory" or name.endswith(self.ending) and self.other.exists(f"{name}/index")

    def sealed(self, found):
        """The SealedFile, which is shared until the file is replaced, if the other file system shows that."""
        name, version = found["name"], found
        if found["type"] == "directory":
            name = f"{name.rstrip('/')}/"
            try:
                version = self.other.info(f"{name}index")
            except FileNotFoundError:
                raise NotAuthentic(f"{name}index is missing") from None
        elif found["type"] == "other":  # a FIFO, for example, which may block forever
            raise NotSupported(f"{name} is not a regular file")
        shared = version.keys() & {"ETag", "etag", "created"}
        opening, opened = (self._opened if shared else self._opened.__wrapped__)(os.getpid(), repr(version))
        with opening, self.forgetting(name):
            if not opened:
                opened.append(SealedFile(name, found["size"], filesystem=self.other, **self.opening))
        return opened[0]

    @contextlib.contextmanager
    def forgetting(self, name):
        """A file that is not authentic may have been replaced, so it is opened again the next time."""
        try:
            yield
        except NotAuthentic:
            self.invalidate_cache(name)
            raise

    def invalidate_cache(self, path=None):
        self.other.invalidate_cache(path)
        self._opened.cache_clear()
        super().invalidate_cache(path)

    def info(self, path, **kwargs):
        return self._plain_info(self.stat(path, **kwargs))

    def _plain_info(self, found, detail=True):
        """The size is None if the file cannot be opened."""
        if not self.is_file(found):
            return found
        size = None
        with contextlib.suppress(SealedFileError, FileNotFoundError, PermissionError):
            if found["type"] == "other":  # listings do not follow links
                found = self.other.info(found["name"])
            size = self.sealed(found).size if detail else None
        return {**found, "name": self.plain_name(found["name"]), "size": size, "type": "file"}

    def ls(self, path, detail=True, **kwargs):
        path, found = self._name(path), []
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            found = [each for each in self.other.ls(path, detail=True, **kwargs)
                     if each["type"] == "directory" or each["name"].endswith(self.ending)]
        found = found or [*filter(self.is_file, [self.stat(path, **kwargs)])]
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            infos = [*pool.map(lambda each: self._plain_info(each, detail), found)]
        return infos if detail else [info["name"] for info in infos]

    def glob(self, path, **kwargs):
        return super().glob(self._name(path).removesuffix(self.ending), **kwargs)

    def cat_file(self, path, start=None, end=None, **kwargs):
        found = self.stat(path)
        file = self.sealed(found)
        start, end, _ = slice(start, end).indices(file.size)
        with self.forgetting(found["name"]):
            return file.read_at(start, max(0, end - start))

    def open(self, path, mode="rb", *args, encoding=None, errors=None, newline=None, **kwargs):
        if "r" not in mode and kwargs.get("compression"):  # the compressor would not close the file
            raise ValueError("only fsspec.open() compresses")
        file = super().open(path, mode.replace("t", "").replace("b", "") + "b", *args, **kwargs)
        return file if "b" in mode else Text(file, encoding, errors, newline)

    def _open(self, path, mode="rb", block_size=None, **kwargs):
        if mode not in ("rb", "wb"):
            raise ValueError("a file can only be read, or written as a whole")
        return File(self, path, mode, block_size or "default", **kwargs)

    # --- Writing

    def command(self, secret_file):
        """The command that encrypts. If the secret is not in a file, this writes it to secret_file."""
        key, passphrase, label, _ = self.opening.values()
        options = [f"-r{each}" for each in self.recipients]
        if not options and (key is None) == (passphrase is None):
            raise ValueError("either a key or a passphrase is needed")
        if not options and isinstance(key, (str, os.PathLike)):
            options = ["-k", key]
        elif not options:
            secret = passphrase.encode() if isinstance(passphrase, str) else bytes(key or passphrase)
            if passphrase is not None and set(secret) & set(b"\r\n"):
                raise ValueError("a passphrase must be one line")  # gpuaes-stream reads only the first
            secret_file.write(secret)
            secret_file.flush()
            options = ["-k" if passphrase is None else "--passphrase-file", f"/dev/fd/{secret_file.fileno()}"]
        options += ["--label", label.encode()] if label else []
        folders = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])
        program = shutil.which("gpuaes-stream", path=folders) or "gpuaes-stream"
        return [program, "-q", "-e", "-f", self.protocol, *options]

    def mkdir(self, path, create_parents=True, **kwargs):
        self.other.mkdir(self._name(path), create_parents, **kwargs)

    def makedirs(self, path, exist_ok=False):
        self.other.makedirs(self._name(path), exist_ok)

    def rmdir(self, path):
        self.other.rmdir(self._name(path))

    def rm(self, path, recursive=False, maxdepth=None):
        for each in reversed(self.expand_path(path, recursive, maxdepth)):
            try:
                self.rm_file(each)
            except FileNotFoundError:  # object storage keeps no empty directories
                if not recursive or self.exists(each):
                    raise

    def rm_file(self, path):
        found = self.stat(path)
        if found["type"] != "directory":
            self.other.rm_file(self.sealed_name(path))
        elif self.is_file(found):
            self.sealed(found)  # raises an error if it is another kind of directory
            self.other.rm(found["name"], recursive=True)
        else:
            self.rmdir(found["name"])


class AgeFileSystem(SealedFileSystem):
    __doc__ = SealedFileSystem.__doc__.replace(".sealed", ".age")
    protocol, ending = "age", ".age"


class Other:
    """The other file system. A child has its own, because connections and locks are those of the parent."""

    def __init__(self, fs):
        self._fs, self._pid = fs, os.getpid()

    def __getattr__(self, name):
        if self._pid != os.getpid():
            self.__init__(type(self._fs)(*self._fs.storage_args, **self._fs.storage_options))
        return getattr(self._fs, name)


class Text(io.TextIOWrapper):
    def __exit__(self, *error):  # a frame that File.close() finds
        self.close()


class File(AbstractBufferedFile):
    """The plaintext of a file. Written data is encrypted into a temporary file, which close() copies into place. It is
    discarded if an exception ends the with block, or if the file is never closed."""

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
        self._input, end = socket.socketpair()  # shutdown() ends the input even if a child has a copy, unlike a pipe's
        with end, open(os.memfd_create("secret"), "wb") as secret:
            self._process = subprocess.Popen(self.fs.command(secret), stdin=end, stdout=self._sealed,
                                             stderr=subprocess.PIPE, pass_fds=[secret.fileno()])

    def _upload_chunk(self, final=False):
        with contextlib.suppress(ConnectionError):
            self._input.sendall(self.buffer.getbuffer())
            if not final:
                return
            self._input.shutdown(socket.SHUT_WR)
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
        target, name, file = self.fs.other, self.fs.sealed_name(self.path), f"/dev/fd/{self._sealed.fileno()}"
        storage = target
        while getattr(storage, "fs", None):  # that of a cache or a directory
            storage = storage.fs
        with self._input, self._sealed:
            if storage.async_impl:  # object storage, where an object appears when its upload ends
                return target.put_file(file, name)
            if target.isdir(name):  # into which mv() would move the file
                raise IsADirectoryError(name)
            incomplete = f"{name}.{os.urandom(8).hex()}.incomplete"
            try:
                target.put_file(file, incomplete)
                target.mv(incomplete, name)
            except BaseException:
                with contextlib.suppress(FileNotFoundError):
                    target.rm_file(incomplete)
                raise

    def close(self):
        """Discards if called by an __exit__() that got an exception. That of OpenFile, for example, only calls this."""
        frame, error = sys._getframe(), sys.exc_info()[1]
        while frame.f_back and frame.f_code.co_name == "close":
            frame = frame.f_back
        if error and frame.f_code.co_name == "__exit__" and any(
                error in (each if isinstance(each, tuple) else [each]) for each in frame.f_locals.values()):
            self.discard()
        super().close()

    def discard(self, *ignored):
        self.closed = True
        if self._process is not None and self._pid == os.getpid():
            with self._process:
                self._process.kill()
            self._input.close()
            self._sealed.close()

    __del__ = _dealloc_warn = discard  # the second is for a TextIOWrapper that is collected without close()
