/* What the machine says of itself, and how much of it others use. */
#ifndef SK_MAFIA_MACHINE_H
#define SK_MAFIA_MACHINE_H

#include "base/json.h"

#include <stdint.h>

/* Adds host, kernel, cpu, cores, started (UTC), compiler to the open object. */
void sk_machine_write(struct sk_json *json);

/* Returns seconds on a clock that only goes forward. */
double sk_machine_now_s(void);

/* Seconds that the cores were not idle, less those of this process; NaN where /proc/stat cannot be read. */
double sk_machine_others_s(void);

int sk_machine_cores(void);

#endif
