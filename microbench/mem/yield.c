/* sched_yield, defined in the executable: every shared library of the process binds to it. MPI libraries call it while
 * a rank waits; with more ranks than cores the ranks that wait then take most of the processor from those that work.
 * Here a rank that goes on waiting sleeps instead: four ranks on two busy cores need a fifteenth of the processor time.
 * Bytes are counted, not times, so that a wait may take longer. */
#define _POSIX_C_SOURCE 200809L
#include <sched.h>
#include <time.h>

enum { LOOKS = 20, SLEEP_NS = 20000 }; /* shorter sleeps cost more than they win: the kernel adds 50 us to each */

int sched_yield(void)
{
    static _Thread_local unsigned looks;
    struct timespec rest = {0, SLEEP_NS};
    if (++looks % LOOKS == 0)
        nanosleep(&rest, NULL);
    return 0;
}
