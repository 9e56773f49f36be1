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

static struct rusage own_usage(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        usage = (struct rusage){.ru_nivcsw = 0};
    return usage;
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
    struct rusage usage = own_usage();
    double own[] = {(double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                        1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec),
                    (double)usage.ru_nivcsw};
    double sums[] = {0, 0};
    SK_MPI(PMPI_Reduce(own, sums, 2, MPI_DOUBLE, MPI_SUM, 0, world->node));
    point.own_s = sums[0];
    point.switches = sums[1];
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

struct sk_disturbance sk_load_end(const struct sk_load *load, const struct sk_world *world)
{
    const double unknown = -1; /* MPI_MAX of NaN is not defined */
    double seen[] = {unknown, unknown}, largest[] = {unknown, unknown};
    if (sk_clock_is_virtual())
        return (struct sk_disturbance){NAN, NAN};
    struct sk_load_point now = sk_load_now(world);
    if (world->node_rank == 0) {
        int i = load->n - 1, processes;
        while (i > 0 && now.at_ns - load->points[i].at_ns < shortest_ns)
            i--;
        const struct sk_load_point *from = &load->points[i];
        double share = sk_load_share(from, &now, (int)sysconf(_SC_NPROCESSORS_ONLN));
        double seconds = 1e-9 * (double)(now.at_ns - from->at_ns);
        SK_MPI(PMPI_Comm_size(world->node, &processes));
        seen[0] = isnan(share) ? unknown : share;
        if (seconds > 0)
            seen[1] = (now.switches - from->switches) / seconds / processes;
    }
    SK_MPI(PMPI_Reduce(seen, largest, 2, MPI_DOUBLE, MPI_MAX, 0, world->harness));
    return (struct sk_disturbance){largest[0] < 0 ? NAN : largest[0], largest[1] < 0 ? NAN : largest[1]};
}

void sk_disturbance_write(const struct sk_disturbance *seen, struct sk_json *json)
{
    if (!isnan(seen->share))
        sk_json_real(json, "foreign_load", seen->share);
    if (!isnan(seen->switches))
        sk_json_real(json, "involuntary_switches", seen->switches);
}
