#!/bin/sh
# Run a command that prints nothing, and print every 20 seconds that it still runs: steadily.sh TEXT COMMAND [WORD ...]
text=$1
shift
echo "make: $text"
"$@" &
pid=$!
trap 'kill "$pid" 2>/dev/null; exit 130' INT TERM HUP
seconds=0
while kill -0 "$pid" 2>/dev/null; do
    sleep 1
    seconds=$((seconds + 1))
    [ $((seconds % 20)) -ne 0 ] || echo "make: $text, for $seconds s so far"
done
wait "$pid"
