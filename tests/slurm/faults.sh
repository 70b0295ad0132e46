#!/usr/bin/env bash
# Fault tests on the Slurm of up.sh: after each fault the answer is either complete and byte for
# byte that of one machine, or names what is missing.
# usage: faults.sh MSPROF MAKE_RANKS FOLDER [CASE...]; SLURM_CONF must be set.
set -uo pipefail
msprof=${1:?usage: faults.sh MSPROF MAKE_RANKS FOLDER [CASE...]}
make_ranks=${2:?}
folder=${3:?}
shift 3
slurm=$(dirname "$SLURM_CONF")
mkdir -p "$folder" && cd "$folder" || exit 2

failures=0
case_name=
fail() {
  echo "FAILED: $case_name: $*" >&2
  failures=$((failures + 1))
  [[ ! -f $case_name.log ]] || sed 's/^/    /' "$case_name.log" >&2
}
expect_exit() { [[ $status -eq $1 ]] || fail "exit code $status instead of $1"; }
expect_said() { grep -qF -- "$1" "$case_name.log" || fail "it did not say: $1"; }
expect_same() { cmp -s "${1:-one/cluster.db}" "$case_name/cluster.db" || fail "cluster.db differs from that of one machine"; }
# Checks that no temporary files of ended processes and no truncated answer exist.
expect_clean() {
  local left
  left=$(find "$case_name" -name '*.msprof-tmp*' -o -name '*-journal' -o -name '*-wal' | head -3)
  [[ -z $left ]] || fail "left behind: $left"
}
# until_true COMMAND...: waits until it is true. The limit ends a hang.
until_true() {
  local limit=$((SECONDS + 540))
  until "$@"; do
    if ((SECONDS >= limit)); then
      fail "waited in vain for: $*"
      return 1
    fi
    sleep 0.2
  done
}

# An msprof that waits before `rank` while the file hold.rank exists, and before the last merge
# while hold.merge exists; on the node named in `full` it puts stores on the disk full_disk.
cat >msprof.sh <<'SCRIPT'
#!/bin/bash
here=$(dirname "$0")
. "$here/settings"
words=("$@")
hold=
case "$1 $*" in
  rank\ *) hold=hold.rank ;;
  merge\ *cluster.db*) hold=hold.merge ;;
esac
while [[ -n $hold && -e $here/$hold ]]; do sleep 0.1; done
if [[ $1 = rank && -e $here/full ]] && grep -qxF -e "${SLURMD_NODENAME:-}" -e all "$here/full"; then
  words+=(--store "$here/full_disk/$$")
fi
exec "$msprof" "${words[@]}"
SCRIPT
chmod +x msprof.sh
printf 'msprof=%q\n' "$msprof" >settings

"$make_ranks" folders captures --ranks 8 --tasks 1500 --ranks-per-host 4 >/dev/null || exit 2
"$msprof" cluster captures --output one >one.log 2>&1 || { cat one.log >&2; exit 2; }
# Import once: the faults concern later steps, and the stores of captures stay.

# run ARGUMENT...: runs msprof cluster in the foreground; start: in the background, as $running.
run() {
  "$msprof" cluster --output "$case_name" --msprof "$PWD/msprof.sh" "$@" >"$case_name.log" 2>&1
  status=$?
}
start() {
  "$msprof" cluster --output "$case_name" --msprof "$PWD/msprof.sh" "$@" >"$case_name.log" 2>&1 &
  running=$!
}
finish() {
  wait "$running"
  status=$?
}
# Finds the process that works on a task file of this case: "parts.0", "merge1.0".
pid_of_task() {
  local entry
  for entry in /proc/[0-9]*; do
    if tr '\0' '\n' 2>/dev/null <"$entry/cmdline" | grep -qE "^$PWD/$case_name/slurm/[^/]*/($1)/task.json$" &&
      [[ $(tr '\0' ' ' <"$entry/cmdline" 2>/dev/null) != */bin/srun* && $(tr '\0' ' ' <"$entry/cmdline" 2>/dev/null) != srun* ]]; then
      echo "${entry#/proc/}"
      return 0
    fi
  done
  return 1
}
has_task() { pid_of_task "$1" >/dev/null; }
parent_of() { awk '{ sub(/.*\) /, ""); print $2 }' "/proc/$1/stat" 2>/dev/null; }
children_of() {
  local entry
  for entry in /proc/[0-9]*; do
    [[ $(parent_of "${entry#/proc/}") != "$1" ]] || echo "${entry#/proc/}"
  done
}
node_of() { tr '\0' '\n' <"/proc/$1/environ" | sed -n 's/^SLURMD_NODENAME=//p'; }
queue_is_empty() { [[ -z $(squeue -h 2>/dev/null) ]]; }
node_is() { [[ $(sinfo -h -n "$1" -o %t) == "$2" ]]; }

all_is_well() {
  run captures --slurm
  expect_exit 0
  expect_same
  expect_clean
  run captures --slurm
  expect_exit 0
  expect_said "8 current"
  expect_same
}

groups_and_levels() {
  run captures --slurm --group 3
  expect_exit 0
  [[ $(find "$case_name/slurm" -name group.part | wc -l) -eq 3 ]] || fail "not three groups"
  expect_same
}

rank_killed() {
  : >hold.rank
  start captures --slurm
  until_true has_task parts.0 || return
  local task child
  task=$(pid_of_task parts.0)
  until_true eval "[[ -n \$(children_of $task) ]]"
  for child in $(children_of "$task"); do kill -KILL "$child"; done
  rm hold.rank
  finish
  expect_exit 0
  expect_same
  expect_clean
}

task_killed() {
  : >hold.rank
  start captures --slurm
  until_true has_task parts.1 || return
  kill -KILL "$(pid_of_task parts.1)"
  rm hold.rank
  finish
  expect_exit 0
  expect_said "submitted again"
  expect_same
  expect_clean
}

node_killed() {
  : >hold.rank
  start captures --slurm
  until_true has_task parts.1 || return
  local task node stepd
  task=$(pid_of_task parts.1)
  node=$(node_of "$task")
  stepd=$(parent_of "$task")
  kill -KILL "$(<"$slurm/slurmd-$node.pid")" "$stepd" "$task"
  rm hold.rank
  finish
  expect_exit 0
  expect_same
  expect_clean
  node_is "$node" idle && fail "node $node is not down"
  slurmd -N "$node" -f "$SLURM_CONF"
  until_true node_is "$node" idle
}

merge_killed() {
  : >hold.merge
  start captures --slurm
  until_true has_task merge1.0 || return
  [[ ! -e $case_name/cluster.db ]] || fail "cluster.db is there before its merge"
  kill -KILL "$(pid_of_task merge1.0)"
  rm hold.merge
  finish
  expect_exit 0
  expect_said "the merge failed: submitted again"
  expect_same
  expect_clean
}

# On one node only: tasks that run elsewhere succeed; ranks without a result are named.
disk_full_of_a_node() {
  rm -rf full_disk && mkdir full_disk && mount -t tmpfs -o size=64k tmpfs full_disk || return
  echo n2 >full
  run captures --slurm
  umount full_disk
  rm full
  if [[ $status -eq 0 ]]; then expect_same; else
    expect_exit 3
    expect_said "MISSING: "
  fi
  expect_clean
}
disk_full_everywhere() {
  rm -rf full_disk && mkdir full_disk && mount -t tmpfs -o size=64k tmpfs full_disk || return
  echo all >full
  run captures --slurm
  umount full_disk
  rm full
  expect_exit 5
  [[ $(grep -c '^warning: MISSING: /' "$case_name.log") -eq 8 ]] || fail "not all 8 captures are named"
  expect_said "No space left on device"
  [[ ! -e $case_name/cluster.db ]] || fail "there is an answer of nothing"
  expect_clean
  run captures --slurm
  expect_exit 0
  expect_same
}

# Makes the folder `damaged`: a copy of the captures, one of which cannot be read.
damaged_folder() {
  cp -r captures damaged
  local victim
  victim=$(find damaged -maxdepth 3 -name 'PROF_*' | sort | sed -n 3p)
  rm -rf "${victim:?}"/* && echo "no capture" >"$victim/readme.txt"
  run damaged --slurm
  expect_exit 3
  expect_said "MISSING: $(realpath "$victim")"
  "$msprof" cluster damaged --output damaged_one >damaged_one.log 2>&1
  [[ $? -eq 3 ]] || fail "one machine has another exit code"
  expect_same damaged_one/cluster.db
  expect_clean
}

missing_rank() {
  "$make_ranks" folders without --ranks 8 --tasks 1500 --ranks-per-host 4 --missing 3 >/dev/null
  run without --slurm
  expect_exit 3
  expect_said "MISSING: 1 rank (3)"
  "$msprof" cluster without --output without_one >without_one.log 2>&1
  expect_same without_one/cluster.db
}

two_submissions() {
  : >hold.rank
  start captures --slurm
  until_true has_task parts.0 || return
  "$msprof" cluster captures --slurm --output "$case_name" >second.log 2>&1
  [[ $? -eq 5 ]] || fail "the second submission was not refused"
  grep -q "is in use" second.log || fail "the second submission did not say why"
  rm hold.rank
  finish
  expect_exit 0
  expect_same
}

controller_restarted() {
  : >hold.rank
  start captures --slurm
  until_true has_task parts.0 || return
  local pid
  pid=$(<"$slurm/slurmctld.pid")
  kill "$pid"
  until_true eval "[[ ! -d /proc/$pid ]]"
  sleep 3
  slurmctld -f "$SLURM_CONF"
  rm hold.rank
  finish
  expect_exit 0
  expect_same
  expect_clean
}

interrupted() {
  : >hold.rank
  start captures --slurm
  until_true has_task parts.0 || return
  kill -TERM "$running"  # a script's background processes ignore INT
  finish
  expect_exit 130
  until_true queue_is_empty
  rm hold.rank
  expect_clean
  run captures --slurm
  expect_exit 0
  expect_same
}

not_waited_for() {
  : >hold.rank
  run captures --slurm --no-wait
  expect_exit 0
  "$msprof" cluster captures --slurm --output "$case_name" >second.log 2>&1
  [[ $? -eq 5 ]] || fail "a second submission was not refused"
  until_true has_task parts.1 || return
  kill -KILL "$(pid_of_task parts.1)"
  rm hold.rank
  until_true queue_is_empty
  run --attach
  expect_exit 0
  expect_said "submitted again"
  expect_same
}

disks_of_nodes() {
  "$make_ranks" folders local/n1 --ranks 8 --tasks 1500 --ranks-per-host 4 --first 0 --count 3 >/dev/null
  "$make_ranks" folders local/n2 --ranks 8 --tasks 1500 --ranks-per-host 4 --first 3 --count 3 >/dev/null
  "$make_ranks" folders local/n3 --ranks 8 --tasks 1500 --ranks-per-host 4 --first 6 --count 2 >/dev/null
  run local/%n --nodelist 'n[1-3]'
  expect_exit 0
  expect_same
  expect_clean
}

# Kills the node n3 of a running job.
node_of_a_job_killed() {
  local job task
  job=$(sbatch --parsable --nodes=3 --ntasks-per-node=1 --exclusive --no-requeue --no-kill --output=/dev/null --wrap 'sleep 600')
  until_true eval "[[ \$(squeue -h -j $job -o %T) == RUNNING ]]" || return
  : >hold.rank
  start local/%n --job "$job"
  local tasks=()
  on_node_3() {
    local entry
    for entry in /proc/[0-9]*; do
      tr '\0' '\n' 2>/dev/null <"$entry/environ" | grep -qx SLURMD_NODENAME=n3 || continue
      tr '\0' '\n' 2>/dev/null <"$entry/cmdline" | grep -qE "^$PWD/$case_name/slurm/[^/]*/task.json$" || continue
      task=${entry#/proc/}
      return 0
    done
    return 1
  }
  until_true on_node_3 || return
  kill -KILL "$(<"$slurm/slurmd-n3.pid")" "$(parent_of "$task")" "$task"
  rm hold.rank
  until_true node_is n3 'down*'
  finish
  expect_exit 3
  expect_said "MISSING: all captures of n3"
  expect_said "MISSING: 2 ranks (6-7)"
  scancel "$job"
  slurmd -N n3 -f "$SLURM_CONF"
  until_true node_is n3 idle
  until_true queue_is_empty
  run local/%n --nodelist 'n[1-3]'
  expect_exit 0
  expect_same
}

cases=("$@")
[[ ${#cases[@]} -gt 0 ]] || cases=(all_is_well groups_and_levels rank_killed task_killed node_killed merge_killed
  disk_full_of_a_node disk_full_everywhere damaged_folder missing_rank two_submissions controller_restarted
  interrupted not_waited_for disks_of_nodes node_of_a_job_killed)
for case_name in "${cases[@]}"; do
  begin=$SECONDS
  before=$failures
  "$case_name"
  rm -f hold.rank hold.merge full
  until_true queue_is_empty
  if [[ $failures -eq $before ]]; then echo "ok: $case_name ($((SECONDS - begin)) s)"; fi
done
[[ $failures -eq 0 ]] || { echo "$failures failures" >&2; exit 1; }
echo "${#cases[@]} faults, each with the whole answer or with the names of what is missing"
