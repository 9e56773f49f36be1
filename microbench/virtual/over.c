#define _GNU_SOURCE
#include "virtual/over.h"

#include "virtual/self.h"
#include "virtual/shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const modes[] = {"not there yet", "in MPI_Init or MPI_Finalize", "in virtual time",
                                    "outside, in a call of the system", "at MPI_Finalize", "gone"};

/* The longest line of a process that is worth reading; the rest only repeats it. */
enum { MOST_LINES = 16 };

static void tell_process(int rank)
{
    const struct sk_process *one = &sk_shared->processes[rank];
    sk_ps next = sk_shared->next[rank];
    const struct sk_message *first = sk_shared_at(one->inbox);
    dprintf(2, "  process %d, %s%s%s, at %.3f us", rank, modes[one->mode], one->doing[0] ? ", in " : "", one->doing,
            1e-6 * (double)one->clock);
    if (sk_shared->turn == rank)
        dprintf(2, ", has the turn");
    else if (next == SK_NEVER)
        dprintf(2, ", waits for a message");
    else
        dprintf(2, ", goes on at %.3f us", 1e-6 * (double)next);
    if (first)
        dprintf(2, "; unread: %lld B from process %d, there at %.3f us", (long long)first->length,
                sk_shared->streams[first->stream].from, 1e-6 * (double)first->arrival);
    dprintf(2, "\n");
}

void sk_over(const char *why)
{
    int before = sk_shared ? __atomic_exchange_n(&sk_shared->is_over, 1, __ATOMIC_ACQ_REL) : 0;
    if (!before) {
        if (sk_self_is_there())
            dprintf(2, "scalkit virtual time: process %d: %s.\n", sk_self.rank, why);
        else
            dprintf(2, "scalkit virtual time: %s.\n", why);
        for (int rank = 0; sk_shared && rank < sk_shared->machine.processes && rank < MOST_LINES; rank++)
            tell_process(rank);
    }
    _exit(SK_EXIT_OVER);
}
