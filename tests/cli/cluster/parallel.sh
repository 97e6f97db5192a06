#!/usr/bin/env bash
# gpuaes-cluster seals and opens a file with GNU parallel, which retries tasks that fail or are killed.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
# shellcheck source=../support/cluster.sh
. "$here/cluster.sh"
need parallel
export PARALLEL_HOME=$work/parallel
cluster=(--engine parallel -k "$key" -n 6)

make_input 300000 plain
expect_cluster 0 "${cluster[@]}" -i plain -o sealed
expect_stderr '^gpuaes-cluster: 6 of 6 parts$'
expect_opens sealed plain
expect_cluster 0 "${cluster[@]}" -d -i sealed -o opened
same plain opened
expect_files plain sealed opened

# An existing output keeps its mode, and a name can contain anything.
odd=$'it\'s "odd" {} %a\n$HOME'
install -m 640 /dev/null "$odd"
expect_cluster 0 "${cluster[@]}" -d -i sealed -o "$odd"
same plain "$odd"
[ "$(stat -c %a "$odd")" = 640 ] || fail "expected mode 640, got $(stat -c %a "$odd")"
expect_cluster 0 "${cluster[@]}" -i "$odd" -o "$odd.sealed"
expect_opens "$odd.sealed" plain
rm "$odd" "$odd.sealed" opened

# The folder of the command line is not that of the tasks.
"$(dirname "$program")/gpuaes-keygen" --x25519 -o "$work/identity" >recipients
expect_cluster 0 --engine parallel -n 2 -r @recipients -i plain -o public
expect_cluster 0 --engine parallel -n 2 -d -k "$work/identity" -i public -o opened
same plain opened
rm recipients public opened

# The first attempt at one part fails, at another it is killed.
# shellcheck disable=SC2016 # for the programs
{
  before_part 1 'if mkdir "$work/failed" 2>/dev/null; then echo "gpuaes-parts: error: failed" >&2; exit 1; fi'
  before_part 3 'if mkdir "$work/killed" 2>/dev/null; then kill -9 $PPID $$; fi'
}
expect_cluster 0 "${cluster[@]}" -i plain -o again
expect_opens again plain
for each in failed killed; do [ -d "$work/$each" ] || fail "expected a task that was $each"; done

# Hosts of -S. Instead of ssh, a script runs the tasks here. It sets SHELL as sshd does; GNU parallel relies on that.
cat >"$work/ssh" <<END
#!/bin/sh
echo "\$1" >>'$work/hosts'
shift
[ "\$1" != -- ] || shift
cd /
export SHELL=/bin/sh
exec sh -c "\$*"
END
chmod +x "$work/ssh"
before_no_part
expect_cluster 0 "${cluster[@]}" -d -i sealed -o remote -- -S 1/host1,1/host2 --ssh "$work/ssh"
same plain remote
[ "$(sort -u "$work/hosts" | tr '\n' ' ')" = "host1 host2 " ] || fail "expected two hosts, got $(<"$work/hosts")"
expect_files plain sealed again remote
