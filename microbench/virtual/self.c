#define _GNU_SOURCE
#include "virtual/self.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct sk_self sk_self = {.rank = -1};
__thread bool sk_self_is_first;

static int given_rank(void)
{
    static const char *const names[] = {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SCALKIT_VIRTUAL_RANK"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        if (text && *text)
            return atoi(text);
    }
    return -1;
}

/* A forked child is no rank: it shares the connections, not their bytes. */
static void leave_child(void)
{
    sk_self.rank = -1;
}

const char *sk_self_attach(void)
{
    const char *path = getenv("SCALKIT_VIRTUAL"), *words = getenv("SCALKIT_VIRTUAL_MACHINE"), *wrong;
    static struct sk_machine machine;
    if (!path || !words || sk_self.rank >= 0)
        return NULL;
    int rank = given_rank();
    if ((wrong = sk_machine_read(words, &machine)) || (wrong = sk_shared_open(path, &machine)))
        return wrong;
    if (rank < 0 || rank >= machine.processes)
        return "the launcher does not say which rank this process is; a launcher that sets PMI_RANK or "
               "PMIX_RANK is needed";
    sk_shared_lock();
    struct sk_process *at = &sk_shared->processes[rank];
    bool is_taken = at->mode != SK_ABSENT;
    if (!is_taken)
        *at = (struct sk_process){.pid = getpid(), .mode = SK_FREE, .settled = -1};
    sk_shared_unlock();
    if (is_taken)
        return "another process has this rank already; the shared memory must be a fresh one for each launch";
    sk_self = (struct sk_self){.rank = rank, .pid = getpid(), .at = at,
                               .lookahead = sk_machine_lookahead(&sk_shared->machine)};
    sk_self_is_first = true;
    pthread_atfork(NULL, NULL, leave_child);
    return NULL;
}
