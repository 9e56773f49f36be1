/* Requests between processes, which are served only while their target is in a call of the layer. */
#ifndef SK_ONESIDED_SERVE_H
#define SK_ONESIDED_SERVE_H

#include "onesided/layout.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum sk1s_request { SK1S_PUT, SK1S_GET, SK1S_ACCUMULATE, SK1S_ADD, SK1S_NOTIFY, SK1S_BARRIER, SK1S_END };

void sk1s_serve_begin(MPI_Comm comm, void *memory, int64_t bytes);
void sk1s_serve_end(void); /* when no process asks any more; waits for what is on its way */

/* Asks `target` and returns at once; nobody answers himself. `number` names the request in the truth, `value` is what
 * is added, or the round of a barrier. `data` has the bytes of a put or accumulate, copied here; NULL otherwise. */
void sk1s_ask(int target, enum sk1s_request kind, int64_t number, const struct sk1s_layout *there, int64_t value,
              const void *data);

/* Awaits the answer to the request that was sent last, of so many bytes; returns its number, for the next two. */
int sk1s_await(int target, int64_t bytes);
bool sk1s_has_answered(int64_t answer);
void *sk1s_answer(int answer); /* its bytes; valid until it is forgotten */
void sk1s_forget(int answer);

int64_t sk1s_notifications(int origin);  /* that came from a process so far */
int64_t sk1s_arrivals(int round);        /* of other processes in this round of all barriers so far */

void sk1s_serve_present(void);                                      /* serves what has come */
void sk1s_serve_until(bool (*done)(int64_t what), int64_t what);    /* serves until this is true */

#endif
