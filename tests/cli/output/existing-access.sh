#!/usr/bin/env bash
# A file that -o or --rekey replaces keeps its permission bits, owner, group and ACL, and nothing else. If one of these
# cannot be kept, fewer users get access, never more, and a warning names it. Checked on the file system of the temporary
# directory and on tmpfs, with O_TMPFILE and without.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need setfacl getfacl setfattr getfattr

"$keygen" -o "$work/new-key"
printf 'some text\n' | gsealed -e >"$work/sealed"

all_of() { # FILE: owner, group, mode, ACL
  stat -c '%u %g %a' "$1"
  getfacl -cpn "$1"
}

decrypt() { "$program" -d -k "$key" -i "$work/sealed" -o "$@"; }
rekey() { "$program" --rekey -k "$key" --new-key "$work/new-key" -i "$@"; }
decrypt_without_proc() { without_proc "$program" -d -k "$key" -i "$work/sealed" -o "$@"; }
kinds=(decrypt rekey)
if can_hide_proc; then kinds+=(decrypt_without_proc); fi

kept() { # WHAT: each way to replace a file keeps the access that set_up gives to it
  local kind before
  for kind in "${kinds[@]}"; do
    cat "$work/sealed" >out
    set_up out
    before=$(all_of out)
    expect_exit 0 "$kind" out
    expect_empty "$work/stderr" "$1, $kind: messages"
    [ "$(all_of out)" = "$before" ] || fail "$1, $kind: expected $before; got $(all_of out)"
    rm out
  done
}

dropped() { # MODE EXPECTED: set-ID bits, capabilities and extended attributes are not kept
  local kind
  for kind in "${kinds[@]}"; do
    cat "$work/sealed" >out
    chmod "$1" out
    setfattr -n user.origin -v 'far away' out 2>/dev/null || true
    [ "$(id -u)" != 0 ] || setcap cap_net_raw+ep out
    expect_exit 0 "$kind" out
    [ "$(stat -c %a out)" = "$2" ] || fail "$kind, mode $1: expected mode $2, got $(stat -c %a out)"
    [ -z "$(getfattr -d -m '^(user|security.cap)' out)" ] || fail "$kind: expected no attributes, got $(getfattr -d -m - out)"
    rm out
  done
}

try_in() { # DIRECTORY
  local mode acl
  cd "$1"
  for mode in 600 640 604 664 777; do
    set_up() { chmod "$mode" "$1"; }
    kept "$1, mode $mode"
  done
  if has_acls .; then
    # The last case: a file without an ACL does not get the directory's default ACL.
    for acl in u:65533:rw,m::rw g::---,g:65533:r,m::r u:65533:---,o::r u:65533:rwx,g::rwx,m::---; do
      set_up() { setfacl -m "$acl" "$1"; }
      kept "$1, ACL $acl"
    done
    set_up() { chmod 640 "$1"; }
    : >out
    set_up out
    setfacl -d -m u:65533:rwx,g:65533:rwx .
    set_up() { setfacl -b "$1" && chmod 640 "$1"; }
    kept "$1, default ACL"
    setfacl -b .
  else
    skip_part "ACLs in $1: not supported by its file system"
  fi
  dropped 2755 755
  dropped 4711 711
  if [ "$(id -u)" = 0 ]; then
    set_up() { chown 65533:65532 "$1" && chmod 750 "$1"; }
    kept "$1, owner"
  fi
  cd - >/dev/null
}

in_both_file_systems try_in

# If another user who may write the file replaces it, owner and group cannot be kept.
need_user
[ "$(id -u)" = 0 ] || skip "the part with several users: not root"
chmod 755 "$work/there"
chown 65534 "$work/there" "$work/sealed" "$work/new-key"
cd "$work/there"
as_other=("${as_user[@]/65534/65533}")

replaced() { # WARNING MODE: user 65534 replaces the file
  expect_exit 0 "${as_user[@]}" "$program" -d -k "$key" -i "$work/sealed" -o out
  expect_stderr "^gpuaes-stream: warning: could not preserve the $1 of out; no additional access was granted$"
  [ "$(stat -c '%u %a' out)" = "65534 $2" ] || fail "expected mode $2 and another owner, got $(stat -c '%u %a' out)"
}
can_read() { "$@" cat out >/dev/null 2>&1; }

: >out && chown 65533:65533 out && chmod 644 out
can_read "${as_other[@]}" || fail "expected that a member of the group can read it before"
chmod 606 out # its group, 65533, may not read it, but others may
replaced 'group, owner, mode' 600
! can_read "${as_other[@]}" || fail "expected that a member of the old group still cannot read it"
rm -f out

: >out && chown 65533:65534 out && chmod 660 out # the group can be kept
replaced 'owner' 660
rm -f out

if has_acls .; then
  : >out && chown 65533:65532 out && chmod 600 out && setfacl -m u:65534:rw,u:65531:r out
  replaced 'group, owner, mode' 600
  [ "$(getfacl -cp out | grep -c '#effective:---')" -gt 0 ] || fail "expected an ACL without effective access, got $(getfacl -cp out)"
fi
