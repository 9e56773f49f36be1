#define _GNU_SOURCE
#include "virtual/account.h"

#include "base/json.h"
#include "virtual/self.h"
#include "virtual/shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 32 };

/* ---- counting ---------------------------------------------------------------------------------------------------- */

void sk_account_call(const char *function, sk_ps lasted)
{
    for (int i = 0; i < SK_FUNCTIONS; i++) {
        struct sk_calls *one = &sk_shared->calls[i];
        if (!one->name[0])
            snprintf(one->name, sizeof one->name, "%s", function);
        if (strcmp(one->name, function) == 0) {
            one->n++;
            one->time += lasted;
            return;
        }
    }
}

static struct sk_visits *visits_of(const char *name)
{
    for (int i = 0; i < SK_REGIONS; i++) {
        struct sk_region *one = &sk_shared->regions[i];
        if (!one->name[0]) {
            snprintf(one->name, sizeof one->name, "%s", name);
            size_t bytes = (size_t)sk_shared->machine.processes * sizeof(struct sk_visits);
            sk_shared_lock();
            one->visits = sk_shared_take(bytes);
            sk_shared_unlock();
            memset(sk_shared_at(one->visits), 0, bytes);
        }
        if (strncmp(one->name, name, sizeof one->name - 1) == 0)
            return (struct sk_visits *)sk_shared_at(one->visits) + sk_self.rank;
    }
    sk_over("more regions than there is room for; name fewer");
    return NULL;
}

/* Where this process stands. */
static struct sk_visits now(void)
{
    const struct sk_process *me = sk_self.at;
    return (struct sk_visits){1, me->messages, me->bytes, me->clock, me->in_mpi, me->computed};
}

static void add(struct sk_visits *to, const struct sk_visits *begin)
{
    struct sk_visits end = now();
    to->n++;
    to->messages += end.messages - begin->messages;
    to->bytes += end.bytes - begin->bytes;
    to->time += end.time - begin->time;
    to->in_mpi += end.in_mpi - begin->in_mpi;
    to->computed += end.computed - begin->computed;
}

void sk_account_region(const char *name)
{
    static struct { struct sk_visits *visits, begin; } open[DEEPEST];
    static int depth;
    if (name && depth < DEEPEST) {
        open[depth].visits = visits_of(name);
        open[depth++].begin = now();
    } else if (!name && depth > 0) {
        depth--;
        add(open[depth].visits, &open[depth].begin);
    } else {
        sk_over(name ? "regions are nested too deep" : "a region ends that was not begun");
    }
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static int64_t ns(sk_ps t)
{
    return (t + SK_PS_OF_NS / 2) / SK_PS_OF_NS;
}

static void write_network(struct sk_json *json, const char *name, const struct sk_network *network)
{
    sk_json_begin(json, name, '{');
    sk_json_real(json, "L_ns", 1e-3 * (double)network->latency);
    sk_json_real(json, "o_ns", 1e-3 * (double)network->overhead);
    sk_json_real(json, "g_ns", 1e-3 * (double)network->gap);
    sk_json_real(json, "G_ns_per_B", 1e-3 * network->ps_per_byte);
    sk_json_end(json, '}');
}

static void write_machine(struct sk_json *json)
{
    const struct sk_machine *machine = &sk_shared->machine;
    sk_json_begin(json, "machine", '{');
    write_network(json, "between_nodes", &machine->network[SK_BETWEEN]);
    if (machine->per_node > 1) {
        write_network(json, "inside_node", &machine->network[SK_INSIDE]);
        sk_json_int(json, "per_node", machine->per_node);
    }
    if (machine->topology.hop > 0) {
        sk_json_real(json, "hop_ns", 1e-3 * (double)machine->topology.hop);
        sk_json_int(json, "tree", machine->topology.tree);
        sk_json_int(json, "routers", machine->topology.routers);
        sk_json_int(json, "hosts", machine->topology.hosts);
    }
    sk_json_end(json, '}');
    sk_json_text(json, "compute", sk_compute_names[machine->compute]);
    sk_json_real(json, "scale", machine->scale);
}

static void write_processes(struct sk_json *json)
{
    int64_t messages = 0, bytes = 0;
    sk_ps completion = 0;
    const struct sk_process *of = sk_shared->processes;
    int n = sk_shared->machine.processes;
    for (int i = 0; i < n; i++) {
        messages += of[i].messages;
        bytes += of[i].bytes;
        completion = of[i].finished > completion ? of[i].finished : completion;
    }
    sk_json_int(json, "processes", n);
    sk_json_int(json, "completion_ns", ns(completion));
    sk_json_int(json, "messages", messages);
    sk_json_int(json, "bytes", bytes);
#define LIST(name, value) \
    sk_json_begin(json, name, '['); \
    for (int i = 0; i < n; i++) \
        sk_json_int(json, NULL, value); \
    sk_json_end(json, ']')
    LIST("clock_ns", ns(of[i].finished));
    LIST("mpi_ns", ns(of[i].in_mpi));
    LIST("compute_ns", ns(of[i].computed));
    LIST("messages_sent", of[i].messages);
    LIST("bytes_sent", of[i].bytes);
}

static void write_calls(struct sk_json *json)
{
    sk_json_begin(json, "calls", '{');
    for (int i = 0; i < SK_FUNCTIONS && sk_shared->calls[i].name[0]; i++) {
        sk_json_begin(json, sk_shared->calls[i].name, '{');
        sk_json_int(json, "n", sk_shared->calls[i].n);
        sk_json_int(json, "ns", ns(sk_shared->calls[i].time));
        sk_json_end(json, '}');
    }
    sk_json_end(json, '}');
}

static void write_regions(struct sk_json *json)
{
    int n = sk_shared->machine.processes;
    sk_json_begin(json, "regions", '[');
    for (int k = 0; k < SK_REGIONS && sk_shared->regions[k].name[0]; k++) {
        const struct sk_visits *of = sk_shared_at(sk_shared->regions[k].visits);
        sk_json_begin(json, NULL, '{');
        sk_json_text(json, "name", sk_shared->regions[k].name);
        LIST("calls", of[i].n);
        LIST("ns", ns(of[i].time));
        LIST("mpi_ns", ns(of[i].in_mpi));
        LIST("compute_ns", ns(of[i].computed));
        LIST("messages_sent", of[i].messages);
        LIST("bytes_sent", of[i].bytes);
        sk_json_end(json, '}');
    }
    sk_json_end(json, ']');
}

static void write_all(FILE *file)
{
    struct sk_json json = {0};
    sk_json_begin(&json, NULL, '{');
    sk_json_int(&json, "virtual", 1);
    write_machine(&json);
    write_processes(&json);
    write_calls(&json);
    write_regions(&json);
    sk_json_end(&json, '}');
    fprintf(file, "%s\n", json.text);
    sk_json_free(&json);
}

void sk_account_write(void)
{
    const char *path = getenv("SCALKIT_VIRTUAL_OUT");
    if (__atomic_add_fetch(&sk_shared->left, 1, __ATOMIC_ACQ_REL) != sk_shared->machine.processes || !path)
        return;
    FILE *file = fopen(path, "w");
    if (!file) {
        fprintf(stderr, "scalkit virtual time: cannot write %s\n", path);
        return;
    }
    write_all(file);
    fclose(file);
}
