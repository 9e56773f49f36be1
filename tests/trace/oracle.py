"""The waits of a trace by brute force: loops over all pairs, time counted ns by ns. It shares nothing with scalkit."""

from __future__ import annotations

from collections import Counter, defaultdict

from random_traces import EXCLUSIVE, Call, begun

ONE = {"MPI_Win_flush", "MPI_Win_flush_local", "MPI_Win_unlock"}
ALL = {"MPI_Win_flush_all", "MPI_Win_unlock_all"}
ACTIVE = {"MPI_Win_fence", "MPI_Win_complete", "MPI_Win_free"}
Waits = Counter[tuple[str, int]]


def progress(calls: list[Call], no_progress: tuple[str, ...]) -> list[tuple[int, int]]:
    spans = [(c.enter, c.leave) for c in calls if c.name.startswith(("MPI_", "ARMCI_")) and c.name not in no_progress]
    merged = True
    while merged:
        merged = False
        for one in spans:
            for other in spans:
                if one is not other and one[0] <= other[1] and other[0] <= one[1]:
                    spans = [s for s in spans if s is not one and s is not other]
                    spans.append((min(one[0], other[0]), max(one[1], other[1])))
                    merged = True
                    break
            if merged:
                break
    return sorted(spans)


def requests(calls: list[Call]) -> list[tuple[Call, dict[int, int]]]:
    """Return every completing call with the time at which the last operation to each of its targets was posted."""
    found = []
    for place, call in enumerate(calls):
        for operation, target, _ in call.transfers:
            if operation in ("send", "receive"):
                continue
            ends = [call, *(later for later in calls if any(one is call for one in later.ends))] if call.is_blocking else []
            if not ends:
                for later in calls[place + 1 :]:
                    covers = later.name in ONE and later.peer == target
                    covers = covers or later.name in ALL | ACTIVE or any(one is call for one in later.ends)
                    if covers and (later.scope == 1 or later.ends):
                        ends = [later]
                        break
            found += [(end, target, call.enter) for end in ends if end.name not in ACTIVE and target != call.location]
    grouped: dict[int, tuple[Call, dict[int, int]]] = {}
    for end, target, posted in found:
        last = grouped.setdefault(id(end), (end, {}))[1]
        last[target] = max(posted, last.get(target, posted))
    return list(grouped.values())


def waited(kept: list[tuple[int, int]], n_targets: int, a: int) -> int:
    """How long from a on none of the first progresses lasts, of which those that began in time are kept, in order."""
    if not kept:
        return 0
    if n_targets == 1:
        return max(0, kept[-1][0] - a)
    return sum(not any(s <= t < e for s, e in kept) for t in range(a, kept[-1][0]))


def wait_for_progress(everything: list[list[Call]], options: dict[str, str], no_progress: tuple[str, ...]) -> Waits:
    spans = [progress(calls, no_progress) for calls in everything]
    waits: Waits = Counter()
    for location, calls in enumerate(everything):
        for call, targets in requests(calls):
            a, b = call.enter, call.leave
            firsts = []
            for target, posted in targets.items():
                since = a if options.get("search") == "entering" else posted
                ended = [span for span in spans[target] if span[1] >= since]
                firsts.append(ended[0] if ended else (b + 1, b + 1))
            kept = sorted(one for one in firsts if one[0] <= b)
            waits["without_progress", location] += not kept
            waits["wait_for_progress", location] += waited(kept, len(targets), a)
            covered = [any(s <= t < e for q in targets for s, e in spans[q]) for t in range(a, b)]
            waits["wait_for_progress_bound", location] += covered.count(False)
    return waits


def messages(everything: list[list[Call]]) -> Waits:
    queues: dict[tuple[str, int, int, int], list[Call]] = defaultdict(list)
    ends: dict[int, Call] = {}
    for location, calls in enumerate(everything):
        for call in calls:
            for one in call.ends:
                ends.setdefault(id(one), call)
            if call.is_blocking:
                ends[id(call)] = call
            for operation, peer, tag in call.transfers:
                if operation in ("send", "receive"):
                    pair = (location, peer) if operation == "send" else (peer, location)
                    queues[operation, *pair, tag].append(call)
    longest: dict[tuple[str, int], tuple[int, int]] = {}
    for (operation, source, target, tag), sends in list(queues.items()):
        if operation != "send":
            continue
        for send, receive in zip(sends, queues.get(("receive", source, target, tag), []), strict=False):
            for metric, mine, theirs in (("late_sender", receive, send), ("late_receiver", send, receive)):
                done = ends.get(id(mine))
                if done is None or (metric == "late_receiver" and theirs.enter > done.leave):
                    continue
                wait = max(0, min(theirs.enter, done.leave) - done.enter)
                key = (metric, id(done))
                longest[key] = max(longest.get(key, (0, 0)), (wait, done.location))
    waits: Waits = Counter()
    for (metric, _), (wait, location) in longest.items():
        waits[metric, location] += wait
    return waits


MEETINGS = {
    "MPI_Barrier": "wait_at_barrier",
    "MPI_Allreduce": "wait_at_nxn",
    "MPI_Win_fence": "wait_at_fence",
    "MPI_Win_create": "wait_at_window",
    "MPI_Win_free": "wait_at_window",
    "MPI_Init": "wait_at_init",
    "MPI_Finalize": "wait_at_finalize",
}
SOME = {"MPI_Scan": "early_scan", "MPI_Exscan": "early_scan", "MPI_Neighbor_alltoall": "late_neighbour"}


def awaited(name: str, call: Call, other: Call) -> bool:
    """Return whether a call needs another one of a scan, or of an operation between neighbours."""
    return other.location in call.group if name == "MPI_Neighbor_alltoall" else other.location <= call.location


def collectives(everything: list[list[Call]]) -> Waits:
    waits: Waits = Counter()
    metrics = MEETINGS
    names = {*metrics, "MPI_Bcast", "MPI_Reduce", *SOME}
    plain = {**{name: name for name in names}, **{begun(name): name for name in names}}
    lists = [[call for call in calls if call.name in plain] for calls in everything]
    longest: Counter[tuple[str, int]] = Counter()
    where: dict[int, int] = {}
    for together in zip(*lists, strict=True):
        name, root = plain[together[0].name], together[0].peer
        for begin in together:
            completing = [later for later in everything[begin.location] if any(one is begin for one in later.ends)]
            if begin.name != name and not completing:
                continue
            call = begin if begin.name == name else completing[0]
            others = [one.enter for one in together if one.location != root]
            if name in metrics:
                until, metric = max(one.enter for one in together), metrics[name]
            elif name == "MPI_Bcast" and call.location != root:
                until, metric = together[root].enter, "late_broadcast"
            elif name == "MPI_Reduce" and call.location == root and others:
                until, metric = min(others), "early_reduce"
            elif name in SOME:
                until, metric = max([one.enter for one in together if awaited(name, begin, one)], default=0), SOME[name]
            else:
                continue
            wait = max(0, min(until, call.leave) - call.enter)
            longest[metric, id(call)] = max(longest[metric, id(call)], wait)
            where[id(call)] = call.location
    for (metric, call_id), wait in longest.items():
        waits[metric, where[call_id]] += wait
    return waits


Held = tuple[int, bool, Call, Call]


def held_locks(everything: list[list[Call]]) -> list[Held]:
    """Return target, whether it is exclusive, lock and unlock of every lock."""
    held = []
    for calls in everything:
        for place, lock in enumerate(calls):
            if lock.name == "MPI_Win_lock":
                target = lock.peer % EXCLUSIVE
                later = [c for c in calls[place + 1 :] if c.name == "MPI_Win_unlock" and c.peer == target]
                held.append((target, lock.peer >= EXCLUSIVE, lock, later[0]))
            if lock.name == "MPI_Win_lock_all":
                later = [c for c in calls[place + 1 :] if c.name == "MPI_Win_unlock_all"]
                held += [(target, False, lock, later[0]) for target in range(len(everything)) if later]
    return held


def before(held: list[Held], target: int, exclusive: bool, unlock: Call) -> list[Call]:
    """Return the unlocks before this one that its lock had to wait for."""
    return [
        end
        for other, hard, _, end in held
        if other == target and (hard or exclusive) and (end.leave, end.location) < (unlock.leave, unlock.location)
    ]


def locks(everything: list[list[Call]]) -> Waits:
    waits: Waits = Counter()
    best: Counter[int] = Counter()
    where: dict[int, int] = {}
    for target, exclusive, lock, unlock in (held := held_locks(everything)):
        earlier = before(held, target, exclusive, unlock)
        for call in (lock, unlock):
            wait = max((max(0, min(end.enter, call.leave) - call.enter) for end in earlier), default=0)
            best[id(call)] = max(best[id(call)], wait)
            where[id(call)] = call.location
    for call_id, wait in best.items():
        waits["lock_contention", where[call_id]] += wait
    return waits


def grants(everything: list[list[Call]], no_progress: tuple[str, ...]) -> Waits:
    """Locks, and unlocks that complete nothing, wait for progress of their targets once nobody else holds their locks."""
    spans = [progress(calls, no_progress) for calls in everything]
    until: dict[tuple[int, int], int] = {}
    for target, exclusive, lock, unlock in (held := held_locks(everything)):
        for call in (lock, unlock):
            times = [end.enter for end in before(held, target, exclusive, unlock)]
            until[id(call), target] = max([until.get((id(call), target), 0), *times])
    waits: Waits = Counter()
    for location, calls in enumerate(everything):
        busy = {id(call) for call, _ in requests(calls)}
        for call in calls:
            if call.name in ("MPI_Win_lock", "MPI_Win_unlock"):
                targets = {call.peer % EXCLUSIVE}
            elif call.name in ("MPI_Win_lock_all", "MPI_Win_unlock_all"):
                targets = set(range(len(everything)))
            else:
                continue
            targets -= {location}
            if id(call) in busy or not targets:
                continue
            since = {q: min(max(call.enter, until.get((id(call), q), 0)), call.leave) for q in targets}
            a, b = max(since.values()), call.leave
            firsts = [min([s for s in spans[q] if s[1] >= since[q]], default=(b + 1, b + 1)) for q in targets]
            kept = sorted(one for one in firsts if one[0] <= b)
            waits["wait_for_grant", location] += waited(kept, len(targets), a)
            covered = [any(s <= t < e for q in targets for s, e in spans[q]) for t in range(a, b)]
            waits["wait_for_grant_bound", location] += covered.count(False)
    return waits


def epochs(everything: list[list[Call]]) -> Waits:
    waits: Waits = Counter()

    def pairs(opening: str, closing: str) -> dict[tuple[int, int], list[tuple[Call, Call]]]:
        found: dict[tuple[int, int], list[tuple[Call, Call]]] = defaultdict(list)
        for location, calls in enumerate(everything):
            for place, call in enumerate(calls):
                if call.name == opening:
                    end = next(one for one in calls[place + 1 :] if one.name == closing)
                    for member in call.group:
                        found[location, member].append((call, end))
        return found

    starts, posts = pairs("MPI_Win_start", "MPI_Win_complete"), pairs("MPI_Win_post", "MPI_Win_wait")
    longest: dict[tuple[str, int], tuple[int, int]] = {}
    for (origin, target), opened in starts.items():
        for (start, complete), (post, wait) in zip(opened, posts[target, origin], strict=True):
            for metric, call, until in (
                ("late_post", start, post.enter),
                ("late_post", complete, post.enter),
                ("early_wait", wait, complete.enter),
            ):
                time = max(0, min(until, call.leave) - call.enter)
                key = (metric, id(call))
                longest[key] = max(longest.get(key, (0, 0)), (time, call.location))
    for (metric, _), (time, location) in longest.items():
        waits[metric, location] += time
    return waits


def all_waits(everything: list[list[Call]], options: dict[str, str], no_progress: tuple[str, ...] = ()) -> Waits:
    found = wait_for_progress(everything, options, no_progress)
    found.update(grants(everything, no_progress))
    for part in (messages, collectives, locks, epochs):
        found.update(part(everything))
    return Counter({key: wait for key, wait in found.items() if wait})
