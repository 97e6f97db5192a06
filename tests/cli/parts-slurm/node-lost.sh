#!/usr/bin/env bash
# If Slurm loses a node and runs its task again elsewhere, the first attempt may end later, before or after the join, and
# changes nothing.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
# shellcheck source=../support/slurm.sh
. "$here/slurm.sh"
start_slurm

# A task seals a file as one part. The first attempt at part 1 reads it from a pipe that ends only after the file `hold`
# has been removed.
for i in 0 1 2 3; do make_input $((100000 + i)) "input.$i"; done
cat input.? >plain
cat >task <<END
#!/usr/bin/env bash
i=\$SLURM_ARRAY_TASK_ID
if [ "\$i" != 1 ] || ! mkdir '$work/attempt' 2>/dev/null; then
  exec '$parts' seal sealed --part "\$i" -i "input.\$i"
fi
echo "\$SLURMD_NODENAME" >'$work/attempt/node'
{
  head -c 70000 input.1
  while [ -e '$work/hold' ]; do sleep 0.1; done
  tail -c +70001 input.1
} | '$parts' seal sealed --part 1 2>'$work/attempt/stderr'
echo \$? >'$work/attempt/status'
END

# lose_node: starts the tasks, waits until only the first attempt at part 1 is left (Slurm may need minutes for a task that
# it was about to start on a node as that node is lost), loses its node, and waits for the second attempt. Sets node.
lose_node() {
  rm -rf sealed "$work/attempt"
  touch "$work/hold"
  "$parts" plan -q -k "$key" -n 4 -o sealed >/dev/null
  sbatch --parsable --requeue --array=0-3 task >"$work/id"
  wait_for "a first attempt at part 1" attempt_is_shown
  wait_for "the other parts" only_task_1_is_left
  read -r node <"$work/attempt/node"
  kill -STOP "${slurm_pid[$node]}"
  scontrol update nodename="$node" state=down reason=lost
  wait_for "a second attempt" test -e sealed/part.0000001
  cp -p sealed/part.0000001 "$work/second"
  attempt_is_shown || fail "expected the first attempt to continue, got: $("$parts" status sealed)"
}
only_task_1_is_left() { [ "$(squeue --noheader --array --format=%K)" = 1 ]; }
attempt_is_shown() { "$parts" status sealed | grep -q '^attempt  *part.0000001 by process'; }

# Lets it continue, and expects that it leaves the part alone.
end_first_attempt() {
  rm "$work/hold"
  wait_for "the first attempt to end" test -s "$work/attempt/status"
  [ "$(<"$work/attempt/status")" = 0 ] ||
    fail "expected status 0, got $(<"$work/attempt/status") (stderr: $(<"$work/attempt/stderr"))"
  grep -q 'sealed/part.0000001 is already complete$' "$work/attempt/stderr" ||
    fail "expected a note about part 1, got: $(<"$work/attempt/stderr")"
  cmp "$work/second" sealed/part.0000001 || fail "expected that part 1 stays the same after its first attempt"
}
expect_sealed() {
  [ "$(cd sealed && echo *)" = "head index part.0000000 part.0000001 part.0000002 part.0000003" ] ||
    fail "expected a joined directory, got: $(ls -A sealed)"
  gsealed -d sealed | cmp - plain
}

lose_node
end_first_attempt
"$parts" join sealed
expect_sealed
kill -CONT "${slurm_pid[$node]}"
scontrol update nodename="$node" state=resume
wait_for "both nodes" slurm_has_nodes

lose_node
"$parts" join sealed
expect_sealed
end_first_attempt
expect_sealed
