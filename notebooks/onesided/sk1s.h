/* A small layer for one-sided communication over messages. It has no help from hardware or threads: a process serves
 * the requests of others only while it is itself in a call of the layer, so whoever wants data waits for such a call.
 * When each request was served is known exactly, which no other library tells.
 *
 * Each process gives one memory. `here` means pieces of the caller's `local` memory, `there` of that of the target;
 * both have the same number of bytes. Calls block until the target has served them, those with `nb` until sk1s_wait.
 * At most 2 GiB a transfer. One thread. */
#ifndef SK_ONESIDED_SK1S_H
#define SK_ONESIDED_SK1S_H

#include "onesided/layout.h"

#include <mpi.h>
#include <stdint.h>

/* Collective. `truth`: folder for files that say when requests were served, or NULL. */
void sk1s_begin(MPI_Comm comm, void *memory, int64_t bytes, const char *truth);
void sk1s_end(void); /* collective; all transfers are complete */

void sk1s_put(int target, const void *local, struct sk1s_layout here, struct sk1s_layout there);
void sk1s_get(int target, void *local, struct sk1s_layout here, struct sk1s_layout there);
/* Adds doubles. */
void sk1s_accumulate(int target, const void *local, struct sk1s_layout here, struct sk1s_layout there);
/* To the int64_t at byte `at`; returns what it was. */
int64_t sk1s_fetch_and_add(int target, int64_t at, int64_t value);

/* Return a number for sk1s_wait. The places of `here` must stay valid until then; what is put is copied at once. */
int sk1s_nbput(int target, const void *local, struct sk1s_layout here, struct sk1s_layout there);
int sk1s_nbget(int target, void *local, struct sk1s_layout here, struct sk1s_layout there);
int sk1s_nbaccumulate(int target, const void *local, struct sk1s_layout here, struct sk1s_layout there);
void sk1s_wait(int operation);
void sk1s_wait_all(void); /* for all operations that nobody has waited for */

void sk1s_notify(int target);      /* after all earlier puts to the target */
void sk1s_notify_wait(int origin); /* for the next notification of a process */
void sk1s_barrier(void);           /* collective */
void sk1s_poll(void);              /* serves what has come */

#endif
