#!/usr/bin/env bash
# A key or an identity that gpuaes-keygen -o writes is its owner's alone, also where a directory's default ACL gives
# other users access to new files.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need setfacl getfacl
need_user

setfacl -d -m u:65534:rwx,g:65534:rwx,o::rwx,m::rwx . 2>/dev/null || skip "the file system has no ACLs"
: >control
getfacl -cpn control | grep -q '^user:65534:rw' || fail "expected the default ACL to work, got $(getfacl -cpn control)"

[ "$(id -u)" = 0 ] || skip_part "reading as another user: not root"
for mask in 000 077; do
  umask "$mask"
  for what in '' --x25519; do
    # shellcheck disable=SC2086 # an option, or none
    "$keygen" $what -o secret >"$work/stdout" || fail "umask $mask, $what: expected success"
    [ "$(stat -c %a secret)" = 600 ] || fail "umask $mask, $what: expected mode 600, got $(stat -c %a secret)"
    want='user::rw-
group::---
other::---'
    [ "$(getfacl -cpn secret | sed '/^$/d')" = "$want" ] ||
      fail "umask $mask, $what: expected no ACL, got $(getfacl -cpn secret)"
    # Neither now nor after someone widens the mode, which would bring an ACL that is still there to life.
    chmod 640 secret
    if [ "$(id -u)" = 0 ] && "${as_user[@]}" cat secret >/dev/null 2>&1; then
      fail "umask $mask, $what: expected that another user cannot read it"
    fi
    rm secret
  done
done
