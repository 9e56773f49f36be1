/* MPI_Init and MPI_Finalize begin and end virtual time; every other function is known by name, so that what lies
 * between two calls counts as computing, and a stall can say who is in which call.
 *
 * Both names of each function are replaced: Fortran's bindings and the benchmarks call PMPI. */
#define _GNU_SOURCE
#include "virtual/account.h"
#include "virtual/messages.h"
#include "virtual/real.h"
#include "virtual/scalkit_virtual.h"
#include "virtual/shared.h"
#include "virtual/stream.h"
#include "virtual/turn.h"
#include "virtual/work.h"

#include <dlfcn.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SK_COMPARED const

/* ---- every call -------------------------------------------------------------------------------------------------- */

static void *next_of(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) {
        fprintf(stderr, "scalkit virtual time: the MPI library has no %s\n", name);
        exit(SK_EXIT_OVER);
    }
    return found;
}

/* Called by each function when it is called first. */
static void require_known_processes(const char *name)
{
    if (!getenv("SCALKIT_VIRTUAL"))
        return;
    if (strstr(name, "MPI_Comm_spawn"))
        sk_over("MPI_Comm_spawn starts processes that virtual time does not know; start all of them at once");
    if (strstr(name, "MPI_Session_init"))
        sk_over("MPI_Session_init does not begin virtual time; call MPI_Init");
}

/* Returns whether this is the outermost call of the first thread in virtual time; `begin` is when it began. */
static bool enter(const char *name, sk_ps *begin)
{
    if (!sk_self_is_timed() || sk_turn_depth++ > 0)
        return false;
    sk_turn_depth = 0;
    sk_turn_count_computing();
    sk_turn_depth = 1;
    *begin = sk_self.at->clock;
    sk_self.calls += name[0] == 'M';
    snprintf(sk_self.at->doing, sizeof sk_self.at->doing, "%s", name);
    return true;
}

static void leave(bool is_outermost, const char *name, sk_ps begin)
{
    if (!sk_self_is_timed())
        return;
    sk_turn_depth--;
    if (!is_outermost)
        return;
    bool is_ours = sk_self.at->mode == SK_FINISHING; /* calls of this layer, after the program's last one */
    if (!is_ours)
        sk_messages_call(begin); /* names what is being done */
    sk_self.at->doing[0] = '\0';
    if (is_ours)
        return;
    sk_self.at->in_mpi += sk_self.at->clock - begin;
    sk_account_call(name, sk_self.at->clock - begin);
    sk_turn_forget_computing();
}

#define WRAP_ONE(name, parameters, arguments) \
    SK_EXPORT int sk_##name parameters __asm__(#name); \
    SK_EXPORT int sk_##name parameters \
    { \
        static int (*real) parameters; \
        if (!real) { \
            require_known_processes(#name); \
            *(void **)&real = next_of(#name); \
        } \
        sk_ps begin = 0; \
        bool is_outermost = enter(#name, &begin); \
        int status = real arguments; \
        leave(is_outermost, &#name[#name[0] == 'P'], begin); \
        return status; \
    }

#define WRAP(name, parameters, arguments, before, after) \
    WRAP_ONE(MPI_##name, parameters, arguments) \
    WRAP_ONE(PMPI_##name, parameters, arguments)

#include "trace/wrapped.def"

#ifdef MPI_SESSION_NULL
WRAP(Session_init, (MPI_Info info, MPI_Errhandler errors, MPI_Session *made), (info, errors, made), NONE, NONE)
#endif

/* ---- the clock --------------------------------------------------------------------------------------------------- */

static double wtime(const char *name)
{
    struct timespec t;
    if (sk_self_is_timed() && clock_gettime(CLOCK_MONOTONIC, &t) == 0)
        return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
    double (*real)(void);
    *(void **)&real = next_of(name);
    return real();
}

SK_EXPORT double MPI_Wtime(void)
{
    return wtime("MPI_Wtime");
}

SK_EXPORT double PMPI_Wtime(void)
{
    return wtime("PMPI_Wtime");
}

/* ---- begin and end ----------------------------------------------------------------------------------------------- */

static int init_depth;

static void look_around(void)
{
    int flag;
    PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

/* Until all others have left MPI_Init, too: they may need what this process has still to do. */
static void await_all_joined(void)
{
    const struct timespec nap = {0, 100000};
    while (!sk_turn_all_joined()) {
        look_around();
        sk_real()->nanosleep(&nap, NULL);
    }
}

static void await_all(const int32_t *count)
{
    const struct timespec nap = {0, 100000};
    while (__atomic_load_n(count, __ATOMIC_ACQUIRE) < sk_shared->machine.processes)
        sk_real()->nanosleep(&nap, NULL);
}

/* Until all others are about to finalise, in virtual time. A message that the library leaves unread is none of its
 * concern. */
static void await_all_finish(void)
{
    while (!sk_turn_all_finish()) {
        look_around();
        sk_shared_lock();
        sk_stream_rank_arrivals();
        const struct sk_message *message = sk_stream_first();
        while (message && sk_stream_earliest(message) <= sk_self.at->clock)
            message = sk_stream_next(message);
        sk_ps next = message ? sk_stream_earliest(message) : SK_NEVER;
        sk_shared_unlock();
        if (sk_turn_wait(next, true) && next != SK_NEVER)
            sk_turn_advance(next);
    }
}

static cpu_set_t cores;
static int policy = -1;
static struct sched_param priority;

/* Only faster: a hand-over need not wake another core, and who gets the turn does not interrupt who gives it and is
 * about to wait. */
static void pin(const struct sk_machine *machine)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    if (machine->cpu < 0 || machine->cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof cores, &cores) != 0)
        return;
    CPU_SET(machine->cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    policy = sched_getscheduler(0) == SCHED_OTHER ? SCHED_OTHER : -1;
    if (policy >= 0)
        sched_setscheduler(0, SCHED_BATCH, &priority);
}

static void unpin(void)
{
    if (CPU_COUNT(&cores) > 0)
        sched_setaffinity(0, sizeof cores, &cores);
    if (policy >= 0)
        sched_setscheduler(0, policy, &priority);
}

static void attach(void)
{
    const char *wrong = init_depth++ == 0 ? sk_self_attach() : NULL;
    if (!wrong && sk_self_is_there())
        wrong = sk_work_open(&sk_shared->machine);
    if (wrong) {
        fprintf(stderr, "scalkit virtual time: %s\n", wrong);
        exit(SK_EXIT_OVER);
    }
}

static int begun(int status)
{
    if (--init_depth > 0 || status != MPI_SUCCESS || !sk_self_is_there() || sk_self.at->mode != SK_FREE)
        return status;
    sk_turn_join();
    await_all_joined();
    pin(&sk_shared->machine);
    sk_turn_begin();
    return status;
}

#define INIT(name) \
    SK_EXPORT int name(int *argc, char ***argv) \
    { \
        int (*real)(int *, char ***); \
        *(void **)&real = next_of(#name); \
        attach(); \
        return begun(real(argc, argv)); \
    }

#define INIT_THREAD(name) \
    SK_EXPORT int name(int *argc, char ***argv, int wanted, int *provided) \
    { \
        int (*real)(int *, char ***, int, int *); \
        *(void **)&real = next_of(#name); \
        attach(); \
        return begun(real(argc, argv, wanted, provided)); \
    }

INIT(MPI_Init)
INIT(PMPI_Init)
INIT_THREAD(MPI_Init_thread)
INIT_THREAD(PMPI_Init_thread)

static bool finish(void)
{
    if (!sk_self_is_timed() || sk_turn_depth > 0)
        return false;
    sk_turn_count_computing();
    sk_turn_finish();
    await_all_finish();
    sk_turn_leave();
    unpin();
    /* Libraries disconnect at the same time: who is late may find that nobody answers. */
    await_all(&sk_shared->leaving);
    return true;
}

#define FINALIZE(name) \
    SK_EXPORT int name(void) \
    { \
        int (*real)(void); \
        *(void **)&real = next_of(#name); \
        bool finishes = finish(); \
        int status = real(); \
        if (finishes) \
            sk_account_write(); \
        return status; \
    }

FINALIZE(MPI_Finalize)
FINALIZE(PMPI_Finalize)

/* Of UCX: returns nothing to wait for. In MPI_Finalize of MPICH 4.0 each process waits for an answer of the others, and
 * who has got its own gives none any more. All that was sent has arrived by then. */
SK_EXPORT void *ucp_disconnect_nb(void *endpoint)
{
    if (sk_self_is_there())
        return NULL;
    void *(*real)(void *);
    *(void **)&real = next_of("ucp_disconnect_nb");
    return real(endpoint);
}

/* ---- for programs ------------------------------------------------------------------------------------------------ */

SK_EXPORT int64_t sk_virtual_now(void)
{
    if (!sk_self_is_timed())
        return -1;
    sk_turn_count_computing();
    return sk_self.at->clock / SK_PS_OF_NS;
}

SK_EXPORT int64_t sk_virtual_is_on(void)
{
    return sk_self_is_timed();
}

SK_EXPORT int64_t sk_virtual_is_still(void)
{
    return sk_self_is_timed() && sk_shared->machine.compute == SK_COMPUTE_NONE;
}

SK_EXPORT void sk_virtual_region(const char *name)
{
    if (!sk_self_is_timed())
        return;
    sk_turn_count_computing();
    sk_account_region(name);
}

SK_EXPORT int64_t sk_virtual_messages(void)
{
    return sk_self_is_there() ? sk_self.at->messages : -1;
}
