#!/usr/bin/env bash
# Stops the processes that up.sh FOLDER started, by the pids in FOLDER, and waits for them. Keeps
# the folder.
set -uo pipefail
folder=${1:?usage: down.sh FOLDER}
export SLURM_CONF=$folder/slurm.conf
timeout 20 scancel --me --quiet 2>/dev/null
for ((i = 0; i < 50; ++i)); do
  [[ -n $(timeout 5 squeue -h 2>/dev/null) ]] || break
  sleep 0.2
done
pids=()
for file in "$folder"/slurmd-*.pid "$folder/slurmctld.pid" "$folder/munge/pid"; do
  [[ -s $file ]] || continue
  pid=$(<"$file")
  # Only processes started with this folder, because pids are reused.
  tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -qF -- "$folder/" || continue
  kill "$pid" 2>/dev/null && pids+=("$pid")
done
for pid in "${pids[@]}"; do
  for ((i = 0; i < 100; ++i)); do
    [[ -d /proc/$pid ]] || break
    sleep 0.1
  done
  kill -9 "$pid" 2>/dev/null
done
exit 0
