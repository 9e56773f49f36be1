#include "virtual/machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const sk_compute_names[SK_COMPUTES] = {"none", "cpu", "instructions"};

enum { MOST_PROCESSES = 4096, WORD = 64 };

static char why[160];

/* A number of a word; in range, or NaN. */
static double number(const char *text, double least, double most)
{
    char *end = NULL;
    double value = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(value) && value >= least && value <= most ? value : NAN;
}

static bool take_compute(const char *value, enum sk_compute *compute)
{
    for (int i = 0; i < SK_COMPUTES; i++)
        if (strcmp(value, sk_compute_names[i]) == 0) {
            *compute = (enum sk_compute)i;
            return true;
        }
    return false;
}

/* Sets one of L, o, g and G, with any prefix of the name removed. */
static bool take_network(const char *name, const char *value, struct sk_network *network)
{
    double found = number(value, 0, 1e12);
    if (isnan(found) || strlen(name) != 1)
        return false;
    sk_ps ps = llround(1e3 * found);
    switch (name[0]) {
    case 'L': network->latency = ps; return true;
    case 'o': network->overhead = ps; return true;
    case 'g': network->gap = ps; return true;
    case 'G': network->ps_per_byte = 1e3 * found; return true;
    default: return false;
    }
}

static bool take_count(const char *name, const char *value, struct sk_machine *machine)
{
    const struct { const char *name; int *place; int least, most; } counts[] = {
        {"processes", &machine->processes, 1, MOST_PROCESSES}, {"per_node", &machine->per_node, 0, MOST_PROCESSES},
        {"stall", &machine->stall_s, 1, 1000000}, {"cpu", &machine->cpu, 0, 65535},
        {"tree", &machine->topology.tree, 2, MOST_PROCESSES},
        {"routers", &machine->topology.routers, 1, MOST_PROCESSES},
        {"hosts", &machine->topology.hosts, 1, MOST_PROCESSES}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (strcmp(name, counts[i].name) == 0) {
            double found = number(value, counts[i].least, counts[i].most);
            *counts[i].place = isnan(found) ? 0 : (int)found;
            return !isnan(found);
        }
    return false;
}

static bool take(const char *name, const char *value, struct sk_machine *machine)
{
    double found = number(value, 0, 1e9);
    if (strcmp(name, "compute") == 0)
        return take_compute(value, &machine->compute);
    if (strcmp(name, "check") == 0)
        return machine->check = found == 1, found == 0 || found == 1;
    if (strcmp(name, "scale") == 0)
        return machine->scale = found, !isnan(found);
    if (strcmp(name, "hop") == 0)
        return machine->topology.hop = isnan(found) ? 0 : llround(1e3 * found), !isnan(found);
    if (strcmp(name, "instructions_per_ns") == 0)
        return machine->instructions_per_ns = found, found > 0;
    if (strncmp(name, "inside_", 7) == 0)
        return take_network(name + 7, value, &machine->network[SK_INSIDE]);
    return take_network(name, value, &machine->network[SK_BETWEEN]) || take_count(name, value, machine);
}

const char *sk_machine_read(const char *words, struct sk_machine *machine)
{
    *machine = (struct sk_machine){.scale = 1, .instructions_per_ns = 1, .stall_s = 60, .cpu = -1};
    const char *at = words;
    char word[WORD];
    while (*at) {
        size_t n = strcspn(at, " ");
        if (n > 0) {
            snprintf(word, sizeof word, "%.*s", (int)n, at);
            char *equals = strchr(word, '=');
            if (equals)
                *equals = '\0';
            if (n >= sizeof word || !equals || !take(word, equals + 1, machine)) {
                snprintf(why, sizeof why, "SCALKIT_VIRTUAL_MACHINE: cannot read '%.60s'", at);
                return why;
            }
        }
        at += n + (at[n] == ' ');
    }
    if (machine->processes < 1)
        return "SCALKIT_VIRTUAL_MACHINE: processes= is missing";
    if (machine->network[SK_BETWEEN].latency < SK_PS_OF_NS)
        return "SCALKIT_VIRTUAL_MACHINE: L must be 1 ns at least";
    if (machine->per_node > 1 && machine->network[SK_INSIDE].latency < SK_PS_OF_NS)
        return "SCALKIT_VIRTUAL_MACHINE: inside_L must be 1 ns at least";
    return NULL;
}

enum sk_place sk_machine_place(const struct sk_machine *machine, int one, int other)
{
    return machine->per_node > 1 && one / machine->per_node == other / machine->per_node ? SK_INSIDE : SK_BETWEEN;
}

static int in_tree(int one, int other, int below)
{
    int hops = 0;
    for (one /= below, other /= below; one != other; one /= below, other /= below)
        hops += 2;
    return hops;
}

/* The router of a group that has the link to another group. */
static int gateway(int group, int to, int routers)
{
    return (to < group ? to : to - 1) % routers;
}

static int in_dragonfly(int one, int other, int routers, int hosts)
{
    int from = one / hosts, to = other / hosts, mine = from / routers, its = to / routers;
    if (mine == its)
        return from != to;
    return 1 + (from % routers != gateway(mine, its, routers)) + (to % routers != gateway(its, mine, routers));
}

sk_ps sk_machine_further(const struct sk_machine *machine, int one, int other)
{
    const struct sk_topology *topology = &machine->topology;
    if (topology->hop == 0 || sk_machine_place(machine, one, other) == SK_INSIDE)
        return 0;
    int per_node = machine->per_node > 1 ? machine->per_node : 1;
    one /= per_node;
    other /= per_node;
    if (topology->tree > 0)
        return topology->hop * in_tree(one, other, topology->tree);
    if (topology->routers > 0 && topology->hosts > 0)
        return topology->hop * in_dragonfly(one, other, topology->routers, topology->hosts);
    return 0;
}

sk_ps sk_machine_lookahead(const struct sk_machine *machine)
{
    const struct sk_network *far = &machine->network[SK_BETWEEN], *near = &machine->network[SK_INSIDE];
    sk_ps between = far->latency + far->overhead, inside = near->latency + near->overhead;
    return machine->per_node > 1 && inside < between ? inside : between;
}

sk_ps sk_machine_after(sk_ps begin, int64_t ns)
{
    return ns < (SK_LAST - begin) / SK_PS_OF_NS ? begin + ns * SK_PS_OF_NS : SK_LAST;
}

int64_t sk_machine_ns(int64_t seconds, int64_t ns)
{
    return seconds < INT64_MAX / 1000000000 ? seconds * 1000000000 + ns : INT64_MAX;
}

sk_ps sk_network_bytes(const struct sk_network *network, int64_t bytes)
{
    return llround((double)bytes * network->ps_per_byte);
}
