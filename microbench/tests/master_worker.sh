#!/bin/sh
# master_worker.sh DIRECTORY PROCESSES...: real runs of DIRECTORY/sk_master_worker and of what it refuses (launching.sh). Files
# and output go to DIRECTORY/master-worker.
set -u
. "$(dirname "$0")/launching.sh"
begin "$1" master-worker
shift
program=$directory/sk_master_worker

must_work() { # must_work PROCESSES CELLS OPTIONS...: so many cells, all of them right
    n=$1
    wanted=$2
    shift 2
    write "" "$n" "$program" "$@" || return
    cells=$(grep '"rec":"units"' "$file" | grep -c '"verified":true')
    [ "$wanted" = "$cells" ] || fail "$cells right cells instead of $wanted: $*"
}

must_refuse() { # must_refuse STATUS MESSAGE PROCESSES OPTIONS...
    status=$1
    message=$2
    n=$3
    shift 3
    refuse "$status" "$message" "$n" "$program" "$@"
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
finish master-worker
