"""sealed:: and age:: URLs of fsspec, with the programs that people use them with, over HTTP and S3.

S3 is moto's. Everything is skipped without fsspec, and each test without its package."""

import asyncio
import concurrent.futures
import contextlib
import gc
import os
import pathlib
import pickle
import shutil
import tarfile
import threading
import time

import pytest

from http_ranges import server
from programs import FOLDER, KEY, script, some_bytes, stream
from recipes import code_with

pytest.importorskip("cryptography")
pytest.importorskip("fsspec.implementations.chained")
import fsspec  # noqa: E402
import age_format as af  # noqa: E402
import parts_format as pf  # noqa: E402
import sealed_format as sf  # noqa: E402
from gpuaes_stream import NotAuthentic, WrongKey  # noqa: E402

PLAIN = some_bytes(300_000)


@pytest.fixture(autouse=True)
def path(monkeypatch):
    monkeypatch.setenv("PATH", f"{FOLDER}:{os.environ['PATH']}")


@pytest.fixture
def memory():
    files = fsspec.filesystem("memory")
    files.store.clear()
    files.pipe_file("/d/one.bin.sealed", sf.seal(PLAIN, keys=[KEY]))
    files.pipe_file("/d/two.bin.sealed", sf.seal(b"two", keys=[KEY]))
    files.pipe_file("/d/sub/three.bin.sealed", sf.seal(b"", keys=[KEY]))
    files.pipe_file("/d/foreign.txt", b"not sealed")
    return files


def pipe_parts(files, name, plain):
    job = pf.new_job(keys=[KEY])
    pf.write_directory("parts", job, pf.seal_parts(job, pf.cut(plain, 3)))
    for file in pathlib.Path("parts").iterdir():
        files.pipe_file(f"{name}/{file.name}", file.read_bytes())


def sealed(key, target="memory", **options):
    return fsspec.filesystem("sealed", target_protocol=target, key=key, **options)


# --- Names, sizes and contents


def test_names_and_sizes_are_those_of_the_plaintext(memory, key):
    files = sealed(key)
    assert sorted(files.ls("/d", detail=False)) == ["/d/one.bin", "/d/sub", "/d/two.bin"]
    assert {info["name"]: info["size"] for info in files.ls("/d")} == {"/d/one.bin": 300_000, "/d/two.bin": 3, "/d/sub": 0}
    assert files.glob("/d/*.bin") == files.glob("/d/*.bin.sealed") == ["/d/one.bin", "/d/two.bin"]
    assert sorted(files.find("/d")) == ["/d/one.bin", "/d/sub/three.bin", "/d/two.bin"]
    for name in "/d/one.bin", "/d/one.bin.sealed":
        assert files.info(name)["name"] == "/d/one.bin" and files.size(name) == 300_000 and files.isfile(name)
        assert files.cat_file(name) == PLAIN and files.cat_file(name, 5, 10) == PLAIN[5:10]
        assert files.cat_file(name, -10) == PLAIN[-10:]
        with files.open(name) as file:
            assert file.seek(100_000) == 100_000 and file.read(10) == PLAIN[100_000:100_010] and file.size == 300_000
    assert files.isdir("/d") and not files.exists("/d/none")
    with pytest.raises(FileNotFoundError):
        files.open("/d/none")


def test_urls(memory, key):
    for url in "sealed::memory://d/two.bin.sealed", "sealed::memory://d/two.bin":
        with fsspec.open(url, sealed={"key": key}) as file:
            assert file.read() == b"two"
    opened = fsspec.open_files("sealed::memory://d/*.bin", sealed={"key": key})
    assert [file.path for file in opened] == ["/d/one.bin", "/d/two.bin"]
    several = [f"sealed::memory://d/{name}.bin.sealed" for name in ("two", "one")]
    with fsspec.open_files(several, sealed={"key": key}) as (two, one):
        assert two.read() == b"two" and one.read() == PLAIN
    with fsspec.open("sealed::memory://d/two.bin", "r", sealed={"key": key}) as file:
        assert file.read() == "two"


def test_a_directory_of_parts_is_a_file(memory, key):
    pipe_parts(memory, "/d/disk.sealed", PLAIN)
    files = sealed(key)
    assert files.cat_file("/d/disk") == files.cat_file("/d/disk.sealed") == PLAIN
    assert files.info("/d/disk")["type"] == "file" and files.size("/d/disk") == len(PLAIN)
    assert "/d/disk" in files.glob("/d/*") and not [name for name in files.find("/d") if "part." in name]
    shutil.rmtree("parts")
    pipe_parts(memory, "/d/disk.sealed", PLAIN[::-1])  # as another file
    assert files.cat_file("/d/disk") == PLAIN[::-1]
    files.rm("/d/disk")
    assert not memory.exists("/d/disk.sealed")


def test_other_directories_with_the_ending_are_listed_as_directories(memory, key):
    memory.pipe_file("/d/photos.sealed/one.sealed", sf.seal(b"one", keys=[KEY]))
    files = sealed(key)
    assert {info["name"]: info["type"] for info in files.ls("/d")}["/d/photos.sealed"] == "directory"
    assert "/d/photos.sealed/one" in files.find("/d") and files.cat_file("/d/photos.sealed/one") == b"one"
    with pytest.raises(NotAuthentic, match="index is missing"):
        files.open("/d/photos.sealed")
    with pytest.raises(OSError):
        files.rm("/d/photos.sealed")
    assert files.exists("/d/photos.sealed/one")


def test_transactions(memory, key):
    """Files get their names when the transaction ends, and only if it succeeds."""
    files = sealed(key)
    with files.transaction:
        files.pipe_file("/d/new", PLAIN)
        assert not files.exists("/d/new")
    assert files.cat_file("/d/new") == PLAIN
    with pytest.raises(KeyError), files.transaction:
        files.pipe_file("/d/other", PLAIN)
        raise KeyError
    assert not files.exists("/d/other") and not [name for name in memory.store if "incomplete" in name]


def test_tar_in_age(work):
    identity = pathlib.Path("identity")
    identity.write_text(af.identity_text())
    pathlib.Path("a").write_bytes(PLAIN)
    with tarfile.open("file.tar", "w") as tar:
        tar.add("a")
    pathlib.Path("file.tar.age").write_bytes(af.seal(pathlib.Path("file.tar").read_bytes()))
    with fsspec.open(f"tar://a::age::file://{work}/file.tar.age", age={"key": "identity"}) as file:
        assert file.read() == PLAIN


def test_a_header_opens_a_file_whose_key_is_elsewhere(memory, key):
    stream("-k", key, "-o", "file.sealed", input=PLAIN)
    pathlib.Path("new.key").write_bytes(b"n" * 32)
    stream("--export-header", "file.sealed", "-o", "header")
    stream("--rekey", "-q", "-k", key, "-k", "new.key", "--new-key", "new.key", "header", "-o", "new")
    files = sealed("new.key", "file", header=pathlib.Path("new").read_bytes())
    assert files.cat_file("file.sealed") == PLAIN
    with pytest.raises(WrongKey):
        sealed("new.key", "file").cat_file("file.sealed")


def test_parts_in_a_directory_without_the_ending_are_not_a_file(memory, key):
    pipe_parts(memory, "/d/disk", PLAIN)
    files = sealed(key)
    assert files.isdir("/d/disk") and files.ls("/d/disk") == [] and "/d/disk" not in files.find("/d")
    with pytest.raises(OSError):
        files.rm("/d/disk", recursive=True)
    assert memory.exists("/d/disk/index")


@pytest.fixture(params=["memory", "file"])
def plaintext(request, memory, work):
    """A file system, and a folder in it with plaintext files."""
    files = fsspec.filesystem(request.param)
    folder = "/plain" if request.param == "memory" else f"{work}/plain"
    files.makedirs(f"{folder}/sub", exist_ok=True)
    for name in "x.csv", "x.sealed?v=1", "sub/y.csv", "z":
        files.pipe_file(f"{folder}/{name}", b"plaintext")
    files.pipe_file(f"{folder}/z.sealed", sf.seal(b"z", keys=[KEY]))
    yield files, folder
    found = {name: files.cat_file(name) for name in files.find(folder) if not name.endswith(".sealed")}
    assert set(found.values()) == {b"plaintext"} and len(found) == 4


def test_plaintext_files_do_not_exist(plaintext, key):
    other, folder = plaintext
    files, name = fsspec.filesystem("sealed", fs=other, key=key), f"{folder}/x.csv"
    assert not files.exists(name) and not files.isfile(name)
    assert files.glob(name) == files.glob(f"{folder}/x*") == files.find(name) == []
    assert files.find(folder) == files.ls(f"{folder}/z", detail=False) == [f"{folder}/z"]
    for function in files.info, files.size, files.ls, files.open, files.cat_file, files.rm_file, files.rm:
        with pytest.raises(FileNotFoundError):
            function(name)
    for function in files.mv, files.copy:
        with pytest.raises((FileNotFoundError, NotImplementedError)):
            function(name, f"{folder}/moved")
    with pytest.raises(FileNotFoundError):
        files.rm_file(f"{folder}/x.sealed?v=1")


def test_writing_and_removing_leaves_plaintext_files_alone(plaintext, key, work):
    other, folder = plaintext
    files, name = fsspec.filesystem("sealed", fs=other, key=key), f"{folder}/x.csv"
    files.touch(name)
    assert files.cat_file(name) == b"" and other.exists(f"{name}.sealed")
    files.pipe({name: b"piped"})
    files.put_file(key, f"{folder}/z")
    assert files.cat_file(name) == b"piped" and files.cat_file(f"{folder}/z") == KEY
    files.rm([name, f"{folder}/z"])
    assert not other.exists(f"{name}.sealed") and not other.exists(f"{folder}/z.sealed")
    files.pipe_file(f"{folder}/z", b"z")
    with pytest.raises(OSError):
        files.rm(folder, recursive=True)  # the folder is not empty


def test_a_directory_is_not_overwritten(key, work):
    os.makedirs("disk.sealed")
    files = sealed(key, "file")
    with pytest.raises(IsADirectoryError):
        files.pipe_file(f"{work}/disk", b"data")
    assert os.listdir() == ["disk.sealed"] and os.listdir("disk.sealed") == []


def test_relative_names(key, work):
    """Are those of the other file system."""
    files = sealed(key, "file")
    files.makedirs("sub")
    files.pipe_file("sub/file", b"data")
    name = f"{work}/sub/file"
    assert files.glob("sub/*") == files.find("sub") == files.ls("sub", detail=False) == [name]
    assert files.info(files.unstrip_protocol(name))["name"] == name and files.get_mapper("sub")["file"] == b"data"


def test_files_that_do_not_open_are_listed_without_a_size(key, work):
    files = sealed(key, "file")
    files.pipe_file("good", b"data")
    os.symlink("gone", "dangling.sealed")
    assert {os.path.basename(info["name"]): info["size"] for info in files.ls(work)} == {"good": 4, "dangling": None}


def test_links_in_a_listing_and_what_is_not_a_file(key, work):
    """A FIFO would block forever."""
    files = sealed(key, "file")
    files.pipe_file("file", b"data")
    pf.write_directory("disk.sealed", job := pf.new_job(keys=[KEY]), pf.seal_parts(job, pf.cut(PLAIN, 3)))
    os.mkfifo("fifo.sealed")
    for name in "file", "disk", "fifo":
        os.symlink(f"{name}.sealed", f"link_to_{name}.sealed")
    sizes = {"file": 4, "disk": len(PLAIN), "fifo": None}
    sizes.update({f"link_to_{name}": size for name, size in sizes.items()})
    assert {os.path.basename(info["name"]): info["size"] for info in files.ls(work)} == sizes
    with pytest.raises(OSError, match="not a regular file"):
        files.open("fifo")


def test_a_name_with_two_endings(memory, key):
    """It is listed so that it does not name another file."""
    memory.pipe_file("/two/x.sealed", sf.seal(b"x", keys=[KEY]))
    memory.pipe_file("/two/x.sealed.sealed", sf.seal(b"twice", keys=[KEY]))
    files = sealed(key)
    assert files.cat(files.find("/two")) == {"/two/x": b"x", "/two/x.sealed.sealed": b"twice"}
    files.rm("/two/x.sealed.sealed")
    assert memory.find("/two") == ["/two/x.sealed"]


def test_a_directory_next_to_one_with_the_ending(memory, key):
    memory.mkdir("/p.sealed")
    files = sealed(key)
    assert not files.exists("/p")
    memory.mkdir("/p")
    assert files.info("/p")["name"] == "/p"
    files.rm("/p", recursive=True)
    assert memory.isdir("/p.sealed") and not memory.exists("/p")


# --- Writing


@pytest.mark.parametrize("protocol, options", [
    ("sealed", {"key": "../key"}), ("sealed", {"key": KEY}), ("sealed", {"passphrase": "correct horse"}),
    ("sealed", {"key": "../key", "label": "monday"}), ("age", {"key": "identity"}), ("age", {"key": af.identity_text().encode()}),
    ("age", {"key": "identity", "recipients": [af.recipient_text()]}),
    ("age", {"key": "identity", "recipients": af.recipient_text()})])
def test_written_files_can_be_read(memory, key, protocol, options):
    pathlib.Path("identity").write_text(af.identity_text())
    url = f"{protocol}::memory://new/file"
    with fsspec.open(url, "wb", **{protocol: options}) as file:
        for at in range(0, len(PLAIN), 50_000):
            file.write(PLAIN[at : at + 50_000])
        assert file.tell() == len(PLAIN)
    assert list(memory.find("/new")) == [f"/new/file.{protocol}"]
    with fsspec.open(url, **{protocol: options}) as file:
        assert file.read() == PLAIN


def test_several_files_in_a_cache(memory, key):
    """fsspec looks for a cache in the attribute fs of file systems, and would open the files in it."""
    url, options = "sealed::simplecache::memory://new/*.bin", {"sealed": {"key": key}}
    with fsspec.open_files(url, "wb", num=2, **options) as files:
        for file in files:
            file.write(PLAIN)
    assert memory.find("/new") == ["/new/0.bin.sealed", "/new/1.bin.sealed"]
    assert b"gpuaes" == memory.cat_file("/new/0.bin.sealed")[:6]
    with fsspec.open_files(url, **options) as files:
        assert [file.read() for file in files] == [PLAIN, PLAIN]


def test_secrets_of_other_types(memory, key):
    """Used for writing as for reading, in any locale. Recipients can come from an iterator."""
    for options in {"key": bytearray(KEY)}, {"key": memoryview(KEY)}, {"key": None, "passphrase": "p\u00e4ss"}:
        files = sealed(**options)
        files.pipe_file("/new", b"data")
        assert files.cat_file("/new") == b"data"
    files = fsspec.filesystem("age", target_protocol="memory", recipients=iter([af.recipient_text()]))
    files.touch("/new1")
    files.touch("/new2")
    assert memory.exists("/new2.age")


def test_a_file_in_a_directory_file_system_is_not_damaged(key, work, monkeypatch):
    """Its class is asynchronous, like those of object storage, but its files may be local."""
    local = fsspec.filesystem("file")
    files = fsspec.filesystem("sealed", fs=fsspec.filesystem("dir", path=work, fs=local), key=key)
    files.pipe_file("file", b"old")

    def copyfile(source, target, **options):
        pathlib.Path(target).write_bytes(b"partial")
        raise OSError("disk full")

    with monkeypatch.context() as patch, pytest.raises(OSError, match="disk full"):
        patch.setattr(shutil, "copyfile", copyfile)
        files.pipe_file("file", b"new")
    assert files.cat_file("file") == b"old" and os.listdir() == ["file.sealed"]


@pytest.mark.parametrize("target", ["memory", "file"])
def test_what_is_incomplete_is_removed(memory, key, work, target):
    """The block that writes fails, gpuaes-stream fails, the writer is forgotten. A file of this name stays."""
    files = sealed(key, target)
    os.mkdir("new")
    name = "/new/file" if target == "memory" else f"{work}/new/file"
    folder = os.path.dirname(name)
    files.pipe_file(name, b"old")
    with pytest.raises(KeyError), files.open(name, "wb") as file:
        file.write(PLAIN)
        raise KeyError
    writer = files.open(name, "wb")
    writer.write(PLAIN)
    del writer
    broken = sealed("none.key", target)
    with pytest.raises(OSError, match="gpuaes-stream: error: --key: cannot open none.key"), broken.open(name, "wb") as file:
        file.write(PLAIN)
    with pytest.raises(ValueError, match="as a whole"):
        files.open(name, "ab")
    assert files.other.find(folder) == [f"{name}.sealed"] and files.cat_file(name) == b"old"


@pytest.mark.parametrize("mode", ["wb", "w"])
@pytest.mark.parametrize("opened", [lambda files, mode: files.open("/new/x", mode), lambda files, mode: fsspec.open(
    "sealed::memory://new/x", mode, sealed={"key": files.opening["key"]})], ids=["fs", "url"])
def test_only_what_is_closed_without_an_exception_in_its_block_gets_a_name(memory, key, mode, opened):
    files, data = sealed(key), "data" if mode == "w" else b"data"
    with pytest.raises(KeyError), opened(files, mode) as file:
        file.write(data)
        raise KeyError
    with pytest.raises(KeyError), contextlib.ExitStack() as stack:
        stack.enter_context(opened(files, mode)).write(data)
        raise KeyError
    file = opened(files, mode)
    file = file.open() if hasattr(file, "fobjects") else file
    file.write(data)
    del file
    gc.collect()
    assert not memory.exists("/new/x.sealed")
    with contextlib.ExitStack() as stack:
        stack.enter_context(opened(files, mode)).write(data)
        try:
            raise KeyError
        except KeyError:
            stack.close()
    assert files.cat_file("/new/x") == b"data"


@pytest.mark.parametrize("mode", ["wb", "w"])
def test_close_commits_while_another_exception_is_handled(memory, key, mode):
    files, data = sealed(key), "data" if mode == "w" else b"data"
    file = files.open("/new/handler", mode)
    file.write(data)
    try:
        raise KeyError
    except KeyError:
        file.close()
        with files.open("/new/inside", mode) as file:
            file.write(data)
    file = files.open("/new/finally", mode)
    with pytest.raises(KeyError):
        try:
            file.write(data)
            raise KeyError
        finally:
            file.close()
    assert files.cat(files.find("/new")) == {f"/new/{name}": b"data" for name in ("finally", "handler", "inside")}


def test_a_compressor_that_would_not_close_the_file_is_refused(memory, key):
    with pytest.raises(ValueError, match="fsspec.open"):
        sealed(key).open("/new/x.gz", "wb", compression="gzip")
    options = {"sealed": {"key": key}, "compression": "gzip"}
    with fsspec.open("sealed::memory://new/x.gz", "wt", **options) as file:
        file.write("text")
    with pytest.raises(KeyError), fsspec.open("sealed::memory://new/y.gz", "wt", **options) as file:
        file.write("text")
        raise KeyError
    with fsspec.open("sealed::memory://new/x.gz", "rt", **options) as file:
        assert file.read() == "text" and not memory.exists("/new/y.gz.sealed")


@pytest.mark.parametrize("commands, message", [
    ("kill -9 $$", "gpuaes-stream.* died with .*SIGKILL"), ("exit 3", "gpuaes-stream.* 3")])
def test_the_message_says_how_the_program_ended(memory, key, monkeypatch, commands, message):
    script("bin/gpuaes-stream", commands)
    monkeypatch.setenv("PATH", f"bin:{os.environ['PATH']}")
    with pytest.raises(OSError, match=message):
        sealed(key).pipe_file("/new/x", PLAIN)
    assert not memory.exists("/new/x.sealed")


def test_an_unfinished_file_ends_a_transaction(memory, key):
    files = sealed(key)
    with pytest.raises(ValueError, match="not closed"), files.transaction:
        file = files.open("/new/x", "wb")
        file.write(PLAIN)
    with files.transaction:
        with pytest.raises(KeyError), files.open("/new/y", "wb") as file:
            file.write(PLAIN)
            raise KeyError
        files.pipe_file("/new/z", PLAIN)
    assert files.find("/new") == ["/new/z"]


def test_files_and_directories_are_removed(memory, key):
    files = sealed(key)
    files.makedirs("/d/new")
    assert files.ls("/d/new") == []
    files.rmdir("/d/new")
    files.rm("/d/two.bin")
    assert not memory.exists("/d/two.bin.sealed") and not memory.exists("/d/new") and files.exists("/d/one.bin")


# --- Damage


def change(data):
    return data[:200_000] + bytes([data[200_000] ^ 1]) + data[200_001:]


@pytest.mark.parametrize("damage", [change, lambda data: data[:-1], lambda data: data + b"x", lambda data: data[:100],
                                    lambda data: b"", lambda data: b"PK\3\4" + data, lambda data: sf.seal(PLAIN, keys=[b"x" * 32])],
                         ids=["changed", "truncated", "longer", "cut", "empty", "foreign", "other key"])
def test_damaged_files_are_errors(memory, key, damage):
    memory.pipe_file("/d/one.bin.sealed", damage(memory.cat_file("/d/one.bin.sealed")))
    files = sealed(key)
    assert "/d/one.bin" in files.ls("/d", detail=False) and "/d/two.bin" in [info["name"] for info in files.ls("/d")]
    with pytest.raises(OSError) as raised:
        files.cat_file("/d/one.bin")
    assert raised.type in (NotAuthentic, WrongKey)
    with pytest.raises(raised.type):
        with files.open("/d/one.bin") as file:
            file.read()


def test_a_file_that_is_replaced(memory, key):
    """An open file never returns data of another one; who opens it again gets the new one."""
    files = sealed(key)
    large = some_bytes(2_000_000)
    memory.pipe_file("/d/one.bin.sealed", sf.seal(large, keys=[KEY]))
    with files.open("/d/one.bin", block_size=10_000) as file:
        assert file.read(10) == large[:10]
        memory.pipe_file("/d/one.bin.sealed", sf.seal(large[::-1], keys=[KEY]))
        with pytest.raises(NotAuthentic):
            file.seek(1_000_000)
            file.read(10)
    assert files.cat_file("/d/one.bin") == large[::-1]


@pytest.mark.parametrize("size", [1000, 2_000_000])
def test_a_file_that_is_replaced_in_a_store_without_versions(memory, key, monkeypatch, size):
    """Errors, or the old contents; after that, the new contents. Also in a child, which has read nothing itself."""
    info = type(memory).info
    monkeypatch.setattr(type(memory), "info", lambda self, path, **options: {
        name: value for name, value in info(self, path, **options).items() if name != "created"})
    files, plain = sealed(key), some_bytes(size)
    memory.pipe_file("/d/one.bin.sealed", sf.seal(plain, keys=[KEY]))
    file = files.open("/d/one.bin", block_size=10_000)
    assert file.read(10) == plain[:10]
    memory.pipe_file("/d/one.bin.sealed", sf.seal(plain[::-1], keys=[KEY]))

    def read():
        try:
            file.seek(size // 2)
            return file.read(10) == plain[size // 2 :][:10]
        except NotAuthentic:
            return True

    child = os.fork()
    if child == 0:
        os._exit(not read())
    assert os.waitpid(child, 0)[1] == 0 and read()
    assert files.cat_file("/d/one.bin") == files.open("/d/one.bin").read() == plain[::-1]


def test_a_listing_that_the_other_file_system_keeps_is_read_again(s3, key):
    """Once the file that it describes turns out to have been replaced."""
    files, other = fsspec.filesystem("s3", **s3), fsspec.filesystem("s3", skip_instance_cache=True, **s3)
    files.pipe_file("bucket/kept.sealed", sf.seal(PLAIN, keys=[KEY]))
    plain = fsspec.filesystem("sealed", fs=files, key=key)
    assert "bucket/kept" in [info["name"] for info in plain.ls("bucket")]
    other.pipe_file("bucket/kept.sealed", sf.seal(PLAIN[1:], keys=[KEY]))
    with pytest.raises(NotAuthentic):
        plain.cat_file("bucket/kept", 140_000, 140_010)
    assert plain.cat_file("bucket/kept") == PLAIN[1:]
    plain.ls("bucket")
    other.pipe_file("bucket/kept.sealed", sf.seal(b"new", keys=[KEY]))
    plain.invalidate_cache()
    assert plain.cat_file("bucket/kept") == b"new" and plain.ls("bucket")[0]["size"] == 3
    other.pipe_file("bucket/kept2.sealed", sf.seal(b"new", keys=[KEY]))
    assert plain.ls("bucket", detail=False, refresh=True) == ["bucket/kept", "bucket/kept2"]
    files.rm("bucket/kept2.sealed")
    files.rm("bucket/kept.sealed")


# --- Processes and threads


def test_pickles_have_no_secret_unless_it_is_asked_for(memory, key):
    files = sealed(key)
    assert pickle.loads(pickle.dumps(files)).cat_file("/d/two.bin") == b"two"
    with files.open("/d/one.bin") as file:
        file.seek(1000)
        pickled = pickle.dumps(file)
        assert KEY not in pickled and pickle.loads(pickled).read(10) == PLAIN[1000:1010]
    for options in {"key": KEY}, {"key": None, "passphrase": "correct horse"}:
        secret = sealed(**options)
        for serialize in pickle.dumps, type(secret).to_json:
            with pytest.raises(ValueError, match="secrets are not pickled"):
                serialize(secret)
    assert pickle.loads(pickle.dumps(sealed(KEY, pickle_secret=True))).cat_file("/d/two.bin") == b"two"


def test_a_file_system_has_a_key_or_a_passphrase_of_one_line(memory, key):
    for files in sealed(None), sealed(key, passphrase="correct horse"):
        for function in files.touch, files.cat_file:
            with pytest.raises(ValueError, match="either a key or a passphrase"):
                function("/d/two.bin")
    with pytest.raises(ValueError, match="one line"):
        sealed(None, passphrase="correct horse\n").pipe_file("/d/new.bin", b"new")


@pytest.mark.parametrize("mode", ["wb", "w"])
def test_a_child_leaves_alone_what_its_parent_writes(memory, key, mode):
    files = sealed(key)
    file, data = files.open("/new/x", mode, block_size=1 << 16), PLAIN if mode == "wb" else "text" * 50_000
    file.write(data)
    child = os.fork()
    if child == 0:
        del file
        gc.collect()
        os._exit(0)
    os.waitpid(child, 0)
    file.close()
    assert files.cat_file("/new/x") == (PLAIN if mode == "wb" else data.encode())


def test_close_does_not_wait_for_a_child(memory, key):
    files = sealed(key)
    file = files.open("/new/x", "wb", block_size=1 << 16)
    file.write(PLAIN)
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(write_end)
        os.read(read_end, 1)  # until the parent closes it
        os._exit(0)
    closing = threading.Thread(target=file.close, daemon=True)
    closing.start()
    closing.join(30)
    done = not closing.is_alive()
    os.close(write_end)
    os.waitpid(child, 0)
    assert done and files.cat_file("/new/x") == PLAIN


def test_threads_share_what_is_read_once(memory, key, monkeypatch):
    asked = []
    cat_file = type(memory).cat_file
    monkeypatch.setattr(type(memory), "cat_file", lambda self, path, start=None, end=None, **options: (
        asked.append((start, end)), time.sleep(0.01), cat_file(self, path, start, end, **options))[2])
    files = sealed(key)
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        ranges = [(at, at + 100) for at in range(0, 100_000, 1000)]
        assert [*pool.map(lambda r: files.cat_file("/d/one.bin", *r), ranges)] == [PLAIN[a:b] for a, b in ranges]
    size = memory.size("/d/one.bin.sealed")
    assert asked.count((size - (1 << 17), size)) == asked.count((0, 1 << 12)) == 1


def test_processes_that_fork(memory, key):
    """While another thread holds the locks."""
    files = sealed(key)
    with files.open("/d/one.bin", block_size=1000) as file:
        assert file.read(10) == PLAIN[:10]
        with files._opened(os.getpid(), repr(memory.info("/d/one.bin.sealed")))[0]:
            pid = os.fork()
            if pid == 0:
                file.seek(100_000)
                os._exit(file.read(10) != PLAIN[100_000:100_010] or files.cat_file("/d/two.bin") != b"two")
        assert os.waitpid(pid, 0)[1] == 0


def test_asynchronous_programs(memory, key):
    wrapper = pytest.importorskip("fsspec.implementations.asyn_wrapper")

    async def read():
        files = wrapper.AsyncFileSystemWrapper(sealed(key), asynchronous=True)
        return await asyncio.gather(*(files._cat_file("/d/one.bin", at, at + 10) for at in range(0, 1000, 10)))

    assert b"".join(asyncio.run(read())) == PLAIN[:1000]


# --- HTTP and S3


def write_table(name, key, rows=200_000):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.table({f"c{i}": pa.array(memoryview(os.urandom(8 * rows)).cast("q")) for i in range(10)})
    parquet.write_table(table, name, compression="none", use_dictionary=False)
    stream("-k", key, "-o", f"{name}.sealed", name)
    return table


def test_one_column_of_a_parquet_file(key):
    """Over HTTP, at most three requests more than for the plain file, and little more data."""
    pytest.importorskip("aiohttp")
    pandas = pytest.importorskip("pandas")
    table = write_table("t.parquet", key)
    figures = []
    with server() as (url, asked):
        for name, options in (f"{url}/t.parquet", {}), (f"sealed::{url}/t.parquet.sealed", {"sealed": {"key": key}}):
            asked.clear()
            files, path = fsspec.url_to_fs(name, **options)
            with files.open(path, cache_type="none") as file:
                column = pandas.read_parquet(file, columns=["c7"])
            assert column["c7"].tolist() == table["c7"].to_pylist()
            figures.append((len(asked), sum(asked)))
        column = pandas.read_parquet(name, columns=["c3"], storage_options={"key": key})
        assert column["c3"].tolist() == table["c3"].to_pylist()
    print("requests and bytes, plain and sealed:", figures)
    (plain_requests, plain_bytes), (requests, size) = figures
    assert requests <= plain_requests + 3 and size <= plain_bytes * 1.01 + 300_000, figures


def test_parts_over_http(key):
    """They are a directory if the URL ends in /."""
    pytest.importorskip("aiohttp")
    job = pf.new_job(keys=[KEY])
    pf.write_directory("disk.sealed", job, pf.seal_parts(job, pf.cut(PLAIN, 3)))
    with server() as (url, _):
        with fsspec.open(f"sealed::{url}/disk.sealed/", sealed={"key": key}) as file:
            assert file.read() == PLAIN


def test_servers_without_ranges(key):
    """Say so, and a copy works."""
    pytest.importorskip("aiohttp")
    stream("-k", key, "-o", "file.sealed", input=PLAIN)
    with server(ranges=False) as (url, _):
        with pytest.raises(OSError, match="does not send ranges; simplecache::URL"):
            fsspec.open(f"sealed::{url}/file.sealed", sealed={"key": key}).open()
        with fsspec.open(f"sealed::simplecache::{url}/file.sealed", sealed={"key": key}) as file:
            assert file.read() == PLAIN


def test_s3(s3, key):
    files = fsspec.filesystem("s3", **s3)
    plain = some_bytes(7_000_000)
    url, options = "sealed::s3://bucket/large", {"s3": s3, "sealed": {"key": key}}
    with fsspec.open(url, "wb", **options) as file:
        file.write(plain)
    with pytest.raises(KeyError), fsspec.open(url, "wb", **options) as file:
        file.write(plain)
        raise KeyError
    assert files.ls("bucket") == ["bucket/large.sealed"]
    assert files.call_s3("list_multipart_uploads", Bucket="bucket").get("Uploads", []) == []
    with fsspec.open(url, **options) as file:
        assert file.read() == plain
    pipe_parts(files, "bucket/disk.sealed", PLAIN)
    with fsspec.open("sealed::s3://bucket/disk.sealed", **options) as file:
        assert file.read() == PLAIN
    both, _ = fsspec.url_to_fs("sealed::s3://bucket", **options)
    assert {info["name"]: info["size"] for info in both.ls("bucket")} == {"bucket/disk": 300_000, "bucket/large": 7_000_000}


def test_recipe(s3, key):
    """As printed in gpuaes-recipes(7)."""
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    code = code_with("import pandas").replace('{"sealed"', '{"s3": s3, "sealed"').replace("backup.key", key)
    names = {"trips": pandas.DataFrame({"fare": [1, 2], "tip": [3, 4]}), "s3": s3}
    exec(code, names)
    assert names["fares"].to_dict("list") == {"fare": [1, 2]}
    assert fsspec.filesystem("s3", **s3).exists("bucket/trips.parquet.sealed")


def test_caches(memory, key):
    options = {"sealed": {"key": key}}
    with fsspec.open("simplecache::sealed::memory://new/x", "wb", **options) as file:
        file.write(PLAIN)
    with fsspec.open("sealed::simplecache::memory://new/y", "wb", **options) as file:
        file.write(PLAIN)
    with pytest.raises(KeyError), fsspec.open("sealed::simplecache::memory://new/y", "wb", **options) as file:
        raise KeyError
    assert memory.find("/new") == ["/new/x.sealed", "/new/y.sealed"]
    for cache in "simplecache", "filecache", "blockcache":
        with fsspec.open(f"{cache}::sealed::memory://new/x", **options) as file:
            assert file.read() == PLAIN
    files = sealed(key)
    assert files.cat_ranges(["/new/x", "/new/y", "/new/x"], [0, 5, -10], [10, 10, None]) == [PLAIN[:10], PLAIN[5:10], PLAIN[-10:]]
    assert isinstance(files.cat_ranges(["/new/none"], 0, 1)[0], FileNotFoundError)


def test_pandas(memory, key):
    """Writes whole files, and none if it fails."""
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    table, options = pandas.DataFrame({"name": ["ä", "b"]}), {"storage_options": {"sealed": {"key": key}}}
    table.to_parquet("sealed::memory://new/t.parquet", **options)
    table.to_csv("sealed::memory://new/t.csv.gz", index=False, **options)
    with pytest.raises(UnicodeEncodeError):
        table.to_csv("sealed::memory://new/failed.csv", encoding="ascii", **options)
    assert memory.find("/new") == ["/new/t.csv.gz.sealed", "/new/t.parquet.sealed"]
    assert pandas.read_parquet("sealed::memory://new/t.parquet", **options).equals(table)
    assert pandas.read_csv("sealed::memory://new/t.csv.gz", **options).equals(table)


def test_directories_are_removed_from_s3(s3, key):
    files, other = sealed(key, "s3", target_options=s3), fsspec.filesystem("s3", **s3)
    files.pipe({"bucket/dir/a": b"a", "bucket/dir/sub/b": b"b"})
    files.rm("bucket/dir", recursive=True)
    assert other.find("bucket/dir") == []
    other.pipe_file("bucket/dir/plain", b"plaintext")
    files.pipe({"bucket/dir/a": b"a"})
    with pytest.raises(OSError):
        files.rm("bucket/dir", recursive=True)
    assert other.find("bucket/dir") == ["bucket/dir/plain"]
    other.rm("bucket/dir/plain")


def test_zarr(memory, key):
    zarr = pytest.importorskip("zarr")
    numpy = pytest.importorskip("numpy")
    options = {"storage_options": {"sealed": {"key": key}}}
    array = zarr.create_array("sealed::memory://array", shape=(40, 40), chunks=(20, 20), dtype="i4", **options)
    array[:] = numpy.arange(1600).reshape(40, 40)
    assert len(memory.find("/array")) >= 5 and all(name.endswith(".sealed") for name in memory.find("/array"))
    again = zarr.open_array("sealed::memory://array", mode="r", **options)
    assert (again[15:25, 15:25] == numpy.arange(1600).reshape(40, 40)[15:25, 15:25]).all()


def test_dask_with_two_processes(key, work):
    """Reads files that its workers have written."""
    distributed, frame = pytest.importorskip("distributed"), pytest.importorskip("dask.dataframe")
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    url, options = f"sealed::file://{work}/table", {"sealed": {"key": str(pathlib.Path(key).resolve())}}
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster):
            data = frame.from_pandas(pandas.DataFrame({"a": range(1000), "b": range(1000)}), npartitions=4)
            data.to_parquet(url, storage_options=options)
            read = frame.read_parquet(url, storage_options=options)
            assert read.npartitions == 4 and read["b"].sum().compute() == 499_500
    names = os.listdir("table")
    assert len(names) >= 4 and all(name.endswith(".parquet.sealed") for name in names)
