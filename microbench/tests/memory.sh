#!/bin/sh
# memory.sh BUILD PROCESSES: sk_memory with its own malloc (plain, and under the undefined-behaviour sanitizer) gives the
# same bytes in every run and sees every object; without a counting malloc it says that it skips.
set -eu
build=$1
n=$2

run() { # run VARIANT: bytes of every object, one a line
    file=$build/$1/memory.jsonl
    # shellcheck disable=SC2086
    timeout 1800 $MPIEXEC $MPIFLAGS -n "$n" "$build/$1/sk_memory" --expect-np "$n" --ops all --slope-objects 16 --out "$file"
    "$build/$1/check_file" "$file" MPI_memory
    sed -n 's/.*"op":"\([^"]*\)".*"steady_B":\([0-9-]*\).*/\1 \2/p' "$file"
}

first=$(run plain)
again=$(run plain)
checked=$(run undefined)
[ "$(echo "$first" | wc -l)" = 11 ] || { echo "memory.sh: eleven objects expected: $first" >&2; exit 1; }
[ "$first" = "$again" ] || { echo "memory.sh: two runs differ: $first / $again" >&2; exit 1; }
[ "$first" = "$checked" ] || { echo "memory.sh: the sanitizer changes bytes: $first / $checked" >&2; exit 1; }
[ -z "$(run uncounted)" ] || { echo "memory.sh: bytes without a counting malloc" >&2; exit 1; }
[ "$(grep -c '"rec":"skip"' "$build/uncounted/memory.jsonl")" = 8 ] || { echo "memory.sh: eight skip records expected" >&2; exit 1; }
echo "memory: equal in three runs of $n processes:" $first
