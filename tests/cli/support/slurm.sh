# shellcheck shell=bash
# Slurm for tests. Source it after lib.sh.

# wait_for WHAT COMMAND...: waits until the command succeeds.
wait_for() {
  local tries
  for ((tries = 0; tries < 600; tries++)); do
    if "${@:2}" >/dev/null 2>&1; then return; fi
    sleep 0.05
  done
  fail "expected $1"
}

# start_slurm: starts Slurm with one node on this host, without systemd: munged with a socket and key of its own, slurmctld
# and slurmd. Sets slurm_pid to their processes. Everything is in one directory.
start_slurm() {
  local tries
  PATH=$PATH:/usr/sbin
  need munged slurmctld slurmd sbatch squeue
  slurm=$(mktemp -d /tmp/gpuaes-slurm-XXXXXX) # a short name without spaces, for the socket and slurm.conf
  chmod 755 "$slurm"
  declare -gA slurm_pid=()
  at_exit stop_slurm
  export SLURM_CONF=$slurm/slurm.conf
  (umask 077 && head -c 1024 /dev/urandom >"$slurm/munge.key")
  slurm_daemon munged munged --foreground --force --key-file="$slurm/munge.key" --socket="$slurm/munge.socket" \
    --pid-file="$slurm/munged.pid" --log-file="$slurm/munged.log" --seed-file="$slurm/munged.seed"
  wait_for "munged to open its socket" test -S "$slurm/munge.socket"
  # Another program may take a free port first.
  for tries in 1 2 3; do
    slurm_conf
    slurm_daemon slurmctld slurmctld -D -i
    slurm_daemon slurmd slurmd -D -N node
    if slurm_is_up; then return; fi
    kill -9 "${slurm_pid[slurmctld]}" "${slurm_pid[slurmd]}"
  done 2>/dev/null
  cat "$slurm"/*.out
  skip "Slurm does not start here"
}

slurm_daemon() { # NAME COMMAND...
  "${@:2}" >"$slurm/$1.out" 2>&1 &
  slurm_pid[$1]=$!
  disown # the shell does not report that it was killed
}

slurm_is_up() {
  local tries
  for ((tries = 0; tries < 100; tries++)); do
    if sinfo --noheader --Node --format=%t | grep -q idle; then return; fi
    sleep 0.1
  done
  return 1
}

# Two free ports below those that the kernel gives to clients.
free_ports() {
  perl -MIO::Socket::INET -e '
    while (@held < 2) {
      my $socket = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1", LocalPort => 10000 + int rand 20000);
      push @held, $socket if $socket;
    }
    print join " ", map $_->sockport, @held'
}

# The scheduler starts tasks at once instead of after seconds.
slurm_conf() {
  local host user ports
  host=$(uname -n) host=${host%%.*} user=$(id -un)
  read -ra ports < <(free_ports; echo)
  rm -rf "$slurm/state" "$slurm/spool"
  mkdir "$slurm/state" "$slurm/spool"
  cat >"$SLURM_CONF" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
AuthInfo=socket=$slurm/munge.socket
SlurmctldPort=${ports[0]}
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool
SlurmctldPidFile=$slurm/slurmctld.pid
SlurmdPidFile=$slurm/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_min_interval=10000,sched_interval=1,bf_interval=1
MaxArraySize=100
NodeName=node NodeHostname=$host NodeAddr=127.0.0.1 Port=${ports[1]} CPUs=4
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
}

# Also ends what the daemons started: processes with SLURM_CONF in their environment.
stop_slurm() {
  local each
  export -n SLURM_CONF
  kill -9 "${slurm_pid[@]}" 2>/dev/null
  for each in /proc/[0-9]*; do
    if grep -qsF "SLURM_CONF=$slurm/" "$each/environ"; then kill -9 "${each#/proc/}" 2>/dev/null; fi
  done
  rm -rf "$slurm"
}

no_slurm_jobs() { [ -z "$(squeue --noheader)" ]; }
