#!/bin/sh
# master_worker.sh DIRECTORY PROCESSES...: real runs of DIRECTORY/sk_master_worker and of what it refuses. MPIEXEC and MPIFLAGS
# say how to start; files and output go to DIRECTORY/master-worker. Every failure is said.
set -u
directory=$1
shift
runs=$directory/master-worker
program=$directory/sk_master_worker
rm -rf "$runs"
mkdir -p "$runs"
failures=0
started=0

fail() {
    failures=$((failures + 1))
    echo "master_worker.sh: failed: $*" >&2
}

launch() { # launch PROCESSES OPTIONS...: status of the program; output in $runs/output
    n=$1
    shift
    started=$((started + 1))
    # shellcheck disable=SC2086
    ${TIMEOUT:-timeout 300} $MPIEXEC ${MPIFLAGS:-} -n "$n" "$program" "$@" >"$runs/output" 2>&1
}

must_work() { # must_work PROCESSES CELLS OPTIONS...: so many cells, all of them right
    n=$1
    wanted=$2
    shift 2
    file=$runs/$started.jsonl
    launch "$n" --expect-np "$n" --out "$file" "$@" || { fail "status $? with $n processes: $*"; cat "$runs/output" >&2; return; }
    grep -q -e 'runtime error' -e Sanitizer "$runs/output" && fail "sanitizer: $(cat "$runs/output")"
    "$directory/check_file" "$file" || fail "file of $*"
    cells=$(grep '"rec":"units"' "$file" | grep -c '"verified":true')
    [ "$wanted" = "$cells" ] || fail "$cells right cells instead of $wanted: $*"
}

must_refuse() { # must_refuse STATUS MESSAGE PROCESSES OPTIONS...: once, whatever the number of processes
    status=$1
    message=$2
    shift 2
    launch "$@"
    got=$?
    [ $got = "$status" ] || fail "status $got instead of $status: $*: $(cat "$runs/output")"
    times=$(grep -c -F -e "$message" "$runs/output")
    [ "$times" = 1 ] || fail "said $times times, not once: '$message': $*: $(cat "$runs/output")"
}

every=
for collecting in Waitsome Waitany Recv_any; do
    for handing in "" _Ssend _Bsend _Isend; do
        every=$every${every:+,}$collecting$handing
    done
done

for p in "$@"; do
    [ "$p" -gt 1 ] || continue
    must_work "$p" 48 --variants "$every" --sizes 8,13,300000,100 --work-us 0 --units 4 --reps 2 --passes 1 --result-size 9
    must_work "$p" 24 --variants "$every" --sizes 8 --work-us 20 --units 3 --reps 2 --passes 2 --result-size 70000
    most=$p
done
must_work "$most" 6 --reps 100 --budget 0.000001
grep -q '"status":"budget"' "$file" || fail "a budget of nothing cuts nothing short"
grep -q '"parameter":{"workers":'$((most - 1))'}' "$file" || fail "the number of workers is not in the file"
must_work 2 1 --variants Recv_any --work-us 0 --units 1 --reps 1 --passes 1

out="--out $runs/refused.jsonl"
# shellcheck disable=SC2086
{
    must_refuse 0 "--work-us T,T" 2 --help
    must_refuse 2 "sk_master_worker: a master needs a worker, there is 1 process; start more" 1 $out
    must_refuse 2 "sk_master_worker: --variants: 'Waitall' is not one of Waitsome, Waitsome_Ssend," 2 $out --variants Waitall
    must_refuse 2 "sk_master_worker: --sizes: '4' is no whole number from 8 to 67108864; see --help" 2 $out --sizes 8,4
    must_refuse 2 "sk_master_worker: --work-us: '1.5' is no whole number from 0 to 10000000; see --help" 2 $out --work-us 1.5
    must_refuse 2 "sk_master_worker: --result-size 67108865 is too large: at most 67108864" 2 $out --result-size 67108865
    must_refuse 2 "sk_master_worker: --passes 7 is greater than --reps 6; lower it" 2 $out --passes 7 --reps 6
    must_refuse 2 "sk_master_worker: --out is missing: name the run file to write" 2 --sizes 8
}
[ -e "$runs/refused.jsonl" ] && fail "a refused launch left a file"

echo "master-worker: $started launches, $failures failed ($directory)"
[ "$failures" = 0 ]
