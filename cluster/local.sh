#!/usr/bin/env bash
# Starts N parameter servers and M workers on this machine, waits until they answer, and runs until Ctrl-C.
#
#   cluster/local.sh [PS [WORKERS [FOLDER]]]      defaults: 1 2 ./tfw2v-cluster
#
# FOLDER gets cluster.json, for --cluster, and a log for every task. TFW2V_PORT is the first port (default 23450).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

ps=${1:-1}
workers=${2:-2}
folder=${3:-tfw2v-cluster}
port=${TFW2V_PORT:-23450}
[[ $ps =~ ^[1-9][0-9]*$ && $workers =~ ^[1-9][0-9]*$ ]] || misused

mkdir -p "$folder"
hosts=()
for ((i = 0; i < ps + workers; i++)); do hosts+=("127.0.0.1:$((port + i))"); done
write_cluster "$folder/cluster.json" "$ps" "${hosts[@]}"

tasks=()
logs=()
stop() {
    trap - EXIT INT TERM
    say "stopping"
    kill "${tasks[@]}" 2>/dev/null || true
    wait "${tasks[@]}" 2>/dev/null || true
}
trap stop EXIT
trap 'exit 130' INT TERM

for ((i = 0; i < ps + workers; i++)); do
    read -r job task < <(job_and_task "$i" "$ps")
    "${TFW2V[@]}" server --job "$job" --task "$task" --cluster "$folder/cluster.json" --with-parent $$ \
        >"$folder/$job-$task.log" 2>&1 &
    tasks+=($!)
    logs+=("$folder/$job-$task.log")
done
await_cluster "$folder/cluster.json"
say "ready: --cluster $folder/cluster.json (logs in $folder; Ctrl-C stops all tasks)"
wait -n "${tasks[@]}" || true
say "a task has ended; see the logs in $folder"
exit 1
