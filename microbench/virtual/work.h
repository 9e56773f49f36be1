/* How much this thread has computed: its time on a core, or the instructions that it retired, as nanoseconds. */
#ifndef SK_VIRTUAL_WORK_H
#define SK_VIRTUAL_WORK_H

#include "virtual/machine.h"

/* Returns NULL, or why this machine cannot count what `machine->compute` needs. Once, by the first thread. */
const char *sk_work_open(const struct sk_machine *machine);

int64_t sk_work_done_ns(const struct sk_machine *machine);

#endif
