/* Time in integer nanoseconds: CLOCK_MONOTONIC of this process, and the same instant on the clock of process 0.
 *
 * Under a simulator (SK_SIMULATED) it is MPI_Wtime, which all processes share and which no reading moves; with the
 * layer of
 * virtual time (virtual/) the same holds of CLOCK_MONOTONIC. */
#ifndef SK_TIME_CLOCK_H
#define SK_TIME_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Maps this process' clock to that of process 0: global = local + offset + drift * (local - reference). */
struct sk_clock {
    int64_t offset_ns;
    int64_t reference_ns; /* local time at which the offset was measured */
    double drift;         /* seconds a second */
    int64_t error_ns;     /* half width of the interval that must hold the offset; 0 when the clock is shared */
};

int64_t sk_clock_now(void);
/* Time passes while a process communicates, sleeps or, perhaps, computes: no clock runs. */
bool sk_clock_is_virtual(void);
bool sk_clock_is_still(void);   /* it does not pass while it computes either */
int64_t sk_clock_resolution_ns(void);
int64_t sk_clock_messages(void); /* that this process has sent in virtual time; -1 where nobody counts them */
const char *sk_clock_source(void); /* as it stands in the run file */
void sk_clock_sleep(int64_t ns); /* returns at once when there is nothing to wait for */
int64_t sk_clock_read_ns(void); /* median cost of one reading, measured now */

int64_t sk_clock_global(const struct sk_clock *clock, int64_t local_ns);
int64_t sk_clock_local(const struct sk_clock *clock, int64_t global_ns);

#endif
