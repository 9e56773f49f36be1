# launching.sh: what the real runs of programs share; sourced by the scripts beside it. MPIEXEC and MPIFLAGS say how to
# start, TIMEOUT how long one launch may take. Every failure is said.

failures=0
started=0

begin() { # begin DIRECTORY FOLDER: files and output go to DIRECTORY/FOLDER, which is made anew
    directory=$1
    runs=$directory/$2
    rm -rf "$runs"
    mkdir -p "$runs"
}

fail() {
    failures=$((failures + 1))
    echo "$(basename "$0"): failed: $*" >&2
}

launch() { # launch PROCESSES PROGRAM OPTIONS...: status of the program; output in $runs/output
    n=$1
    shift
    started=$((started + 1))
    # shellcheck disable=SC2086
    ${TIMEOUT:-timeout 1800} $MPIEXEC ${MPIFLAGS:-} -n "$n" "$@" >"$runs/output" 2>&1
}

write() { # write OPS PROCESSES PROGRAM OPTIONS...: a launch that ends well and leaves $file with these operations
    ops=$1
    shift
    file=$runs/$(basename "$2")-$started.jsonl
    launch "$@" --expect-np "$1" --out "$file" || { fail "status $? with $1 processes: $*"; cat "$runs/output" >&2; return 1; }
    grep -q -e 'runtime error' -e Sanitizer "$runs/output" && fail "sanitizer: $*: $(cat "$runs/output")"
    # shellcheck disable=SC2086
    "$directory/check_file" "$file" $ops || fail "file of $*"
}

refuse() { # refuse STATUS MESSAGE PROCESSES PROGRAM OPTIONS...: the message once, whatever the number of processes
    status=$1
    message=$2
    shift 2
    launch "$@"
    got=$?
    [ $got = "$status" ] || fail "status $got instead of $status: $*: $(cat "$runs/output")"
    times=$(grep -c -F -e "$message" "$runs/output")
    [ "$times" = 1 ] || fail "said $times times, not once: '$message': $*: $(cat "$runs/output")"
}

finish() { # finish NAME: how many launches there were; the status says whether all was right
    [ -e "$runs/refused.jsonl" ] && fail "a refused launch left a file"
    echo "$1: $started launches, $failures failed ($directory)"
    [ "$failures" = 0 ]
}
