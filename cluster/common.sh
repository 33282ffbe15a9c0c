# Sourced by the other scripts, with their arguments.

say() { printf '%s\n' "$*" >&2; }

fail() {
    say "$(basename "$0"): error: $*"
    exit 1
}

# usage: print the comment at the beginning of the script.
usage() { awk 'NR > 1 { if (!sub(/^# ?/, "")) exit; print }' "$0"; }

misused() {
    usage >&2
    exit 2
}

if [[ ${1:-} == -h || ${1:-} == --help ]]; then
    usage
    exit 0
fi

TFW2V=("${TFW2V_PYTHON:-python3}" -m gensim_tfw2v)

# read_hosts HOSTFILE: set `hosts` to the addresses of all tasks, servers first, and `servers` to the number of servers.
read_hosts() {
    local workers
    mapfile -t hosts < <(addresses_of ps "$1")
    servers=${#hosts[@]}
    mapfile -t workers < <(addresses_of worker "$1")
    ((servers && ${#workers[@]})) || fail "$1 needs lines 'ps HOST:PORT' and 'worker HOST:PORT'"
    hosts+=("${workers[@]}")
}

# addresses_of JOB HOSTFILE: print the addresses of a job in the list, which may have the line ends of Windows.
addresses_of() { tr -d '\r' <"$2" | sed 's/#.*//' | awk -v job="$1" '$1 == job { print $2 }'; }

# write_cluster FILE NUMBER_OF_PS ADDRESS...: write the addresses as JSON; parameter servers come first.
write_cluster() {
    local file=$1 ps=$2
    shift 2
    printf '{"ps": [%s], "worker": [%s]}\n' "$(quoted "${@:1:ps}")" "$(quoted "${@:ps+1}")" >"$file"
}

quoted() {
    local joined
    printf -v joined '"%s", ' "$@"
    printf '%s' "${joined%, }"
}

# job_and_task POSITION NUMBER_OF_PS: print the job and number of the task at this position of the list.
job_and_task() {
    if (($1 < $2)); then echo "ps $1"; else echo "worker $(($1 - $2))"; fi
}

# await_cluster FILE [FLAG...]: wait until all tasks answer. `tasks` and `logs` have each task's process and log.
await_cluster() {
    local seconds=${TFW2V_WAIT:-120} began=$SECONDS complaint
    until complaint=$("${TFW2V[@]}" cluster status --cluster "$@" 2>&1 >/dev/null); do
        check_tasks
        if ((SECONDS - began >= seconds)); then
            say "$complaint"
            fail "no cluster after $seconds s; see above what it lacks, and the logs of the tasks"
        fi
        sleep 1
    done
}

check_tasks() {
    local i
    for i in "${!tasks[@]}"; do
        kill -0 "${tasks[i]}" 2>/dev/null || fail "a task has ended; see ${logs[i]}"
    done
}
