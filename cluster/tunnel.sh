#!/usr/bin/env bash
# Puts stunnel in front of every task of a cluster: its machines communicate encrypted, and only with each other.
#
#   cluster/tunnel.sh make HOSTFILE [FOLDER]      default folder: ./tfw2v-tunnel
#   cluster/tunnel.sh run FOLDER/MACHINE
#
# HOSTFILE is that of ssh.sh; HOST:PORT is the address at which stunnel answers for the task. Workers that share a host
# need cores=N, because their own addresses do not show that they do. `make` needs openssl. It
# writes a folder for every host, and one named coordinator, with a certificate that no other machine may have. Copy
# each folder to its machine in a secure way (scp), and delete it here. FOLDER must be new. Certificates are valid for
# TFW2V_DAYS (365).
#
# `run` needs stunnel and the package. It starts the machine's end of the tunnel and its tasks, and runs until Ctrl-C.
# cluster.json in the folder is the file for --cluster. It is the same on all machines: every task has its own address
# of loopback. Their ports begin at TFW2V_PORT (24450), which `make` reads.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# named POSITION: print the name of the task at this position of the list, as in ps-0.
named() { job_and_task "$1" "$servers" | tr ' ' -; }

# local_address POSITION: print the address that the task has on every machine.
local_address() { echo "127.77.$((($1 + 1) / 250)).$((($1 + 1) % 250)):$((first_port + $1))"; }

is_ip() { [[ $1 =~ ^[0-9.]+$ ]]; }

make_certificates() {
    keys=$(mktemp -d)
    trap 'rm -rf "$keys"' EXIT
    cat >"$keys/openssl.cnf" <<'END'
[req]
distinguished_name = name
[name]
[authority]
basicConstraints = critical, CA:TRUE, pathlen:0
keyUsage = critical, keyCertSign
END
    openssl req -x509 "${new_key[@]}" -keyout "$keys/ca.key" -out "$keys/ca.pem" -subj "/CN=tfw2v cluster" \
        -config "$keys/openssl.cnf" -extensions authority -days "$days" 2>"$keys/log" || fail "$(cat "$keys/log")"
    local machine
    for machine in "${machines[@]}"; do make_certificate "$machine"; done
    # Without the key of the authority, nobody can make another certificate that these machines accept.
    rm -rf "$keys"
}

make_certificate() {
    local own=$folder/$1 kind=DNS
    is_ip "$1" && kind=IP
    printf '%s\n' "basicConstraints = critical, CA:FALSE" "keyUsage = critical, digitalSignature" \
        "extendedKeyUsage = serverAuth, clientAuth" "subjectAltName = $kind:$1" >"$keys/extensions"
    mkdir -p "$own"
    cp "$keys/ca.pem" "$own"
    {
        openssl req -new "${new_key[@]}" -keyout "$own/key.pem" -out "$keys/request" -subj "/CN=tfw2v task" \
            -config "$keys/openssl.cnf" &&
            openssl x509 -req -in "$keys/request" -CA "$keys/ca.pem" -CAkey "$keys/ca.key" -days "$days" \
                -set_serial "0x$(openssl rand -hex 16)" -extfile "$keys/extensions" -out "$own/cert.pem"
    } 2>"$keys/log" || fail "$(cat "$keys/log")"
}

# settings_of MACHINE: print stunnel's settings there.
settings_of() {
    printf '%s\n' "foreground = yes" "pid =" "debug = warning" "cert = cert.pem" "key = key.pem" "CAfile = ca.pem" \
        "verifyChain = yes" "sslVersionMin = TLSv1.2" "TIMEOUTidle = 604800"
    local i host check
    for i in "${!hosts[@]}"; do
        host=${hosts[i]%:*} check=checkHost
        is_ip "$host" && check=checkIP
        printf '\n[%s]\n' "$(named "$i")"
        if [[ $host == "$1" ]]; then
            printf '%s\n' "accept = ${hosts[i]}" "connect = $(local_address "$i")"
        else
            printf '%s\n' "client = yes" "accept = $(local_address "$i")" "connect = ${hosts[i]}" "$check = $host"
        fi
    done
}

make_folders() {
    local hostfile=$1
    folder=${2:-tfw2v-tunnel} first_port=${TFW2V_PORT:-24450} days=${TFW2V_DAYS:-365}
    new_key=(-newkey ec -pkeyopt "ec_paramgen_curve:prime256v1" -nodes)
    command -v openssl >/dev/null || fail "there is no program openssl here"
    [[ ! -e $folder ]] || fail "$folder is there already; remove it, or name another folder"
    read_hosts "$hostfile"
    local i machine addresses=()
    for i in "${!hosts[@]}"; do
        addresses+=("$(local_address "$i")")
        [[ ${hosts[i]%:*} != *:* ]] || fail "${hosts[i]}: give a name in place of an IPv6 address"
        ((${hosts[i]##*:} < first_port || ${hosts[i]##*:} >= first_port + ${#hosts[@]})) ||
            fail "${hosts[i]}: tasks need the ports from $first_port on for themselves; set TFW2V_PORT to another"
    done
    mapfile -t machines < <(printf '%s\n' "${hosts[@]%:*}" coordinator | awk '!seen[$0]++')
    umask 077
    make_certificates
    for machine in "${machines[@]}"; do
        write_cluster "$folder/$machine/cluster.json" "$servers" "${addresses[@]}"
        settings_of "$machine" >"$folder/$machine/stunnel.conf"
        for i in "${!hosts[@]}"; do
            if [[ ${hosts[i]%:*} == "$machine" ]]; then echo "$(job_and_task "$i" "$servers")${options[i]:+ ${options[i]}}"; fi
        done >"$folder/$machine/tasks"
    done
    say "made $folder for ${machines[*]}: copy each folder to its machine and delete it here," \
        "then run there: cluster/tunnel.sh run FOLDER/MACHINE"
}

run_machine() {
    local folder=$1 program job task own
    [[ -f $folder/stunnel.conf ]] || fail "$folder is no folder of a machine, as \`cluster/tunnel.sh make\` writes them"
    program=$(command -v stunnel4 || command -v stunnel) || fail "there is no program stunnel here; install it"
    tasks=()
    names=(stunnel)
    logs=("$folder/stunnel.log")
    trap stop EXIT
    trap 'exit 130' INT TERM
    (cd "$folder" && exec "$program" stunnel.conf) >"$folder/stunnel.log" 2>&1 &
    tasks+=($!)
    while read -r job task own; do
        read -ra own <<<"$own"
        "${TFW2V[@]}" server --job "$job" --task "$task" --cluster "$folder/cluster.json" --with-parent $$ "${own[@]}" \
            >"$folder/$job-$task.log" 2>&1 </dev/null &
        tasks+=($!)
        names+=("$job $task")
        logs+=("$folder/$job-$task.log")
    done <"$folder/tasks"
    if [[ -s $folder/tasks ]]; then # the other machines may be started later
        say "started $(cut -d' ' -f1,2 "$folder/tasks" | paste -sd,): --cluster $folder/cluster.json (logs in $folder; Ctrl-C stops them)"
    else
        await_cluster "$folder/cluster.json"
        say "ready: --cluster $folder/cluster.json (log in $folder; Ctrl-C stops this end of the tunnel)"
    fi
    while true; do
        check_tasks
        sleep 1
    done
}

stop() {
    trap - EXIT INT TERM
    say "stopping"
    kill "${tasks[@]}" 2>/dev/null || true
    wait "${tasks[@]}" 2>/dev/null || true
}

[[ $# -ge 2 ]] || misused
case $1 in
    make) make_folders "${@:2}" ;;
    run) run_machine "$2" ;;
    *) misused ;;
esac
