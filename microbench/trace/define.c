#include "trace/define.h"

#include "base/json.h"
#include "trace/buffer.h"
#include "trace/lock.h"
#include "trace/map.h"
#include "trace/symbols.h"
#include "trace/telling.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct path { uint32_t parent, region; const void *site; };
struct region { char *name; bool is_function; }; /* of a library other than MPI, or a region of the user */
struct list { void *items; size_t used, room, told; };

static struct list paths, regions; /* of struct path from path 1 on; of struct region from SK_N_FUNCTIONS on */
static struct sk_map path_numbers, comms, wins, sources;
static char *functions_told;
static struct sk_json scopes, groups; /* texts of what is new, between commas */
static uint32_t numbers;
static uint64_t own_run; /* 0 once the file says it */
static int32_t n_scopes, n_groups;
static int own_location, own_serial;
static int sites = -1;

static void *append(struct list *list, size_t size)
{
    if (list->used == list->room) {
        list->room = list->room ? 2 * list->room : 256;
        list->items = realloc(list->items, list->room * size);
        if (!list->items) {
            fprintf(stderr, "scalkit trace: no memory for %zu definitions.\n", list->room);
            abort();
        }
    }
    return (char *)list->items + size * list->used++;
}

/* Where the user wants lines of the source, what is needed to find them goes to a file of its own. */
static void open_sites(const char *folder)
{
    char path[4096];
    if (!getenv("SCALKIT_TRACE_LINES"))
        return;
    snprintf(path, sizeof path, "%s/%06d.sites", folder, own_location);
    sites = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
}

void sk_define_begin(int location, uint64_t run, const char *folder)
{
    own_run = run;
    own_location = location;
    open_sites(folder);
    own_serial = 1;
    functions_told = calloc(SK_N_FUNCTIONS, 1);
    if (!functions_told)
        abort();
}

int sk_define_location(void)
{
    return own_location;
}

uint32_t sk_define_next_number(void)
{
    return numbers;
}

uint32_t sk_define_number(void)
{
    return numbers++;
}

uint32_t sk_define_path(uint32_t parent, uint32_t region, const void *site)
{
    uint64_t key = (uint64_t)parent << 32 | region;
    uint32_t *known = sk_map_find(&path_numbers, key, (uint64_t)(uintptr_t)site);
    if (known)
        return *known;
    *(struct path *)append(&paths, sizeof(struct path)) = (struct path){ parent, region, site };
    sk_map_set(&path_numbers, key, (uint64_t)(uintptr_t)site, (uint32_t)paths.used);
    sk_buffer_define();
    return (uint32_t)paths.used;
}

uint32_t sk_define_parent(uint32_t path)
{
    return path == 0 ? 0 : ((const struct path *)paths.items)[path - 1].parent;
}

uint32_t sk_define_function_of(uint32_t path)
{
    return ((const struct path *)paths.items)[path - 1].region;
}

const char *sk_define_name(uint32_t region)
{
    if (region < SK_N_FUNCTIONS)
        return sk_function_names[region];
    return ((const struct region *)regions.items)[region - SK_N_FUNCTIONS].name;
}

static uint32_t define_region(const char *name, bool is_function)
{
    const struct region *known = regions.items;
    for (size_t k = 0; k < regions.used; k++)
        if (known[k].is_function == is_function && strcmp(known[k].name, name) == 0)
            return (uint32_t)(SK_N_FUNCTIONS + k);
    char *copy = strdup(name);
    if (!copy)
        abort();
    *(struct region *)append(&regions, sizeof(struct region)) = (struct region){ copy, is_function };
    return (uint32_t)(SK_N_FUNCTIONS + regions.used - 1);
}

uint32_t sk_define_region(const char *name)
{
    return define_region(name, false);
}

uint32_t sk_define_function(const char *name)
{
    return define_region(name, true);
}

static void define_scope(struct sk_map *map, uint64_t handle, MPI_Comm comm, const char *kind)
{
    int size, rank, identity[2] = { own_location, own_serial };
    const char *name = "";
    PMPI_Comm_size(comm, &size);
    PMPI_Comm_rank(comm, &rank);
    if (comm == MPI_COMM_WORLD && map == &comms) {
        identity[0] = identity[1] = 0;
        name = "MPI_COMM_WORLD";
    } else {
        own_serial += rank == 0;
        if (size > 1) {
            sk_unlock();
            PMPI_Bcast(identity, 2, MPI_INT, 0, comm);
            sk_lock();
        }
    }
    const int64_t told[2] = { identity[0], identity[1] };
    sk_tell_scope(&scopes, n_scopes, kind, told, size, rank, name);
    sk_map_set(map, handle, 0, (uint32_t)n_scopes++);
    sk_buffer_define();
}

/* Whether all members are processes of this MPI_COMM_WORLD; those that were spawned, or connected, are not recorded. */
static bool is_of_the_world(MPI_Comm comm)
{
#ifdef SK_SIMULATED
    (void)comm;
    return true;
#else
    MPI_Group group, world, strangers;
    int size;
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_difference(group, world, &strangers);
    PMPI_Group_size(strangers, &size);
    if (size > 0)
        PMPI_Group_free(&strangers);
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    return size == 0;
#endif
}

void sk_define_comm(MPI_Comm comm)
{
    int is_inter = 0;
    if (comm == MPI_COMM_NULL)
        return;
    PMPI_Comm_test_inter(comm, &is_inter);
    if (!is_inter && is_of_the_world(comm))
        define_scope(&comms, (uint64_t)(uintptr_t)comm, comm, "communicator");
}

void sk_define_win(MPI_Win win, MPI_Comm comm)
{
    if (is_of_the_world(comm))
        define_scope(&wins, (uint64_t)(uintptr_t)win, comm, "window");
}

void sk_forget_comm(MPI_Comm comm)
{
    sk_map_remove(&comms, (uint64_t)(uintptr_t)comm, 0);
    sk_map_remove(&sources, (uint64_t)(uintptr_t)comm, 0);
}

void sk_forget_win(MPI_Win win)
{
    sk_map_remove(&wins, (uint64_t)(uintptr_t)win, 0);
}

static int32_t scope_of(const struct sk_map *map, uint64_t handle)
{
    const uint32_t *known = sk_map_find(map, handle, 0);
    return known ? (int32_t)*known : -1;
}

int32_t sk_scope_of_comm(MPI_Comm comm)
{
    return scope_of(&comms, (uint64_t)(uintptr_t)comm);
}

int32_t sk_scope_of_win(MPI_Win win)
{
    return scope_of(&wins, (uint64_t)(uintptr_t)win);
}

/* A group of `size` ranks of a communicator or group; those that are none, as MPI_PROC_NULL, are left out. */
static int32_t define_members(MPI_Group group, int size, const int *ranks)
{
    static int last_size = -1, *last;
    MPI_Group world;
    int *members = malloc(sizeof *members * (size_t)(size + 1));
    if (!members)
        abort();
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_translate_ranks(group, size, ranks, world, members);
    PMPI_Group_free(&world);
    if (size == last_size && memcmp(last, members, sizeof *members * (size_t)size) == 0) {
        free(members);
        return n_groups - 1;
    }
    free(last);
    last = members;
    last_size = size;
    sk_json_begin(&groups, NULL, '[');
    sk_json_int(&groups, NULL, n_groups);
    sk_json_begin(&groups, NULL, '[');
    for (int k = 0; k < size; k++)
        if (members[k] != MPI_UNDEFINED && members[k] >= 0)
            sk_json_int(&groups, NULL, members[k]);
    sk_json_end(&groups, ']');
    sk_json_end(&groups, ']');
    n_groups++;
    sk_buffer_define();
    return n_groups - 1;
}

static int *ranks_of(int size)
{
    int *ranks = malloc(sizeof *ranks * (size_t)(size + 1));
    if (!ranks)
        abort();
    for (int k = 0; k < size; k++)
        ranks[k] = k;
    return ranks;
}

int32_t sk_define_group(MPI_Group group)
{
    int size;
    PMPI_Group_size(group, &size);
    int *ranks = ranks_of(size);
    int32_t number = define_members(group, size, ranks);
    free(ranks);
    return number;
}

#ifndef SK_SIMULATED
/* Returns the ranks from which an operation between neighbours gets data, and their number. */
static int *find_sources(MPI_Comm comm, int *n)
{
    int kind, rank, out = 0, is_weighted, *ranks;
    PMPI_Topo_test(comm, &kind);
    PMPI_Comm_rank(comm, &rank);
    *n = 0;
    if (kind == MPI_CART) {
        PMPI_Cartdim_get(comm, n);
        ranks = ranks_of(*n *= 2);
        for (int k = 0; k < *n; k += 2)
            PMPI_Cart_shift(comm, k / 2, 1, &ranks[k], &ranks[k + 1]);
    } else if (kind == MPI_GRAPH) {
        PMPI_Graph_neighbors_count(comm, rank, n);
        ranks = ranks_of(*n);
        PMPI_Graph_neighbors(comm, rank, *n, ranks);
    } else if (kind == MPI_DIST_GRAPH) {
        PMPI_Dist_graph_neighbors_count(comm, n, &out, &is_weighted);
        ranks = ranks_of(3 * (*n + out)); /* then weights and targets, which nobody needs */
        int *targets = ranks + *n, *weights = targets + out;
        PMPI_Dist_graph_neighbors(comm, *n, ranks, weights, out, targets, weights + *n);
    } else {
        ranks = ranks_of(0);
    }
    return ranks;
}

int32_t sk_define_sources(MPI_Comm comm)
{
    const uint32_t *known = sk_map_find(&sources, (uint64_t)(uintptr_t)comm, 0);
    if (known)
        return (int32_t)*known;
    MPI_Group group;
    int n, *ranks = find_sources(comm, &n);
    PMPI_Comm_group(comm, &group);
    int32_t number = define_members(group, n, ranks);
    PMPI_Group_free(&group);
    free(ranks);
    sk_map_set(&sources, (uint64_t)(uintptr_t)comm, 0, (uint32_t)number);
    return number;
}
#endif

static void tell_regions(struct sk_json *to)
{
    const struct region *known = regions.items;
    sk_json_begin(to, "regions", '[');
    for (size_t k = paths.told; k < paths.used; k++) {
        uint32_t region = ((const struct path *)paths.items)[k].region;
        if (region < SK_N_FUNCTIONS && !functions_told[region]) {
            sk_tell_pair(to, region, sk_function_names[region]);
            functions_told[region] = 1;
        }
    }
    for (size_t k = regions.told; k < regions.used; k++)
        sk_tell_pair(to, SK_N_FUNCTIONS + k, known[k].name);
    sk_json_end(to, ']');
    sk_json_begin(to, "functions", '[');
    for (; regions.told < regions.used; regions.told++)
        if (known[regions.told].is_function)
            sk_json_uint(to, NULL, SK_N_FUNCTIONS + regions.told);
    sk_json_end(to, ']');
}

static void tell_site(const struct sk_site *site)
{
    struct sk_json line = { 0 };
    sk_json_begin(&line, NULL, '{');
    sk_tell_site(&line, site);
    sk_json_end(&line, '}');
    dprintf(sites, "%s\n", line.text);
    sk_json_free(&line);
}

static void tell_paths(struct sk_json *to)
{
    static struct sk_site site;
    const struct path *path = paths.items;
    sk_json_begin(to, "sites", '[');
    for (size_t k = paths.told; k < paths.used; k++) {
        sk_symbols_find(path[k].site, &site);
        if (site.text[0])
            sk_tell_pair(to, k + 1, site.text);
        if (site.text[0] && sites >= 0)
            tell_site(&site);
    }
    sk_json_end(to, ']');
    sk_json_begin(to, "paths", '[');
    for (; paths.told < paths.used; paths.told++) {
        size_t k = paths.told;
        sk_tell_path(to, k + 1, path[k].parent, path[k].region, path[k].site ? (int64_t)(k + 1) : -1);
    }
    sk_json_end(to, ']');
}

bool sk_define_has_news(void)
{
    return paths.told != paths.used || scopes.length > 0 || groups.length > 0;
}

void sk_define_tell(struct sk_json *to)
{
    char run[17];
    if (own_run) {
        snprintf(run, sizeof run, "%016llx", (unsigned long long)own_run);
        sk_json_text(to, "run", run);
        own_run = 0;
    }
    tell_regions(to);
    tell_paths(to);
    sk_tell_pending(to, "scopes", &scopes);
    sk_tell_pending(to, "groups", &groups);
}
