#!/bin/sh
# run.sh DIRECTORY PROCESSES...: real runs of DIRECTORY/sk_time and sk_memory and of what they refuse (launching.sh). Files
# and output go to DIRECTORY/runs.
set -u
. "$(dirname "$0")/launching.sh"
begin "$1" runs
shift

must_work() { # must_work PROCESSES OPS PROGRAM OPTIONS...
    n=$1
    ops=$2
    shift 2
    write "$ops" "$n" "$@"
}

collectives="MPI_Barrier MPI_Bcast MPI_Reduce MPI_Allreduce MPI_Gather MPI_Allgather MPI_Alltoall Bcast_binary_tree"
objects="MPI_Comm_create MPI_Comm_create[reverse] MPI_Comm_create[stride] MPI_Comm_create[random] MPI_Comm_dup MPI_Win_create MPI_Cart_create MPI_memory"
further="MPI_Comm_split MPI_Win_allocate MPI_Dist_graph_create MPI_Dist_graph_create_adjacent"
here=$(dirname "$0")
every=$(sed -n 's/^SK_OP([A-Z_]*, "\([^"]*\)".*/\1/p' "$here/../catalogue/ops.def" "$here/../subst/operations.def" "$here/../rma/operations.def")
# A small budget: four ranks that wait in loops on two cores cost more than what is checked here.
few="--max-reps 30 --passes 2 --budget 3"
time=$directory/sk_time
memory=$directory/sk_memory

# shellcheck disable=SC2086
for p in "$@"; do
    must_work "$p" "$collectives" "$time" $few
    must_work "$p" "$every" "$time" --max-reps 20 --passes 2 --budget 5 --ops all
    must_work "$p" "$objects $further" "$memory" --ops all --creations 3 --slope-objects 8 --budget 60
done
kinds="Round_trip Exchange Pack Reduce_local Train Train_delayed Receive_arrived Send_to_late Overlap_send Overlap_receive Strided Queued Perfect_matching"
cells=Round_trip:0,1,5000/Train:0,64/Train_delayed:64/Receive_arrived:8,20000/Send_to_late:8,300000/Overlap_send:4096
cells=$cells/Exchange:0,64,9000/Pack:0,4096@1,3/Reduce_local:0,4096@1,8/Overlap_receive:4096/Strided:0,4096@0,1,3/Queued:8@0,5,1200/Perfect_matching:8,4096@0,1,2
most=$p
for p in "$@"; do
    [ "$p" -gt 1 ] || continue
    must_work "$p" "$kinds" "$directory/sk_p2p" --cells $cells --reps 6 --passes 2 --budget 30
    must_work "$p" "Round_trip" "$directory/sk_p2p" --reps 50 --budget 0.000001
done
for p in "$@"; do
    must_work "$p" "ring_allreduce" "$directory/ring_allreduce" --max-reps 30 --size 1000 --passes 2
done
# shellcheck disable=SC2086
{
    must_work "$most" "MPI_Bcast MPI_Reduce" "$time" $few --sync window --ops MPI_Bcast,MPI_Reduce --size 4000 --datatype double
    must_work "$most" "MPI_Allreduce MPI_Alltoall" "$time" $few --sync=dissemination --ops=MPI_Allreduce,MPI_Alltoall --size 12 --datatype int
    must_work "$most" "MPI_Barrier MPI_Gather" "$time" $few --clock estimated --ops MPI_Barrier,MPI_Gather --size 1
    must_work "$most" "MPI_Scan MPI_Ireduce_scatter[overlap]" "$time" $few --ops 'MPI_Scan,MPI_Ireduce_scatter[overlap]' --size 4000 --datatype double --sync window
    must_work "$most" "MPI_Gather Ping_pong" "$time" $few --ops MPI_Gather,Ping_pong --per-process 1 --standard-error 0.05 --cut-quartiles 1,4
    grep -q '"process_ns":\[\[[0-9]' "$file" || fail "no process has a time"
    grep -q '"allowed_stderr":0.05,"cut":\[1,1\]' "$file" || fail "the stop rule is not kept"
    must_work "$most" "MPI_Bcast" "$time" $few --ops MPI_Bcast --per-process 1 --sync dissemination --auto-refined 1
    grep -q '"auto_refined":true' "$file" || fail "the refinement is not kept"
    must_work "$most" "MPI_Ibcast[overlap] Ping_pong" "$time" --budget 0.000001 --ops 'MPI_Ibcast[overlap],point-to-point'
    must_work "$most" "Gather_send_recv MPI_Ibsend" "$time" $few --ops substitutes,send-modes --size 200000 --datatype int
    must_work "$most" "MPI_Put[pscw] MPI_Compare_and_swap[lock] MPI_Iprobe[x1000]" "$time" $few --ops rma,simple --size 40000 --datatype double
    must_work "$most" "Bw[x64] Mbw_mr[x64] Ping_pong[partitioned] MPI_Alltoallv[in-place]" "$time" $few --ops bandwidth,persistent,partitioned,in-place --size 40000 --datatype double --sync window
    must_work "$most" "MPI_Allreduce[persistent] Ping_pong[partitioned]" "$time" $few --ops persistent,partitioned --size 12 --datatype int --sync dissemination
    must_work "$most" "MPI_Get_accumulate[flush]" "$time" $few --ops 'MPI_Get_accumulate[flush]' --size 12 --datatype int --sync window
    must_work "$most" "MPI_Barrier" "$time" --budget 0.000001 --ops MPI_Barrier --warmup 1000000
    must_work "$most" "MPI_memory" "$memory" --ops MPI_memory
}
echo '{"a": 1}' >"$runs/provenance.json"
must_work "$most" "MPI_Barrier" "$time" --ops MPI_Barrier --provenance "$runs/provenance.json" --run-id 'a "run"'
grep -q '"provenance":{"a": 1}' "$file" || fail "provenance is not kept"
grep -q '"run_id":"a \\"run\\""' "$file" || fail "run id is not kept"

out="--out $runs/refused.jsonl"
refuse 2 "sk_function: --ops: 'MPI_Bcast' is not one of ring_allreduce, paper," 2 "$directory/ring_allreduce" $out --ops MPI_Bcast
# shellcheck disable=SC2086
{
    refuse 0 "--out FILE" 2 "$time" --help
    refuse 0 "--shapes A,B" 2 "$memory" --help
    refuse 2 "sk_time: unknown argument '--none'; see --help for the options" 2 "$time" --none
    refuse 2 "sk_time: --out is missing: name the run file to write, --out FILE" 2 "$time"
    refuse 2 "sk_memory: --out is missing: name the run file to write, --out FILE" 2 "$memory"
    refuse 3 "sk_time: MPI_COMM_WORLD has 2 processes, --expect-np says 3; start with the mpiexec that belongs to the MPI library of this program" 2 "$time" $out --expect-np 3
    refuse 3 "sk_memory: MPI_COMM_WORLD has 1 process, --expect-np says 3; start" 1 "$memory" $out --expect-np 3
    refuse 2 "sk_time: --ops: 'MPI_Put' is not one of MPI_Barrier, MPI_Bcast," 2 "$time" $out --ops MPI_Bcast,MPI_Put
    refuse 2 "sk_time: --sync: 'barrier' is not one of round, window, dissemination" 2 "$time" $out --sync barrier
    refuse 2 "sk_time: --sync: one value is needed, several were given; see --help" 2 "$time" $out --sync round,window
    refuse 2 "sk_time: --size 7 is not a multiple of the 4 bytes of --datatype int; give a multiple" 2 "$time" $out --size 7 --datatype int
    refuse 2 "sk_time: --size 2147483647 is too large for 2 processes: at most 1073741823 bytes a process" 2 "$time" $out --size 2147483647
    refuse 2 "sk_time: --min-reps 9 is greater than --max-reps 8; lower the first or raise the second" 2 "$time" $out --min-reps 9 --max-reps 8
    refuse 2 "sk_time: --max-reps 10000001 is too large: at most 10000000" 2 "$time" $out --max-reps 10000001
    refuse 2 "sk_time: --passes 401 is greater than --max-reps 400; lower it" 2 "$time" $out --passes 401
    refuse 2 "sk_time: --cut-quartiles '1,3': quarters to leave out are needed, from an end on, such as 4 or 1,4 or 3,4" 2 "$time" $out --cut-quartiles 1,3
    refuse 2 "sk_time: --cut-quartiles '1,2,3,4': quarters to leave out are needed" 2 "$time" $out --cut-quartiles 1,2,3,4
    refuse 2 "sk_time: --standard-error 2 is too large: a share of the mean below 1, as 0.02" 2 "$time" $out --standard-error 2
    refuse 2 "sk_time: --per-process and --auto-refined are 0 or 1; see --help" 2 "$time" $out --per-process 2
    refuse 2 "sk_time: --warmup 10000001 is too large: at most 10000000" 2 "$time" $out --warmup 10000001
    refuse 2 "sk_memory: --shapes: 'round' is not one of identity, reverse, stride, random" 2 "$memory" $out --shapes round
    refuse 2 "sk_memory: --creations 1001 is too large: at most 1000" 2 "$memory" $out --creations 1001
    refuse 2 "sk_memory: --slope-objects 100001 is too large: at most 100000" 2 "$memory" $out --slope-objects 100001
    refuse 2 "sk_p2p: --cells: there is no such kind at 'Ping'; write kinds" 2 "$directory/sk_p2p" $out --cells Ping
    refuse 2 "sk_p2p: --cells: Pack of 8 B with the number 0 makes no sense among 2 processes" 2 "$directory/sk_p2p" $out --cells Pack:8@0
    refuse 2 "sk_p2p: messages need two processes or more, there is 1; start more" 1 "$directory/sk_p2p" $out
    refuse 2 "sk_p2p: --passes 7 is greater than --reps 6; lower it" 2 "$directory/sk_p2p" $out --passes 7 --reps 6
    refuse 2 "sk_time: cannot open the run file '$runs/none/x': No such file or directory; name a new file" 2 "$time" --out "$runs/none/x"
    refuse 2 "sk_time: cannot read the provenance file '$runs/none': No such file or directory; --provenance takes" 2 "$time" $out --provenance "$runs/none"
    refuse 2 "sk_time: the provenance file '$0' does not hold one JSON object; --provenance takes" 2 "$time" $out --provenance "$0"
}
if [ -w /dev/full ]; then
    refuse 2 "sk_time: cannot write to the run file '/dev/full': No space left on device; the lines before remain readable" 2 "$time" --out /dev/full
    refuse 2 "sk_memory: cannot write to the run file '/dev/full': No space left on device; the lines before remain readable" 2 "$memory" --out /dev/full
fi
finish "real runs"
