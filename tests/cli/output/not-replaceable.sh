#!/usr/bin/env bash
# -o and --rekey replace only files that > could write, and check before any work, without reading input, whether a
# file can be replaced. If not, the file stays unchanged, nothing is left next to it, and the hint says what to do
# instead.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_user

printf 'some text\n' | gsealed -e >"$work/sealed"
"$keygen" -o "$work/new-key"
chmod 644 "$work/sealed"
[ "$(id -u)" != 0 ] || chown 65534 "$work/new-key"
mkfifo "$work/never"
exec 3<>"$work/never" # input that never arrives

user=(timeout 20 "${as_user[@]}")
refused() { # MESSAGE HINT FILE: for -o, and for --rekey if the file exists
  local before
  before=$(stat -c '%i %Z %s' "$3" 2>/dev/null || true)
  expect_exit 1 "${user[@]}" "$program" -k "$key" -i "$work/never" -o "$3"
  expect_stderr "^gpuaes-stream: error: --output: $1$"
  if [ -n "$2" ]; then expect_stderr "^gpuaes-stream: hint: $2"; else expect_no_stderr hint; fi
  if [ -f "$3" ] && "${user[@]}" test -r "$3"; then
    expect_exit 1 "${user[@]}" "$program" --rekey -k "$key" --new-key "$work/new-key" -i "$3"
    expect_stderr "^gpuaes-stream: error: --input: $1$"
    if [ -n "$2" ]; then expect_stderr '^gpuaes-stream: hint: name another file with -o$'; fi
  fi
  [ "$(stat -c '%i %Z %s' "$3" 2>/dev/null || true)" = "$before" ] || fail "expected $3 to be unchanged"
  [ -z "$(find "$(dirname "$3")" -name '.*gpuaes-*')" ] || fail "expected no file left next to $3"
}
redirect='redirect the output with > to write to the file in place$'

# A read-only file in a writable directory: mv could replace it, but > cannot write it.
cp "$work/sealed" locked
chmod 444 locked
[ "$(id -u)" != 0 ] || chown 65534 . locked
refused 'cannot write locked: Permission denied' '' locked

# A file in a read-only directory: > would work.
mkdir closed
cp "$work/sealed" closed/out
[ "$(id -u)" != 0 ] || chown 65534 closed closed/out
chmod 555 closed
refused 'cannot create a temporary file next to closed/out: Permission denied' "$redirect" closed/out
refused 'cannot create a temporary file next to closed/new: Permission denied' '' closed/new
expect_exit 1 "${user[@]}" "$program" -k "$key" -i "$work/never" -o /dev/null --stats closed/out
expect_error '--stats: cannot create a temporary file next to closed/out: Permission denied' 'choose another file'
chmod 755 closed

# A program that is running.
cp "$(command -v sleep)" sleep
[ "$(id -u)" != 0 ] || chown 65534 sleep
./sleep 60 3<&- &
at_exit "kill $! 2>/dev/null"
refused 'cannot write sleep: Text file busy' '' sleep

# A name that only a directory can have.
refused 'cannot open fresh/: Is a directory' '' fresh/

[ "$(id -u)" = 0 ] || skip "the rest needs root: files of two users, mounts, file attributes"

# A writable file of another user in a sticky directory.
mkdir sticky
chmod 1777 sticky
cp "$work/sealed" sticky/out
chown 65533 sticky/out
chmod 666 sticky/out
if "${as_user[@]}" sh -c ': >>sticky/out' 2>/dev/null; then
  refused 'cannot replace sticky/out: Operation not permitted' "$redirect" sticky/out
else # fs.protected_regular
  refused 'cannot write sticky/out: Permission denied' '' sticky/out
fi
"${as_user[@]}" sh -c ': >sticky/own'
expect_exit 0 "${as_user[@]}" "$program" -d -k "$key" -i "$work/sealed" -o sticky/own
expect_exit 0 "${as_user[@]}" "$program" -d -k "$key" -i "$work/sealed" -o sticky/new

# From here on the program runs as root, to whom permissions do not apply.
user=(timeout 20)

cp "$work/sealed" mounted
cp "$work/sealed" over
if unshare -m mount --bind over mounted 2>/dev/null; then
  user=(timeout 20 unshare -m sh -c 'mount --bind over mounted && exec "$@"' sh)
  refused 'mounted is a mount point and cannot be replaced' "$redirect" mounted
  user=(timeout 20)
else
  skip_part "a bind mount: mount namespaces are not available"
fi

cp "$work/sealed" fixed
if chattr +i fixed 2>/dev/null; then
  at_exit "chattr -i '$PWD/fixed'"
  refused 'cannot write fixed: Operation not permitted' '' fixed
  chattr -i fixed
  chattr +a fixed
  at_exit "chattr -a '$PWD/fixed'"
  refused 'cannot write fixed: Operation not permitted' '' fixed
  mkdir grows
  cp "$work/sealed" grows/out
  chattr +a grows
  at_exit "chattr -a '$PWD/grows'"
  refused 'cannot replace grows/out: Operation not permitted' "$redirect" grows/out
  expect_exit 0 "$program" -d -k "$key" -i "$work/sealed" -o grows/new # creating a file works
  chattr -a grows
  chattr +i grows
  at_exit "chattr -i '$PWD/grows'"
  refused 'cannot create a temporary file next to grows/out: Operation not permitted' "$redirect" grows/out
  chattr -i grows
else
  skip_part "immutable files: not supported, or chattr is not allowed"
fi

# If replacing becomes impossible during the run, the program notices before it touches the old file.
python <<'PYTHON'
from harness import *


def begin(output, **popen):
    child = spawn("-k", key, "-o", output, stdin=subprocess.PIPE, stderr=subprocess.PIPE, **popen)
    child.stdin.write(make_input(100000))
    child.stdin.flush()
    wait_until_idle(child)
    return child


def end(child, what, message):
    child.stdin.close()
    expect_exit(child, 1, what)
    error = child.stderr.read()
    if message not in error:
        fail(f"{what}: expected {message!r}, got {error!r}")


with open("later", "w") as f:
    f.write("old")
child = begin("later")
os.remove("later")
os.mkdir("later")
end(child, "a directory instead of the file", b"cannot rename the output to later: Is a directory")
if not os.path.isdir("later"):
    fail("expected the empty directory to remain")
os.rmdir("later")

child = begin("later")
with open("later", "w") as f:
    f.write("appeared")
os.chmod("later", 0o666)
child.stdin.close()
expect_exit(child, 0, "a file that appears during the run")
expect_equal(0o644, os.stat("later").st_mode & 0o777, "mode of the output instead of a file that appeared")
if open("later", "rb").read(16) != b"gpuaes-stream/1\n":
    fail("expected the output to replace the file that appeared during the run")

# The directory is renamed during the run, and another file appears at the old path.
os.makedirs("before")
for directory, mode in (("before", 0o600), ("elsewhere", 0o666)):
    os.makedirs(directory, exist_ok=True)
    with open(f"{directory}/out", "w") as f:
        f.write("old")
    os.chmod(f"{directory}/out", mode)
child = begin("before/out")
os.rename("before", "after")
os.rename("elsewhere", "before")
child.stdin.close()
expect_exit(child, 0, "a directory that is renamed during the run")
expect_equal(0o600, os.stat("after/out").st_mode & 0o777, "mode in the renamed directory")
if open("after/out", "rb").read(16) != b"gpuaes-stream/1\n" or open("before/out").read() != "old":
    fail("expected the output in the renamed directory, and the other one unchanged")

# The name of a descriptor refers to the open file, even if that was renamed or removed.
for deleted in (False, True):
    file = os.open("by-number", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
    if deleted:
        os.remove("by-number")
    before = sorted(os.listdir())
    child = begin(f"/dev/fd/{file}", pass_fds=[file])
    child.stdin.close()
    expect_exit(child, 0, f"/dev/fd/N, deleted: {deleted}")
    expect_equal(b"gpuaes-stream/1\n", os.pread(file, 16, 0), f"output to /dev/fd/N, deleted: {deleted}")
    expect_equal(before, sorted(os.listdir()), f"files after /dev/fd/N, deleted: {deleted}")
    os.close(file)
PYTHON
