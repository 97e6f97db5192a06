#!/usr/bin/env bash
# A new -o file gets the same access as one created with the shell's >, according to umask, default ACL and
# set-group-ID bit. Until it is complete only its owner can open it, and SIGKILL leaves no plaintext that others can
# read. Checked on the file system of the temporary directory and on tmpfs, with O_TMPFILE and without.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need setfacl getfacl python3

make_input 100000 plain
gsealed -e <plain >"$work/sealed"
cp plain "$work/plain"

access_of() { # FILE: mode, owner, group and ACL
  stat -c '%a %u %g' "$1"
  getfacl -cpn "$1"
}

plainly() { "$@"; }
ways=(plainly)
if can_hide_proc; then ways+=(without_proc); fi

compare() { # WAY WHAT: compares access with that of a file created by >
  rm -f expected out
  : >expected
  "$1" "$program" -q -d -k "$key" -i "$work/sealed" -o out || fail "$2: expected success"
  [ "$(access_of out)" = "$(access_of expected)" ] ||
    fail "$2: expected the access that > gives: $(access_of expected); got: $(access_of out)"
  chmod u+r out
  same "$work/plain" out "$2"
  expect_files expected out
}

try_in() { # DIRECTORY: empty
  local way mask acl
  cd "$1"
  for way in "${ways[@]}"; do
    for mask in 000 022 027 077 777; do
      umask "$mask"
      compare "$way" "$1, umask $mask, $way"
    done
    umask 022
    chmod g+s .
    [ "$(id -u)" != 0 ] || chgrp 65533 .
    compare "$way" "$1, set-group-ID, $way"
    chmod g-s .
    if has_acls .; then
      for acl in o::--- u::rw,g::rwx,o::r u::rwx,g::---,o::rwx,m::rw,u:65533:rw g::rw,m::r,g:65533:rwx u::r,g::r,o::---; do
        setfacl -b .
        setfacl -d -m "$acl" .
        for mask in 022 077; do
          umask "$mask"
          compare "$way" "$1, default ACL $acl, umask $mask, $way"
        done
      done
      setfacl -b .
    else
      skip_part "default ACLs in $1: not supported by its file system"
    fi
    umask 022
  done
  rm -f expected out
  cd - >/dev/null
}

in_both_file_systems try_in

# After SIGKILL in the middle of a run the file has no name, or a temporary one that shows its target, and only its
# owner can read it.
cd "$work/there"
setfacl -d -m u:65533:rw . 2>/dev/null || true
umask 000
export WAYS="${ways[*]}"
python <<'PYTHON'
from harness import *

for way in os.environ["WAYS"].split():
    command = [program, "-q", "-d", "-f", "raw", "--iv", iv, "-k", key, "-b", "64K", "-o", "backup.tar"]
    if way == "without_proc":
        command = [*WITHOUT_PROC, *command]
    child = subprocess.Popen(command, stdin=subprocess.PIPE)
    atexit.register(child.kill)
    child.stdin.write(make_input(4 << 20))
    child.stdin.flush()
    deadline = time.monotonic() + PATIENCE
    while way == "without_proc" and time.monotonic() < deadline and not os.listdir():
        time.sleep(0.01)
    wait_until_idle(child)
    if child.poll() is not None:
        fail(f"{way}: expected the program to wait for input, but it ended with {child.returncode}")
    if os.geteuid() == 0 and not unfinished_bytes(child):
        fail(f"{way}: expected that a part of the output is written")
    named = os.listdir()
    for name in named:
        mode = os.stat(name).st_mode & 0o777
        if not re.fullmatch(r"\.backup\.tar\.gpuaes-[A-Za-z0-9]{6}", name) or mode != 0o600:
            fail(f"{way}: expected a temporary name that contains its target, and mode 600, got {name}, {mode:o}")
    child.kill()
    child.wait()
    want = [] if way == "plainly" else named
    if way == "without_proc" and len(named) != 1:
        fail(f"{way}: expected one temporary file, got {named}")
    expect_equal(want, os.listdir(), f"{way}: files after SIGKILL")
    for name in named:
        os.remove(name)
PYTHON

# The temporary name works even if the name is as long as possible.
long=$(printf 'x%.0s' {1..255})
"$program" -q -d -k "$key" -i "$work/sealed" -o "$long" || fail "expected success with a name of 255 bytes"
same "$work/plain" "$long"
rm "$long"
if [ "${#ways[@]}" = 2 ]; then
  without_proc "$program" -q -d -k "$key" -i "$work/sealed" -o "$long" || fail "expected success with a long name"
  same "$work/plain" "$long"
  rm "$long"
fi
