#define _GNU_SOURCE
#include "time/load.h"

#include "base/check.h"
#include "time/clock.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const int64_t shortest_ns = 200000000;

double sk_load_busy_seconds(const char *stat_line, double ticks_per_s)
{
    uint64_t user, nice, system, idle, wait, interrupt, soft, steal;
    int n = sscanf(stat_line, "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                   " %" SCNu64, &user, &nice, &system, &idle, &wait, &interrupt, &soft, &steal);
    return n == 8 ? (double)(user + nice + system + interrupt + soft + steal) / ticks_per_s : NAN;
}

double sk_load_share(const struct sk_load_point *from, const struct sk_load_point *to, int cores)
{
    double seconds = 1e-9 * (double)(to->at_ns - from->at_ns);
    double others = (to->busy_s - from->busy_s) - (to->own_s - from->own_s);
    if (!(seconds > 0) || cores < 1 || isnan(others))
        return NAN;
    return fmin(1, fmax(0, others / (seconds * cores)));
}

static double own_seconds(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return NAN;
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static double busy_seconds(void)
{
    char line[512] = "";
    FILE *file = fopen("/proc/stat", "r");
    if (!file)
        return NAN;
    if (!fgets(line, sizeof line, file))
        line[0] = '\0';
    fclose(file);
    return sk_load_busy_seconds(line, (double)sysconf(_SC_CLK_TCK));
}

struct sk_load_point sk_load_now(const struct sk_world *world)
{
    struct sk_load_point point = {.at_ns = sk_clock_now(), .busy_s = world->node_rank == 0 ? busy_seconds() : 0};
    double own = own_seconds();
    SK_MPI(PMPI_Reduce(&own, &point.own_s, 1, MPI_DOUBLE, MPI_SUM, 0, world->node));
    return point;
}

void sk_load_begin(struct sk_load *load, const struct sk_world *world)
{
    if (sk_clock_is_virtual()) /* nothing disturbs it */
        return;
    if (load->n == SK_LOAD_POINTS) {
        memmove(load->points, load->points + 1, (SK_LOAD_POINTS - 1) * sizeof load->points[0]);
        load->n--;
    }
    load->points[load->n++] = sk_load_now(world);
}

double sk_load_end(const struct sk_load *load, const struct sk_world *world)
{
    if (sk_clock_is_virtual())
        return NAN;
    struct sk_load_point now = sk_load_now(world);
    double share = 0, largest = NAN;
    if (world->node_rank == 0) {
        int i = load->n - 1;
        while (i > 0 && now.at_ns - load->points[i].at_ns < shortest_ns)
            i--;
        share = sk_load_share(&load->points[i], &now, (int)sysconf(_SC_NPROCESSORS_ONLN));
    }
    share = isnan(share) ? 2 : share; /* MPI_MAX of NaN is not defined; 2 means unknown */
    SK_MPI(PMPI_Reduce(&share, &largest, 1, MPI_DOUBLE, MPI_MAX, 0, world->harness));
    return largest > 1 ? NAN : largest;
}
