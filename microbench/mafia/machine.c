#define _GNU_SOURCE
#include "mafia/machine.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

int sk_machine_cores(void)
{
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

static void write_cpu(struct sk_json *json)
{
    char line[512] = "", *colon = NULL;
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "model name", 10) == 0 && (colon = strchr(line, ':')))
            break;
    if (file)
        fclose(file);
    line[strcspn(line, "\n")] = '\0';
    sk_json_text(json, "cpu", colon ? colon + 1 + (colon[1] == ' ') : "unknown");
}

void sk_machine_write(struct sk_json *json)
{
    struct utsname names;
    char kernel[2 * sizeof names.sysname] = "unknown", started[32] = "";
    bool known = uname(&names) == 0;
    if (known)
        snprintf(kernel, sizeof kernel, "%s %s", names.sysname, names.release);
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc))
        strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", &utc);
    sk_json_text(json, "host", known ? names.nodename : "");
    sk_json_text(json, "kernel", kernel);
    write_cpu(json);
    sk_json_int(json, "cores", sk_machine_cores());
    sk_json_text(json, "started", started);
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
