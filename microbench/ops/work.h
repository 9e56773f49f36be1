/* Local work beside which a non-blocking operation may go on: a chain of floating-point operations that no compiler can
 * leave out or shorten, without memory traffic and without MPI. In a simulation it is a sleep. */
#ifndef SK_OPS_WORK_H
#define SK_OPS_WORK_H

#include <stdint.h>

/* Does `rounds` steps of the chain (simulated: sleeps that many ns); 0 or less: returns at once. */
void sk_work(int64_t rounds);

/* Returns how many rounds last about `ns` on this process, by the speed at which it does them now. */
int64_t sk_work_rounds(int64_t ns);

#endif
