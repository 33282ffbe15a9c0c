#!/usr/bin/env bash
# Starts a task on every host of a list by ssh, waits until all answer, and runs until Ctrl-C.
#
#   cluster/ssh.sh HOSTFILE [FOLDER]      default folder: ./tfw2v-cluster
#
# HOSTFILE has a line "ps HOST:PORT" or "worker HOST:PORT" for every task; # begins a comment. The hosts need the package,
# logins without a password, and a network of people you trust: nothing is encrypted there (tunnel.sh encrypts).
# TFW2V_REMOTE is the command on the hosts (default: tfw2v).
# FOLDER gets cluster.json, for --cluster, and a log for every task.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

[[ $# -gt 0 ]] || misused
hostfile=$1
folder=${2:-tfw2v-cluster}
remote=${TFW2V_REMOTE:-tfw2v}

read_hosts "$hostfile"
mkdir -p "$folder"
write_cluster "$folder/cluster.json" "$servers" "${hosts[@]}"
config=$(tr -d '\n' <"$folder/cluster.json")

tasks=()
logs=()
stop() {
    trap - EXIT INT TERM
    say "stopping"
    kill "${tasks[@]}" 2>/dev/null || true # ssh ends and closes its terminal, which ends the task
    wait "${tasks[@]}" 2>/dev/null || true
}
trap stop EXIT
trap 'exit 130' INT TERM

for i in "${!hosts[@]}"; do
    read -r job task < <(job_and_task "$i" "$servers")
    ssh -tt -o BatchMode=yes "${hosts[i]%:*}" \
        "TF_CONFIG='$config' exec $remote server --job $job --task $task --cluster env --allow-network" \
        >"$folder/$job-$task.log" 2>&1 </dev/null &
    tasks+=($!)
    logs+=("$folder/$job-$task.log")
done
await_cluster "$folder/cluster.json" --allow-network
say "ready: --cluster $folder/cluster.json (logs in $folder; Ctrl-C stops all tasks)"
wait -n "${tasks[@]}" || true
say "a task has ended; see the logs in $folder"
exit 1
