#!/usr/bin/env bash
# Starts a task on every host of a list by ssh, waits until all answer, and runs until Ctrl-C.
#
#   cluster/ssh.sh HOSTFILE [FOLDER]      default folder: ./tfw2v-cluster
#
# HOSTFILE has a line "ps HOST:PORT" or "worker HOST:PORT" for every task; # begins a comment. A worker trains with all
# cores that it may use, or with an equal share beside other workers on its host; cores=N at the end of its line sets
# another number, and gpu=N names its GPU. The hosts need the package, logins without a password, and a network whose
# users you trust, because nothing is encrypted there (tunnel.sh encrypts). FOLDER gets cluster.json, for --cluster, and
# a log for every task. If a task ends, the script shows the end of its log and stops the others. Environment variables:
#
#   TFW2V_REMOTE   the command on the hosts, with arguments if needed (default tfw2v), for example
#                  TFW2V_REMOTE=/opt/tfw2v/bin/tfw2v or TFW2V_REMOTE="python3 -m gensim_tfw2v"
#   TFW2V_PYTHON   the Python that has the package here (default python3)
#   TFW2V_WAIT     seconds that the tasks may take to answer (default 120)
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
names=()
logs=()
stop() {
    trap - EXIT INT TERM
    say "stopping"
    kill "${tasks[@]}" 2>/dev/null || true # ssh ends and closes its terminal, which ends the task
    wait "${tasks[@]}" 2>/dev/null || true
}
trap stop EXIT
trap 'exit 130' INT TERM

meaning_of() {
    case $1 in
        127) printf ' (the host has no command %s; TFW2V_REMOTE names another)' "${remote%% *}" ;;
        255) printf ' (ssh failed)' ;;
        *) signal_of "$1" ;;
    esac
}

for i in "${!hosts[@]}"; do
    read -r job task < <(job_and_task "$i" "$servers")
    ssh -tt -o BatchMode=yes "${hosts[i]%:*}" \
        "TF_CONFIG='$config' exec $remote server --job $job --task $task --cluster env --allow-network${options[i]:+ ${options[i]}}" \
        >"$folder/$job-$task.log" 2>&1 </dev/null &
    tasks+=($!)
    names+=("$job $task")
    logs+=("$folder/$job-$task.log")
done
await_cluster "$folder/cluster.json" --allow-network
run "$folder/cluster.json" --allow-network
