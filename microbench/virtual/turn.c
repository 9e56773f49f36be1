#define _GNU_SOURCE
#include "virtual/turn.h"

#include "virtual/real.h"
#include "virtual/shared.h"
#include "virtual/work.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LOOK_AFTER_MS = 500 };

static const struct timespec a_moment = {0, 200000};

static int64_t real_ns(clockid_t clock)
{
    struct timespec t;
    sk_real()->clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- who is next ------------------------------------------------------------------------------------------------- */

/* The process that can act first; -1 if none has anything to do. */
static int first_to_act(sk_ps *when)
{
    int first = -1;
    sk_ps least = SK_NEVER;
    for (int i = 0; i < sk_shared->machine.processes; i++)
        if (sk_shared->next[i] < least) {
            least = sk_shared->next[i];
            first = i;
        }
    *when = least;
    return first;
}

/* Whether a process other than this one could still send something that arrives by `t`. */
static bool can_be_reached(sk_ps t)
{
    for (int i = 0; i < sk_shared->machine.processes; i++)
        if (i != sk_self.rank && sk_shared->next[i] != SK_NEVER && sk_shared->next[i] + sk_self.lookahead <= t)
            return true;
    return false;
}

/* ---- handing over ------------------------------------------------------------------------------------------------ */

static void give(int rank)
{
    struct sk_process *to = &sk_shared->processes[rank];
    __atomic_store_n(&sk_shared->turn, rank, __ATOMIC_RELEASE);
    __atomic_add_fetch(&to->word, 1, __ATOMIC_ACQ_REL);
    syscall(SYS_futex, &to->word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static int64_t cpu_ns_of(pid_t pid)
{
    clockid_t clock = (clockid_t)((~(unsigned)pid << 3) | 2); /* as clock_getcpuclockid makes it */
    struct timespec t;
    return sk_real()->clock_gettime(clock, &t) == 0 ? (int64_t)t.tv_sec * 1000000000 + t.tv_nsec : -1;
}

/* Whether a process has ended; its starter may not have asked for its status yet. */
static bool has_ended(pid_t pid)
{
    char path[32], line[512] = "";
    if (kill(pid, 0) != 0)
        return errno == ESRCH;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    size_t n = file ? fread(line, 1, sizeof line - 1, file) : 0;
    if (file)
        fclose(file);
    const char *state = n > 0 ? strrchr(line, ')') : NULL;
    return state && strncmp(state, ") Z", 3) == 0;
}

/* The state of a wait for the turn: whether anything moves. */
struct watch { int64_t events, cpu_ns, since_ns; };

/* Called now and then while this process waits: gives up if the one that has the turn is dead, or neither computes
 * nor calls. */
static void look_after(struct watch *watch)
{
    int holder = __atomic_load_n(&sk_shared->turn, __ATOMIC_ACQUIRE);
    if (__atomic_load_n(&sk_shared->is_over, __ATOMIC_ACQUIRE))
        _exit(SK_EXIT_OVER);
    if (holder < 0)
        return;
    pid_t pid = sk_shared->processes[holder].pid;
    if (has_ended(pid))
        sk_over("the process that had the turn ended without MPI_Finalize");
    int64_t events = __atomic_load_n(&sk_shared->events, __ATOMIC_ACQUIRE), cpu_ns = cpu_ns_of(pid);
    int64_t now = real_ns(CLOCK_MONOTONIC);
    if (watch->since_ns == 0 || events != watch->events || cpu_ns > watch->cpu_ns + 50000000)
        *watch = (struct watch){events, cpu_ns, now};
    else if (now - watch->since_ns > INT64_C(1000000000) * sk_shared->machine.stall_s)
        sk_over("nothing has happened for the time that a stall is allowed: the process that has the turn waits for "
                "something "
                "outside of virtual time");
}

static void await(void)
{
    struct watch watch = {0};
    const struct timespec patience = {0, LOOK_AFTER_MS * 1000000L};
    for (;;) {
        uint32_t word = __atomic_load_n(&sk_self.at->word, __ATOMIC_ACQUIRE);
        if (__atomic_load_n(&sk_shared->turn, __ATOMIC_ACQUIRE) == sk_self.rank)
            return;
        if (syscall(SYS_futex, &sk_self.at->word, FUTEX_WAIT, word, &patience, NULL, 0) != 0 && errno == ETIMEDOUT)
            look_after(&watch);
    }
}

/* Gives the turn to `rank`, and waits until it comes back. */
static void hand_over(int rank)
{
    if (rank == sk_self.rank)
        return;
    give(rank);
    await();
}

/* ---- waiting ----------------------------------------------------------------------------------------------------- */

bool sk_turn_advance(sk_ps t)
{
    struct sk_process *me = sk_self.at;
    if (can_be_reached(t))
        return false;
    if (t > me->clock)
        me->clock = t;
    if (t > me->settled)
        me->settled = t;
    if (t > sk_shared->horizon)
        sk_shared->horizon = t;
    return true;
}

void sk_turn_settle(void)
{
    struct sk_process *me = sk_self.at;
    while (me->clock > me->settled) {
        sk_ps when;
        sk_shared->next[sk_self.rank] = me->clock;
        if (!sk_turn_advance(me->clock))
            hand_over(first_to_act(&when));
    }
}

/* Somebody's turn in a round in which nobody has anything to do: the next one that is in virtual time, and not
 * outside. */
static int next_idle(void)
{
    int n = sk_shared->machine.processes;
    for (int k = 1; k <= n; k++) {
        int rank = (sk_self.rank + k) % n;
        int mode = sk_shared->processes[rank].mode;
        if (mode == SK_TIMED || mode == SK_FINISHING)
            return rank;
    }
    return sk_self.rank;
}

/* Nobody has anything to do: perhaps something comes from outside, such as an answer of the launcher. */
static void idle(void)
{
    static int64_t events = -1, since_ns;
    int64_t now = real_ns(CLOCK_MONOTONIC);
    if (sk_shared->events != events) {
        events = sk_shared->events;
        since_ns = now;
    } else if (now - since_ns > INT64_C(1000000000) * sk_shared->machine.stall_s) {
        sk_over("a deadlock: every process waits for a message, and none is on its way");
    }
    sk_real()->nanosleep(&a_moment, NULL);
}

bool sk_turn_wait(sk_ps next, bool hears)
{
    struct sk_process *me = sk_self.at;
    sk_ps when;
    me->hears = hears;
    sk_shared->next[sk_self.rank] = next;
    int first = first_to_act(&when);
    if (first < 0) {
        idle();
        hand_over(next_idle());
        me->hears = false;
        if (sk_shared->next[sk_self.rank] != SK_NEVER)
            return true;
        if (me->clock < sk_shared->horizon)
            me->clock = sk_shared->horizon; /* what comes from outside comes after all that others have seen */
        return false;
    }
    if (first != sk_self.rank && can_be_reached(next))
        hand_over(first);
    me->hears = false;
    return true;
}

void sk_turn_sleep(sk_ps until)
{
    while (sk_self.at->clock < until) {
        sk_turn_wait(until, false);
        sk_turn_advance(until);
    }
    if (until >= SK_LAST)
        sk_over("it sleeps longer than virtual time lasts, 53 days");
    sk_shared->events++;
    sk_shared->next[sk_self.rank] = sk_self.at->clock;
}

/* ---- outside ----------------------------------------------------------------------------------------------------- */

static void pass_on(void)
{
    sk_ps when;
    int first = first_to_act(&when);
    if (first < 0)
        first = next_idle();
    if (first == sk_self.rank)
        __atomic_store_n(&sk_shared->turn, -1, __ATOMIC_RELEASE);
    else
        give(first);
}

void sk_turn_go_outside(void)
{
    sk_shared_lock();
    sk_self.at->mode = SK_OUTSIDE;
    sk_shared->next[sk_self.rank] = SK_NEVER;
    pass_on();
    sk_shared_unlock();
}

void sk_turn_come_back(void)
{
    struct sk_process *me = sk_self.at;
    sk_shared_lock();
    if (me->clock < sk_shared->horizon)
        me->clock = sk_shared->horizon;
    me->mode = SK_TIMED;
    sk_shared->next[sk_self.rank] = me->clock;
    sk_shared->events++;
    bool nobody = sk_shared->turn < 0;
    if (nobody)
        __atomic_store_n(&sk_shared->turn, sk_self.rank, __ATOMIC_RELEASE);
    sk_shared_unlock();
    if (!nobody)
        await();
    sk_turn_forget_computing();
}

/* ---- begin and end ----------------------------------------------------------------------------------------------- */

void sk_turn_join(void)
{
    sk_shared_lock();
    sk_shared->next[sk_self.rank] = 0;
    __atomic_add_fetch(&sk_shared->joined, 1, __ATOMIC_ACQ_REL);
    sk_shared_unlock();
}

bool sk_turn_all_joined(void)
{
    return __atomic_load_n(&sk_shared->joined, __ATOMIC_ACQUIRE) == sk_shared->machine.processes;
}

void sk_turn_begin(void)
{
    /* Who still served others in free time could read what is sent in virtual time, before it arrives. */
    __atomic_add_fetch(&sk_shared->ceased, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&sk_shared->ceased, __ATOMIC_ACQUIRE) < sk_shared->machine.processes)
        sk_real()->nanosleep(&a_moment, NULL);
    sk_shared_lock();
    sk_self.at->mode = SK_TIMED;
    if (sk_shared->monotonic_ns == 0) {
        sk_shared->monotonic_ns = real_ns(CLOCK_MONOTONIC);
        sk_shared->realtime_ns = real_ns(CLOCK_REALTIME);
        __atomic_store_n(&sk_shared->turn, 0, __ATOMIC_RELEASE);
        give(0);
    }
    sk_shared_unlock();
    await();
    sk_turn_forget_computing();
}

void sk_turn_finish(void)
{
    sk_self.at->finished = sk_self.at->clock;
    sk_self.at->mode = SK_FINISHING;
    sk_shared->events++;
    __atomic_add_fetch(&sk_shared->finishing, 1, __ATOMIC_ACQ_REL);
}

bool sk_turn_all_finish(void)
{
    return __atomic_load_n(&sk_shared->finishing, __ATOMIC_ACQUIRE) == sk_shared->machine.processes;
}

void sk_turn_leave(void)
{
    sk_shared_lock();
    sk_self.at->mode = SK_FREE;
    sk_shared->next[sk_self.rank] = SK_NEVER;
    sk_shared->leaving++;
    pass_on();
    sk_shared_unlock();
}

/* ---- computing --------------------------------------------------------------------------------------------------- */

int sk_turn_depth;
static int64_t computed_ns;

/* Who computes for longer between two polls does other work: it does not wait. A loop around MPI_Test takes less. */
static const sk_ps WORK = 2000 * SK_PS_OF_NS;

void sk_turn_count_computing(void)
{
    if (sk_shared->machine.compute == SK_COMPUTE_NONE || sk_turn_depth > 0)
        return;
    int64_t now = sk_work_done_ns(&sk_shared->machine);
    sk_ps more = (sk_ps)((double)(now - computed_ns) * 1e3 * sk_shared->machine.scale);
    sk_self.at->clock += more > 0 ? more : 0;
    sk_self.at->computed += more > 0 ? more : 0;
    if (more > WORK)
        sk_self.empty = 0;
    computed_ns = now;
}

void sk_turn_forget_computing(void)
{
    if (sk_shared->machine.compute != SK_COMPUTE_NONE && sk_turn_depth == 0)
        computed_ns = sk_work_done_ns(&sk_shared->machine);
}
