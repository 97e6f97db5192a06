#!/usr/bin/env bash
# gpuaes-cluster ends with the status of the failed task and names its part: wrong key, full disk, corrupt input.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
# shellcheck source=../support/cluster.sh
. "$here/cluster.sh"
need parallel
export PARALLEL_HOME=$work/parallel
(umask 077 && head -c 32 /dev/zero >"$work/wrong")
make_input 300000 plain
expect_cluster 0 --engine parallel -k "$key" -i plain -o sealed -n 3

expect_cluster 3 --engine parallel -d -k "$work/wrong" -i sealed -o opened -n 3
expect_stderr '^gpuaes-cluster: error: part 0/3: '
expect_no_stderr hint
expect_files plain sealed

expect_cluster 1 --engine parallel -k missing -i plain -o other -n 3
expect_error "--key: cannot open $PWD/missing: No such file or directory"
expect_files plain sealed

# The other parts of a corrupt file can be opened; corrupt input counts more than a task that fails otherwise.
perl -e 'open F, "+<", shift; seek F, 290000, 0; print F "x"' sealed
before_part 0 'exit 1'
expect_cluster 4 --engine parallel -d -k "$key" -i sealed -o opened -n 3
expect_stderr '^gpuaes-cluster: error: part 2/3: '
expect_error "$(sed -n 's/^gpuaes-cluster: error: //p' "$work/stderr")" \
  "$PWD/opened.parts keeps 1 of 3 parts; run the same command again to continue"
before_no_part

# Two of four parts fit.
mount_or_skip small -t tmpfs -o size=200k none
full=(--engine parallel -k "$key" -i plain -o small/sealed -n 4)
expect_cluster 1 "${full[@]}" -- -j 1
expect_stderr '^gpuaes-cluster: error: part [0-3]/4: .*No space left on device$'
expect_stderr 'small/sealed.parts keeps [12] of 4 parts; run the same command again to continue$'
[ ! -e small/sealed ] || fail "expected no output"
mount -o remount,size=2m small
expect_cluster 0 "${full[@]}"
expect_opens small/sealed plain
