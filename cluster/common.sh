# Sourced by the other scripts.

say() { printf '%s\n' "$*" >&2; }

fail() {
    say "$(basename "$0"): error: $*"
    exit 1
}

TFW2V=("${TFW2V_PYTHON:-python3}" -m gensim_tfw2v)

# write_cluster FILE NUMBER_OF_PS ADDRESS...: the addresses as JSON, parameter servers first.
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

# job_and_task POSITION NUMBER_OF_PS: which task stands there in the list.
job_and_task() {
    if (($1 < $2)); then echo "ps $1"; else echo "worker $(($1 - $2))"; fi
}

await_cluster() {
    local seconds=${TFW2V_WAIT:-120} began=$SECONDS
    until "${TFW2V[@]}" cluster status --cluster "$1" >/dev/null 2>&1; do
        ((SECONDS - began < seconds)) || fail "the tasks do not answer after $seconds s; see their logs"
        sleep 1
    done
}
