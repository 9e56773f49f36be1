/* This process: which rank it is, and whether what it calls is virtual. */
#ifndef SK_VIRTUAL_SELF_H
#define SK_VIRTUAL_SELF_H

#include "virtual/shared.h"

#include <stdbool.h>

struct sk_self {
    int rank;               /* -1 until MPI_Init is called */
    pid_t pid;
    struct sk_process *at;  /* in the shared memory */
    sk_ps lookahead;
    int empty;              /* polls in a row that found nothing */
    int rooms;              /* polls in a row that found nothing but room to send, and nothing was sent */
    int readings;           /* of the clock, since anything happened */
    int calls;              /* by their MPI_ names */
};

extern struct sk_self sk_self;
extern __thread bool sk_self_is_first; /* the thread that called MPI_Init */

/* The process takes its place among the others, in free time. The calling thread is its first. Returns NULL if it
 * is no part
 * of a launch in virtual time or has its place already, else what is wrong. */
const char *sk_self_attach(void);

/* Whether this process has a place, in a child that it forked: no. */
static inline bool sk_self_is_there(void)
{
    return sk_self.rank >= 0;
}

/* Whether time is virtual for this thread now. */
static inline bool sk_self_is_timed(void)
{
    return sk_self_is_first && sk_self.rank >= 0 && sk_self.at->mode >= SK_TIMED && sk_self.at->mode <= SK_FINISHING;
}

#endif
