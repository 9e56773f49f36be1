#define _GNU_SOURCE
#include "virtual/work.h"

#include "virtual/real.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

static int counter = -1;

const char *sk_work_open(const struct sk_machine *machine)
{
    if (machine->compute != SK_COMPUTE_INSTRUCTIONS || counter >= 0)
        return NULL;
    struct perf_event_attr wanted = {.type = PERF_TYPE_HARDWARE, .size = sizeof wanted,
                                     .config = PERF_COUNT_HW_INSTRUCTIONS, .exclude_kernel = 1, .exclude_hv = 1};
    counter = (int)syscall(SYS_perf_event_open, &wanted, 0, -1, -1, 0);
    return counter >= 0 ? NULL : "this machine does not let a program count its instructions; use --compute cpu";
}

int64_t sk_work_done_ns(const struct sk_machine *machine)
{
    struct timespec t;
    uint64_t instructions = 0;
    if (machine->compute == SK_COMPUTE_INSTRUCTIONS) {
        if (sk_real()->read(counter, &instructions, sizeof instructions) != sizeof instructions)
            return 0;
        return (int64_t)((double)instructions / machine->instructions_per_ns);
    }
    sk_real()->clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
