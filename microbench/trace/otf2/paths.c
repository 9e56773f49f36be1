#include "trace/otf2/paths.h"

#include "base/json.h"
#include "trace/map.h"
#include "trace/otf2/defined.h"
#include "trace/telling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct path { uint32_t parent, region; };

static struct sk_map numbers, scopes, groups;
static struct path *paths;
static struct sk_json news, new_scopes, new_groups;
static char *regions_told;
static uint32_t own_location, next_number, n_paths, room, told;
static int32_t n_scopes, n_groups;

static void empty(struct sk_map *map)
{
    free(map->slots);
    memset(map, 0, sizeof *map);
}

void sk_paths_begin(uint32_t location)
{
    own_location = location;
    next_number = n_paths = told = 0;
    n_scopes = n_groups = 0;
    empty(&numbers);
    empty(&scopes);
    empty(&groups);
    sk_json_clear(&new_scopes);
    sk_json_clear(&new_groups);
    regions_told = realloc(regions_told, sk_defined.n_regions + 1u);
    if (!regions_told)
        abort();
    memset(regions_told, 0, sk_defined.n_regions + 1u);
    for (uint32_t k = 0; k < sk_defined.n_comms; k++)
        sk_paths_comm(k);
    for (uint32_t k = 0; k < sk_defined.n_wins; k++)
        sk_paths_win(k); /* also where it is only a target */
}

uint32_t sk_paths_next_number(void)
{
    return next_number;
}

uint32_t sk_paths_number(void)
{
    return next_number++;
}

uint32_t sk_paths_find(uint32_t parent, uint32_t region)
{
    const uint32_t *known = sk_map_find(&numbers, parent, region);
    if (known)
        return *known;
    if (n_paths == room) {
        room = room ? 2 * room : 256;
        paths = realloc(paths, room * sizeof *paths);
        if (!paths)
            abort();
    }
    paths[n_paths++] = (struct path){ parent, region };
    sk_map_set(&numbers, parent, region, n_paths);
    return n_paths;
}

static int32_t scope(uint32_t kind, uint32_t which, uint32_t comm, uint32_t name)
{
    static const char *const kinds[] = { "communicator", "window" };
    const uint32_t *known = sk_map_find(&scopes, kind, which);
    if (known)
        return (int32_t)*known;
    const struct sk_group *members = sk_defined_members(comm);
    uint32_t rank = 0;
    while (members && rank < members->n && members->members[rank] != own_location)
        rank++;
    int32_t number = members && rank < members->n ? n_scopes++ : -1;
    sk_map_set(&scopes, kind, which, (uint32_t)number);
    if (number < 0)
        return -1;
    const int64_t identity[2] = { (int64_t)members->members[0], which + 1 };
    sk_tell_scope(&new_scopes, number, kinds[kind], identity, members->n, rank, sk_defined_text(name));
    return number;
}

int32_t sk_paths_comm(uint32_t comm)
{
    return scope(0, comm, comm, comm < sk_defined.n_comms ? sk_defined.comms[comm].name : UINT32_MAX);
}

int32_t sk_paths_win(uint32_t win)
{
    if (win >= sk_defined.n_wins || !sk_defined.wins[win].is_known)
        return -1;
    return scope(1, win, sk_defined.wins[win].comm, sk_defined.wins[win].name);
}

int32_t sk_paths_group(uint32_t group)
{
    const uint32_t *known = sk_map_find(&groups, group, 0);
    if (known)
        return (int32_t)*known;
    if (group >= sk_defined.n_groups || !sk_defined.groups[group].is_known)
        return -1;
    sk_map_set(&groups, group, 0, (uint32_t)n_groups);
    sk_json_begin(&new_groups, NULL, '[');
    sk_json_int(&new_groups, NULL, n_groups);
    sk_json_begin(&new_groups, NULL, '[');
    for (uint32_t k = 0; k < sk_defined.groups[group].n; k++)
        sk_json_uint(&new_groups, NULL, sk_defined.groups[group].members[k]);
    sk_json_end(&new_groups, ']');
    sk_json_end(&new_groups, ']');
    return n_groups++;
}

static uint32_t site_of(uint32_t region)
{
    return sk_defined.regions[region].site;
}

/* Calls `tell` for each region that is new, and begins and ends a list around that. */
static void tell_new(const char *list, void (*tell)(uint32_t region))
{
    sk_json_begin(&news, list, '[');
    for (uint32_t k = told; k < n_paths; k++)
        if (regions_told[paths[k].region] == 0) {
            tell(paths[k].region);
            regions_told[paths[k].region] = 2;
        }
    sk_json_end(&news, ']');
    for (uint32_t k = told; k < n_paths; k++)
        if (regions_told[paths[k].region] == 2)
            regions_told[paths[k].region] = 0;
}

static void tell_name(uint32_t region)
{
    sk_tell_pair(&news, region, sk_defined_text(sk_defined.regions[region].name));
}

static void tell_function(uint32_t region)
{
    if (sk_defined.regions[region].is_told)
        sk_json_uint(&news, NULL, region);
}

static void tell_site(uint32_t region)
{
    if (site_of(region) != UINT32_MAX)
        sk_tell_pair(&news, region, sk_defined_text(site_of(region)));
}

const char *sk_paths_news(void)
{
    if (told == n_paths && new_scopes.length == 0 && new_groups.length == 0)
        return NULL;
    sk_json_clear(&news);
    sk_json_begin(&news, NULL, '{');
    tell_new("regions", tell_name);
    tell_new("functions", tell_function);
    tell_new("sites", tell_site);
    sk_json_begin(&news, "paths", '[');
    for (; told < n_paths; told++) {
        uint32_t region = paths[told].region;
        regions_told[region] = 1;
        int64_t site = site_of(region) == UINT32_MAX ? -1 : (int64_t)region;
        sk_tell_path(&news, told + 1u, paths[told].parent, region, site);
    }
    sk_json_end(&news, ']');
    sk_tell_pending(&news, "scopes", &new_scopes);
    sk_tell_pending(&news, "groups", &new_groups);
    sk_json_end(&news, '}');
    return news.text;
}
