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

# is_count TEXT: whether a text is a whole number of 1 or more.
is_count() { [[ $1 =~ ^[1-9][0-9]*$ ]]; }

# read_hosts HOSTFILE: set `hosts` to the addresses of all tasks, servers first, `servers` to the number of servers, and
# `options` to further arguments of each task.
read_hosts() {
    local workers
    mapfile -t hosts < <(addresses_of ps "$1")
    servers=${#hosts[@]}
    mapfile -t workers < <(addresses_of worker "$1")
    ((servers && ${#workers[@]})) || fail "$1 needs lines 'ps HOST:PORT' and 'worker HOST:PORT'"
    hosts+=("${workers[@]}")
    options=()
    local rest word flags
    while read -r rest; do
        flags=""
        for word in $rest; do
            if ((${#options[@]} >= servers)) && is_option "$word"; then
                flags+=" --${word/=/ }"
            else
                fail "$1: '$word' after an address; a worker may have cores=N there, with N of 1 or more, and gpu=N"
            fi
        done
        options+=("${flags# }")
    done < <(rest_of ps "$1" && rest_of worker "$1")
}

# is_option WORD: whether a word says how many cores a worker uses, or which GPU.
is_option() {
    case $1 in
        cores=*) is_count "${1#cores=}" ;;
        gpu=*) [[ ${1#gpu=} == 0 ]] || is_count "${1#gpu=}" ;;
        *) return 1 ;;
    esac
}

# addresses_of JOB HOSTFILE: print the addresses of a job in the list, which may have the line ends of Windows.
addresses_of() { tr -d '\r' <"$2" | sed 's/#.*//' | awk -v job="$1" '$1 == job { print $2 }'; }

# rest_of JOB HOSTFILE: print what follows the address of each task of a job in the list.
rest_of() {
    tr -d '\r' <"$2" | sed 's/#.*//' | awk -v job="$1" '$1 == job { $1 = $2 = ""; sub(/^ +/, ""); sub(/ +$/, ""); print }'
}

# write_cluster FILE NUMBER_OF_PS ADDRESS...: write the addresses as JSON; parameter servers come first.
write_cluster() {
    local file=$1 ps=$2
    shift 2
    printf '{"ps": [%s], "worker": [%s]}\n' "$(joined '"%s"' "${@:1:ps}")" "$(joined '"%s"' "${@:ps+1}")" >"$file"
}

# joined FORMAT WORD...: print the words, each by this format of printf, with commas between them.
joined() {
    local line
    printf -v line "$1, " "${@:2}"
    printf '%s' "${line%, }"
}

# job_and_task POSITION NUMBER_OF_PS: print the job and number of the task at this position of the list.
job_and_task() {
    if (($1 < $2)); then echo "ps $1"; else echo "worker $(($1 - $2))"; fi
}

# await_cluster FILE [FLAG...]: wait until all tasks answer. `tasks`, `names` and `logs` have the process, the name
# ("ps 0") and the log of each task.
await_cluster() {
    local seconds=${TFW2V_WAIT:-120} began=$SECONDS complaint
    until complaint=$("${TFW2V[@]}" cluster status --cluster "$@" 2>&1 >/dev/null); do
        check_tasks
        if ((SECONDS - began >= seconds)); then
            say "$complaint"
            fail "no cluster after $seconds s; the lines above and the logs of the tasks say why"
        fi
        sleep 1
    done
}

# run FILE [FLAG...]: let the tasks of the cluster in this file run until Ctrl-C; fail if one of them ends by itself.
run() {
    say "ready: --cluster $* (logs in $(dirname "$1"); Ctrl-C stops all tasks)"
    while true; do
        check_tasks
        sleep 1
    done
}

# check_tasks: fail if tasks have ended, and show how.
check_tasks() {
    local i ended=()
    for i in "${!tasks[@]}"; do
        if ! kill -0 "${tasks[i]}" 2>/dev/null; then
            show_end "$i"
            ended+=("${names[i]}")
        fi
    done
    ((${#ended[@]} == 0)) || fail "$(joined %s "${ended[@]}") ended; see above"
}

# show_end POSITION: show the exit status of the task at this position, and the last lines of its log.
show_end() {
    local status=0 log=${logs[$1]}
    wait "${tasks[$1]}" || status=$?
    say "${names[$1]} has ended with exit status $status$(meaning_of "$status")"
    if [[ ! -s $log ]]; then
        say "$log is empty"
        return
    fi
    say "The last lines of $log:"
    tail -n 10 "$log" | tr -d '\r' | sed 's/^/    /' >&2
}

# meaning_of STATUS: print the meaning of an exit status besides its number.
meaning_of() { signal_of "$1"; }

# signal_of STATUS: print which signal ended a program with this exit status, if one did.
signal_of() {
    local signal=$(($1 - 128))
    if ((signal > 0)) && kill -l "$signal" >/dev/null 2>&1; then printf ' (signal %s)' "$(kill -l "$signal")"; fi
}
