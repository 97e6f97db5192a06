#!/usr/bin/env bash
# gpuaes-cluster continues a run that was killed or interrupted, and refuses parts of another one.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
# shellcheck source=../support/cluster.sh
. "$here/cluster.sh"
need parallel setsid
export PARALLEL_HOME=$work/parallel
make_input 300000 plain
cluster=(--engine parallel -k "$key" -i plain -o sealed -n 6)
keeps="$PWD/sealed.parts keeps 2 of 6 parts; run the same command again to continue"

# start: runs gpuaes-cluster until the first two parts are finished and the task of the third waits.
start() {
  rm -f "$work/task"
  touch "$work/hold"
  before_no_part
  # shellcheck disable=SC2016 # for the programs
  before_part 2 'echo $$ >"$work/task"; while [ -e "$work/hold" ]; do sleep 0.1; done'
  # In a script, programs in the background ignore SIGINT.
  # shellcheck disable=SC2016
  setsid perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' "$bin/gpuaes-cluster" "$@" -- -j 1 2>"$work/stderr" &
  run=$!
  wait_for "a task of part 2" test -s "$work/task"
}

for signal in TERM INT HUP KILL; do
  rm -rf sealed.parts
  start "${cluster[@]}"
  if [ $signal = KILL ]; then
    mapfile -t session < <(ps -o pid= -s "$run")
    kill -9 "${session[@]// /}"
  else
    kill -$signal "$run"
  fi
  expect_killed $signal "$run" 2>/dev/null
  [ $signal = KILL ] || expect_error "" "$keeps"
  wait_for "no task after SIG$signal" gone "$(<"$work/task")"
  [ ! -e sealed ] || fail "SIG$signal: expected no output"
  [ "$(stat -c %a sealed.parts)" = 700 ] || fail "expected mode 700, got $(stat -c %a sealed.parts)"
done

# A second run at the same time.
before_no_part
before_part 3 "while [ -e '$work/hold' ]; do sleep 0.1; done"
inode=$(stat -c %i sealed.parts/0.part)
"$bin/gpuaes-cluster" "${cluster[@]}" -- -j 1 2>"$work/first" &
run=$!
wait_for "part 2" test -s sealed.parts/2.part
expect_cluster 1 "${cluster[@]}"
expect_error "another gpuaes-cluster is using $PWD/sealed.parts" "wait until its tasks have ended"
[ "$(stat -c %i sealed.parts/0.part)" = "$inode" ] || fail "expected that finished parts are kept"
rm "$work/hold"
expect_success "$run"
[ "$(head -n 1 "$work/first")" = "gpuaes-cluster: 2 of 6 parts" ] || fail "expected two parts at the start, got: $(<"$work/first")"
expect_opens sealed plain
expect_files plain sealed

# What must not be mixed.
start "${cluster[@]}"
kill "$run"
expect_killed TERM "$run" 2>/dev/null
again="remove $PWD/sealed.parts to start again"
refused() { # ERROR OPTION...
  expect_cluster 1 "${cluster[@]}" "${@:2}"
  expect_error "$1" "$again"
}
refused "$PWD/sealed.parts contains parts of a run with -n 6" -n 7
refused "$PWD/sealed.parts contains parts of a run with different options" --label other
refused "$PWD/sealed.parts contains parts of a run with different options" -d
touch -d '2001-01-01' plain
refused "$PWD/plain has changed since an earlier run"
rm "$work/hold"
rm -r sealed.parts
expect_cluster 0 "${cluster[@]}"
expect_opens sealed plain

# The input changes during the run.
before_part 3 "touch '$PWD/plain'"
expect_cluster 1 "${cluster[@]}"
expect_error "cannot join the parts: $PWD/plain has changed" \
  "$PWD/sealed.parts keeps 6 of 6 parts; run the same command again to continue"
expect_opens sealed plain

# A directory with other files, or that other users can access.
rm -r sealed.parts
mkdir -m 700 sealed.parts
touch sealed.parts/precious
expect_cluster 1 "${cluster[@]}"
expect_error "$PWD/sealed.parts contains other files" "choose another name with -o"
chmod 755 sealed.parts
expect_cluster 1 "${cluster[@]}"
expect_error "other users have access to $PWD/sealed.parts" "remove it"
[ -e sealed.parts/precious ] || fail "expected that other files are kept"
