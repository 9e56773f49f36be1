#include "trace/otf2/defined.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sk_defined sk_defined = { .ticks = 1000000000 };

static const char SITE[] = "call site"; /* description of a region whose file names where it was called */

/* Makes room for an item, numbered by `at`, of `size` bytes, in memory that is zero at first; returns it, or aborts. */
static void *place(void *items, uint32_t *n, uint64_t at, size_t size)
{
    char **memory = items;
    if (at >= UINT32_MAX / 2) {
        fprintf(stderr, "sk_otf2_read: the archive numbers something %llu.\n", (unsigned long long)at);
        exit(3);
    }
    if (at >= *n) {
        uint32_t room = *n > 16 ? *n : 16;
        while (room <= at)
            room *= 2;
        *memory = realloc(*memory, room * size);
        if (!*memory) {
            fprintf(stderr, "sk_otf2_read: no memory for %u definitions.\n", room);
            exit(3);
        }
        memset(*memory + *n * size, 0, (room - *n) * size);
        *n = room;
    }
    return *memory + at * size;
}

#define PLACE(items, n, at) place(&sk_defined.items, &sk_defined.n, at, sizeof *sk_defined.items)

static OTF2_CallbackCode on_string(void *data, OTF2_StringRef self, const char *text)
{
    const char **to = PLACE(strings, n_strings, self);
    *to = strdup(text);
    return *to ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_INTERRUPT;
}

static bool is_of_library(const char *name)
{
    static const char *const begins[] = { "MPI_", "ARMCI_", "armci_", "sk1s_" };
    for (size_t k = 0; k < sizeof begins / sizeof begins[0]; k++)
        if (strncmp(name, begins[k], strlen(begins[k])) == 0)
            return true;
    return false;
}

static OTF2_CallbackCode on_region(void *data, OTF2_RegionRef self, OTF2_StringRef name, OTF2_StringRef canonical,
                                   OTF2_StringRef description, OTF2_RegionRole role, OTF2_Paradigm paradigm,
                                   OTF2_RegionFlag flags, OTF2_StringRef file, uint32_t begin, uint32_t end)
{
    bool has_site = strcmp(sk_defined_text(description), SITE) == 0, is_named = is_of_library(sk_defined_text(name));
    struct sk_region *to = PLACE(regions, n_regions, self);
    bool has_role = role == OTF2_REGION_ROLE_RMA;
    *to = (struct sk_region){ name, has_site ? file : UINT32_MAX, true, is_named || has_role, has_role && !is_named };
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_group(void *data, OTF2_GroupRef self, OTF2_StringRef name, OTF2_GroupType type,
                                  OTF2_Paradigm paradigm, OTF2_GroupFlag flags, uint32_t n, const uint64_t *members)
{
    struct sk_group *to = PLACE(groups, n_groups, self);
    uint64_t *copy = malloc(sizeof *copy * (n + 1u));
    if (!copy)
        return OTF2_CALLBACK_INTERRUPT;
    if (n > 0)
        memcpy(copy, members, sizeof *copy * n);
    *to = (struct sk_group){ copy, n, type, paradigm, true };
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_comm(void *data, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group,
                                 OTF2_CommRef parent, OTF2_CommFlag flags)
{
    struct sk_comm *to = PLACE(comms, n_comms, self);
    *to = (struct sk_comm){ group, name, true };
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_win(void *data, OTF2_RmaWinRef self, OTF2_StringRef name, OTF2_CommRef comm,
                                OTF2_RmaWinFlag flags)
{
    struct sk_win *to = PLACE(wins, n_wins, self);
    *to = (struct sk_win){ comm, name, true };
    return OTF2_CALLBACK_SUCCESS;
}

/* Tells of a location that is no processor, in one line whatever its name is. */
static void tell_other(OTF2_LocationType type, const char *name)
{
    static const char *const kinds[] = { "location of an unknown kind", "CPU thread", "accelerator stream", "metric" };
    printf("other%u %s ", sk_defined.n_others++, kinds[type < 4 ? type : 0]);
    for (; *name; name++)
        putchar(*name > 0 && *name < ' ' ? ' ' : *name);
    putchar('\n');
}

static OTF2_CallbackCode on_location(void *data, OTF2_LocationRef self, OTF2_StringRef name, OTF2_LocationType type,
                                     uint64_t n_events, OTF2_LocationGroupRef group)
{
    static uint32_t used, room, more;
    if (type != OTF2_LOCATION_TYPE_CPU_THREAD) {
        tell_other(type, sk_defined_text(name));
        return OTF2_CALLBACK_SUCCESS;
    }
    uint64_t *to = place(&sk_defined.threads, &room, used, sizeof *to);
    *to = self;
    to = place(&sk_defined.n_events, &more, used, sizeof *to);
    *to = n_events;
    sk_defined.n_threads = ++used;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_clock(void *data, uint64_t ticks, uint64_t begin, uint64_t length, uint64_t real_time)
{
    sk_defined.ticks = ticks ? ticks : 1000000000;
    sk_defined.begin = begin;
    return OTF2_CALLBACK_SUCCESS;
}

bool sk_defined_read(OTF2_Reader *reader)
{
    uint64_t n;
    OTF2_GlobalDefReader *from = OTF2_Reader_GetGlobalDefReader(reader);
    OTF2_GlobalDefReaderCallbacks *on = OTF2_GlobalDefReaderCallbacks_New();
    if (!from || !on)
        return false;
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(on, on_string);
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(on, on_region);
    OTF2_GlobalDefReaderCallbacks_SetGroupCallback(on, on_group);
    OTF2_GlobalDefReaderCallbacks_SetCommCallback(on, on_comm);
    OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(on, on_win);
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(on, on_location);
    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(on, on_clock);
    bool fine = OTF2_Reader_RegisterGlobalDefCallbacks(reader, from, on, NULL) == OTF2_SUCCESS &&
                OTF2_Reader_ReadAllGlobalDefinitions(reader, from, &n) == OTF2_SUCCESS;
    OTF2_GlobalDefReaderCallbacks_Delete(on);
    OTF2_Reader_CloseGlobalDefReader(reader, from);
    return fine;
}

const char *sk_defined_text(uint32_t string)
{
    return string < sk_defined.n_strings && sk_defined.strings[string] ? sk_defined.strings[string] : "";
}

bool sk_defined_has_events(uint64_t location)
{
    for (uint32_t k = 0; k < sk_defined.n_threads; k++)
        if (sk_defined.threads[k] == location)
            return sk_defined.n_events[k] > 0;
    return false;
}

static const struct sk_group *ranks_group(void)
{
    for (uint32_t k = 0; k < sk_defined.n_groups; k++) {
        const struct sk_group *group = &sk_defined.groups[k];
        if (group->is_known && group->type == OTF2_GROUP_TYPE_COMM_LOCATIONS && group->paradigm == OTF2_PARADIGM_MPI)
            return group;
    }
    return NULL;
}

const uint64_t *sk_defined_ranks(uint32_t *n)
{
    const struct sk_group *group = ranks_group();
    *n = group ? group->n : sk_defined.n_threads;
    return group ? group->members : sk_defined.threads;
}

const struct sk_group *sk_defined_members(uint32_t comm)
{
    if (comm >= sk_defined.n_comms || !sk_defined.comms[comm].is_known)
        return NULL;
    uint32_t group = sk_defined.comms[comm].group;
    if (group >= sk_defined.n_groups || !sk_defined.groups[group].is_known)
        return NULL;
    const struct sk_group *found = &sk_defined.groups[group];
    return found->type == OTF2_GROUP_TYPE_COMM_GROUP && found->paradigm == OTF2_PARADIGM_MPI ? found : NULL;
}
