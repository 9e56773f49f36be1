#define _GNU_SOURCE
#include "mafia/machine.h"

#include "base/host.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

int sk_machine_cores(void)
{
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

void sk_machine_write(struct sk_json *json)
{
    sk_host_write(json, NULL, sk_machine_cores());
    sk_json_text(json, "compiler", __VERSION__);
}

double sk_machine_now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double busy_s(void)
{
    uint64_t user = 0, nice = 0, system = 0, idle = 0, wait = 0, interrupt = 0, soft = 0, steal = 0;
    FILE *file = fopen("/proc/stat", "r");
    if (!file)
        return NAN;
    int n = fscanf(file, "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                   " %" SCNu64, &user, &nice, &system, &idle, &wait, &interrupt, &soft, &steal);
    fclose(file);
    uint64_t ticks = user + nice + system + interrupt + soft + steal;
    return n == 8 ? (double)ticks / (double)sysconf(_SC_CLK_TCK) : NAN;
}

double sk_machine_others_s(void)
{
    struct rusage own;
    if (getrusage(RUSAGE_SELF, &own) != 0)
        return NAN;
    return busy_s() - (double)(own.ru_utime.tv_sec + own.ru_stime.tv_sec) -
           1e-6 * (double)(own.ru_utime.tv_usec + own.ru_stime.tv_usec);
}
