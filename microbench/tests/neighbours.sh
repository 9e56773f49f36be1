#!/bin/sh
# neighbours.sh DIRECTORY PROCESSES...: real runs of DIRECTORY/sk_neighbours and of what it refuses (launching.sh). Files and
# output go to DIRECTORY/neighbours.
set -u
. "$(dirname "$0")/launching.sh"
begin "$1" neighbours
shift
program=$directory/sk_neighbours

must_work() { # must_work PROCESSES TABLE OPTIONS...: as many cells as rows
    n=$1
    table=$2
    shift 2
    write "" "$n" "$program" --experiments "$table" "$@" || return
    rows=$(($(wc -l <"$table") - 1))
    cells=$(grep -c '"rec":"cell"' "$file")
    [ "$rows" = "$cells" ] || fail "$cells cells of $rows rows: $table"
}

must_refuse() { # must_refuse MESSAGE PROCESSES ROW OPTIONS...: status 2 and the message; row 2 of a table
    message=$1
    n=$2
    printf '%s\n' "operation,size,topology,n_dim,n_finite,radius,order,constructor,reorder,work,datatype,repetitions,p" "$3" >"$runs/refused.csv"
    shift 3
    refuse 2 "$message" "$n" "$program" --experiments "$runs/refused.csv" --out "$runs/refused.jsonl" "$@"
}

head="operation,size,topology,n_dim,n_finite,radius,order,constructor,reorder,work"
neighbour="MPI_Neighbor_allgather MPI_Neighbor_allgatherv MPI_Neighbor_alltoall MPI_Neighbor_alltoallv MPI_Neighbor_alltoallw"
nonblocking="MPI_Ineighbor_allgather MPI_Ineighbor_allgatherv MPI_Ineighbor_alltoall MPI_Ineighbor_alltoallv MPI_Ineighbor_alltoallw"
graphs="MPI_Dist_graph_create MPI_Dist_graph_create_adjacent"

shapes() { # topologies with their order, constructor and reorder: what comes after the size
    for reorder in 0 1; do
        echo "cart,2,1,,,,$reorder"
        for constructor in $graphs; do
            echo "moore,2,1,1,rand,$constructor,$reorder"
            echo "full,,,,rand,$constructor,$reorder"
        done
    done
    echo "cart,1,0,,,,0"
    echo "cart,3,3,,,,0"
    echo "moore,1,0,1,lmaj,,0"
    echo "vonneumann,3,0,1,fmaj,,0"
    echo "vonneumann,2,2,1,lmaj,MPI_Dist_graph_create,0"
    echo "full,,,,linear,,0"
}

everything() { # everything OPERATION...: the head, and each on each
    echo "$head"
    for op in "$@"; do
        shapes | sed "s/^/$op,8,/; s/\$/,$work/"
    done
}

work=
# shellcheck disable=SC2086
everything $neighbour >"$runs/blocking.csv"
work=100
# shellcheck disable=SC2086
everything $nonblocking >"$runs/nonblocking.csv"
{
    echo "$head"
    echo "work,,,,,,,,,1000"
    for op in MPI_Allgather MPI_Allgatherv MPI_Alltoall MPI_Alltoallv MPI_Alltoallw; do
        echo "$op,24,,,,,,,,"
        echo "$op,24,full,,,,rand,MPI_Dist_graph_create,1,"
    done
    for reorder in 0 1; do
        echo "MPI_Cart_create,,cart,3,1,,,,$reorder,"
        for op in $graphs; do
            echo "$op,,moore,2,1,1,rand,,$reorder,"
            echo "$op,,full,,,,linear,,$reorder,"
        done
    done
} >"$runs/others.csv"

for p in "$@"; do
    must_work "$p" "$runs/blocking.csv" --repetitions 2 --warmup 0 --budget 2
    must_work "$p" "$runs/nonblocking.csv" --repetitions 2 --warmup 0 --budget 2
    must_work "$p" "$runs/others.csv" --repetitions 20 --warmup 0 --budget 2
done
must_work "$p" "$runs/others.csv" --repetitions 20 --sync dissemination --seed 7 --budget 2
must_work "$p" "$runs/others.csv" --repetitions 20 --sync window --budget 2
must_work "$p" "$runs/others.csv" --repetitions 200 --budget 0.000001
grep -q '"status":"budget"' "$file" || fail "a budget of nothing cuts nothing short"

wide="MPI_Neighbor_alltoall,8,moore,2,0"
must_refuse "sk_neighbours: refused.csv, line 2: the operation 'MPI_Neighbor_bcast' is unknown; choose from MPI_Neighbor_allgather," 2 "MPI_Neighbor_bcast,8,cart,1,,,,,,,,,"
must_refuse "sk_neighbours: refused.csv, line 2: the radius 3 is larger than the grid of 4 processes in 2 dimensions, which has 2" 4 "$wide,3,fmaj,,,,,,"
must_refuse "sk_neighbours: refused.csv, line 2: p is 3, and the launch has 2 processes; start as many, or leave the row out" 2 "$wide,1,fmaj,,,,,,3"
must_refuse "sk_neighbours: refused.csv, line 2: the topology is missing; MPI_Neighbor_alltoall needs cart," 2 "MPI_Neighbor_alltoall,8,,,,,,,,,,,"
must_refuse "sk_neighbours: refused.csv, line 2: there are 3 fields, and the first line names 13 columns" 2 "MPI_Neighbor_alltoall,8,cart"
must_refuse "sk_neighbours: cannot read the table '$runs/none': No such file" 2 "" --experiments "$runs/none"
must_refuse "sk_neighbours: --experiments is missing: name the table" 2 "" --experiments=
finish neighbours
