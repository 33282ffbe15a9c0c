#!/usr/bin/env bash
# Starts N parameter servers and M workers on this machine, waits until they answer, and runs until Ctrl-C.
#
#   cluster/local.sh [--cores N] [PS [WORKERS [FOLDER]]]      defaults: 1 2 ./tfw2v-cluster
#
# Each worker trains with N cores side by side (default 1).
#
# FOLDER gets cluster.json, for --cluster, and a log for every task. If a task ends, the script shows the end of its log
# and stops the others. Environment variables:
#
#   TFW2V_PORT     the first port; each further task has the next one (default 23450)
#   TFW2V_PYTHON   the Python that has the package (default python3)
#   TFW2V_WAIT     seconds that the tasks may take to answer (default 120)
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cores=1
if [[ ${1:-} == --cores ]]; then
    cores=${2:-}
    is_count "$cores" || fail "--cores: '$cores' is not a whole number of 1 or more"
    shift 2
fi
ps=${1:-1}
workers=${2:-2}
folder=${3:-tfw2v-cluster}
port=${TFW2V_PORT:-23450}
is_count "$ps" && is_count "$workers" && is_count "$port" || misused
last=$((port + ps + workers - 1))

# This check comes before anything is written: the folder may be that of a running cluster.
for ((i = port; i <= last; i++)); do
    if (: >"/dev/tcp/127.0.0.1/$i") 2>/dev/null; then
        fail "port $i is taken; TFW2V_PORT sets another first port (ports $port to $last are needed)"
    fi
done
mkdir -p "$folder"
hosts=()
for ((i = port; i <= last; i++)); do hosts+=("127.0.0.1:$i"); done
write_cluster "$folder/cluster.json" "$ps" "${hosts[@]}"

tasks=()
names=()
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
    options=()
    if [[ $job == worker ]]; then options=(--cores "$cores"); fi
    "${TFW2V[@]}" server --job "$job" --task "$task" --cluster "$folder/cluster.json" --with-parent $$ "${options[@]}" \
        >"$folder/$job-$task.log" 2>&1 &
    tasks+=($!)
    names+=("$job $task")
    logs+=("$folder/$job-$task.log")
done
await_cluster "$folder/cluster.json"
run "$folder/cluster.json"
