#!/usr/bin/env bash
# gpuaes-keygen -o writes keys and identities that only their owner can read, even if a directory's default ACL gives
# other users access to new files.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need setfacl getfacl
need_user

setfacl -d -m u:65534:rwx,g:65534:rwx,o::rwx,m::rwx . 2>/dev/null || skip "the file system does not support ACLs"
: >control
getfacl -cpn control | grep -q '^user:65534:rw' || fail "expected the default ACL to work, got $(getfacl -cpn control)"

[ "$(id -u)" = 0 ] || skip_part "reading as another user: not root"
for mask in 000 077; do
  umask "$mask"
  for what in '' --x25519; do
    # shellcheck disable=SC2086 # one option or none
    "$keygen" $what -o secret >"$work/stdout" || fail "umask $mask, $what: expected success"
    [ "$(stat -c %a secret)" = 600 ] || fail "umask $mask, $what: expected mode 600, got $(stat -c %a secret)"
    want='user::rw-
group::---
other::---'
    [ "$(getfacl -cpn secret | sed '/^$/d')" = "$want" ] ||
      fail "umask $mask, $what: expected no ACL, got $(getfacl -cpn secret)"
    # Others cannot read it even after a change of mode, which would make a remaining ACL effective.
    chmod 640 secret
    if [ "$(id -u)" = 0 ] && "${as_user[@]}" cat secret >/dev/null 2>&1; then
      fail "umask $mask, $what: expected that other users cannot read it"
    fi
    rm secret
  done
done
