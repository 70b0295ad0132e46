#!/usr/bin/env bash
# Starts a Slurm with NODES virtual nodes (default 3: n1 n2 n3) on this machine, for tests: munge,
# one controller and one daemon per node, all as root and without systemd.
# usage: up.sh FOLDER [NODES]. FOLDER is an absolute path that does not exist; down.sh FOLDER stops
# it.
# Prints the variable to export: SLURM_CONF.
set -euo pipefail
folder=${1:?usage: up.sh FOLDER [NODES]}
nodes=${2:-3}
case $folder in /*) ;; *) echo "up.sh: $folder is not absolute" >&2; exit 2 ;; esac
[[ ! -e $folder ]] || { echo "up.sh: $folder exists" >&2; exit 2; }
[[ $(id -u) -eq 0 ]] || { echo "up.sh: needs root: daemons of Slurm start processes of users" >&2; exit 2; }
# Debian's munge user and the daemons need access to these folders.
install -d -m 0755 "$folder" "$folder/munge" "$folder/state" "$folder/spool" "$folder/log"

host=$(hostname -s)
# Unused ports: the controller's, then one per node.
is_free() { ! (: </dev/tcp/127.0.0.1/"$1") 2>/dev/null; }
port=${MSPROF_SLURM_PORT:-27117}
until is_free "$port" && is_free $((port + 1)); do port=$((port + 10)); done

head -c 1024 /dev/urandom >"$folder/munge/key"
chmod 0400 "$folder/munge/key"
munged --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" --pid-file="$folder/munge/pid" \
  --log-file="$folder/munge/log" --seed-file="$folder/munge/seed" 2>>"$folder/log/munged.err"

# cred_expire: how long the controller waits before a job of a dead node may start elsewhere. The
# other options shorten waits and disable accounting, control groups and other machines.
cat >"$folder/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket,cred_expire=5
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation=$folder/state
SlurmctldPidFile=$folder/slurmctld.pid
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdSpoolDir=$folder/spool/%n
SlurmdPidFile=$folder/slurmd-%n.pid
SlurmdLogFile=$folder/log/slurmd-%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=3,bf_interval=3,batch_sched_delay=1,requeue_delay=0
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SlurmdTimeout=10
KillWait=3
MinJobAge=60
JobRequeue=1
MaxArraySize=${MSPROF_SLURM_ARRAY:-1001}
NodeName=n[1-$nodes] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + nodes))] CPUs=2 RealMemory=1000 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$folder/slurm.conf
slurmctld -c -f "$SLURM_CONF"
for ((i = 1; i <= nodes; ++i)); do slurmd -N "n$i" -f "$SLURM_CONF"; done
for ((i = 0; i < 5400; ++i)); do
  if [[ $(sinfo -h -o '%D %t' 2>/dev/null) == "$nodes idle" ]]; then
    echo "SLURM_CONF=$SLURM_CONF"
    exit 0
  fi
  sleep 0.1
done
echo "up.sh: the nodes are not ready after 540 s: $(sinfo 2>&1)" >&2
"$(dirname "$0")/down.sh" "$folder"
exit 1
