#define _GNU_SOURCE
#include "base/world.h"

#include "base/alloc.h"
#include "base/check.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef SK_SIMULATED
#include <simgrid/host.h>
#endif

static void read_line(const char *path, char *line, int room)
{
    line[0] = '\0';
    FILE *file = fopen(path, "r");
    if (!file)
        return;
    if (!fgets(line, room, file))
        line[0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    fclose(file);
}

/* Two processes with equal identities read the same CLOCK_MONOTONIC: same host, same boot, same time namespace. */
static uint64_t node_identity(const char *host)
{
    char boot[64], space[64], text[SK_HOST_LENGTH + 160];
    read_line("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    ssize_t n = readlink("/proc/self/ns/time", space, sizeof space - 1);
    space[n > 0 ? n : 0] = '\0';
    snprintf(text, sizeof text, "%s|%s|%s", host, boot, space);
    uint64_t hash = 0xCBF29CE484222325u;
    for (const char *s = text; *s; s++)
        hash = (hash ^ (unsigned char)*s) * 0x100000001B3u;
    return hash;
}

/* Splits by identity: the colour is the lowest rank that has it. */
static MPI_Comm split_nodes(const struct sk_world *world, uint64_t identity)
{
    uint64_t *all = sk_alloc((size_t)world->size * sizeof *all);
    SK_MPI(PMPI_Allgather(&identity, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, world->harness));
    int colour = 0;
    while (all[colour] != identity)
        colour++;
    sk_free(all);
    MPI_Comm node;
    SK_MPI(PMPI_Comm_split(world->harness, colour, world->rank, &node));
    return node;
}

/* Cores that a control group allows: quota by period, rounded up; a large number when there is no limit. */
static int quota_cores(void)
{
    char line[64];
    double quota = 0, period = 0;
    read_line("/sys/fs/cgroup/cpu.max", line, sizeof line);
    if (sscanf(line, "%lf %lf", &quota, &period) != 2 || quota <= 0 || period <= 0)
        return CPU_SETSIZE;
    return (int)ceil(quota / period);
}

/* The union over the processes of the node: a launcher may bind each to one core. */
static int usable_cores(MPI_Comm node, int *own)
{
    *own = 0;
#ifdef SK_SIMULATED
    (void)node;
    return sg_host_core_count(sg_host_self());
#endif
    cpu_set_t mine, all;
    CPU_ZERO(&mine);
    if (sched_getaffinity(0, sizeof mine, &mine) != 0)
        return (int)sysconf(_SC_NPROCESSORS_ONLN);
    *own = CPU_COUNT(&mine);
    SK_MPI(PMPI_Allreduce(&mine, &all, (int)sizeof mine, MPI_BYTE, MPI_BOR, node));
    int cores = CPU_COUNT(&all), quota = quota_cores();
    return quota < cores ? quota : cores;
}

static void gather_hosts(struct sk_world *world, const char *host)
{
    if (world->rank == 0)
        world->hosts = sk_alloc((size_t)world->size * SK_HOST_LENGTH);
    SK_MPI(PMPI_Gather(host, SK_HOST_LENGTH, MPI_CHAR, world->hosts, SK_HOST_LENGTH, MPI_CHAR, 0, world->harness));
}

/* The name of this node; a simulator knows it, the operating system does not. */
static void name_host(char *host)
{
#ifdef SK_SIMULATED
    snprintf(host, SK_HOST_LENGTH, "%s", sg_host_self_get_name());
#else
    if (gethostname(host, SK_HOST_LENGTH - 1) != 0)
        snprintf(host, SK_HOST_LENGTH, "unknown");
#endif
}

static void look_at_nodes(struct sk_world *world, const char *host)
{
    world->node = split_nodes(world, node_identity(host));
    SK_MPI(PMPI_Comm_rank(world->node, &world->node_rank));
    SK_MPI(PMPI_Comm_size(world->node, &world->node_size));
    int bound = 0, most[4];
    world->cores = usable_cores(world->node, &bound);
    int mine[4] = {world->node_size, world->node_size > world->cores, -bound, bound};
    SK_MPI(PMPI_Allreduce(mine, most, 4, MPI_INT, MPI_MAX, world->harness));
    world->bound[0] = -most[2];
    world->bound[1] = most[3];
    world->processes_per_node = most[0];
    world->oversubscribed = most[1] != 0;
    world->single_node = SK_IS_SIMULATED || world->node_size == world->size;
}

void sk_world_require_size(const struct sk_world *world, int64_t expected)
{
    if (expected == 0 || expected == world->size)
        return;
    if (world->rank == 0)
        sk_say("MPI_COMM_WORLD has %d process%s, --expect-np says %lld; start with the mpiexec that belongs to the MPI "
               "library of this program", world->size, world->size == 1 ? "" : "es", (long long)expected);
    SK_MPI(PMPI_Finalize());
    exit(SK_EXIT_SIZE);
}

void sk_world_open(struct sk_world *world)
{
    *world = (struct sk_world){0};
    SK_MPI(PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    SK_MPI(PMPI_Comm_rank(MPI_COMM_WORLD, &world->rank));
    SK_MPI(PMPI_Comm_size(MPI_COMM_WORLD, &world->size));
    SK_MPI(PMPI_Comm_dup(MPI_COMM_WORLD, &world->harness));
    char host[SK_HOST_LENGTH] = "";
    name_host(host);
    gather_hosts(world, host);
    look_at_nodes(world, host);
}

void sk_world_close(struct sk_world *world)
{
    SK_MPI(PMPI_Comm_free(&world->node));
    SK_MPI(PMPI_Comm_free(&world->harness));
    sk_free(world->hosts);
}
