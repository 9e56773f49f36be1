#include "trace/map.h"

#include <stdio.h>
#include <stdlib.h>

enum { FREE, TAKEN, REMOVED };

static size_t place(const struct sk_map *map, uint64_t a, uint64_t b)
{
    uint64_t h = (a ^ (b * UINT64_C(0x9E3779B97F4A7C15))) * UINT64_C(0xBF58476D1CE4E5B9);
    return (size_t)(h ^ (h >> 29)) & (map->room - 1);
}

static struct sk_slot *lookup(const struct sk_map *map, uint64_t a, uint64_t b)
{
    if (map->room == 0)
        return NULL;
    for (size_t at = place(map, a, b);; at = (at + 1) & (map->room - 1)) {
        struct sk_slot *slot = &map->slots[at];
        if (slot->state == FREE)
            return NULL;
        if (slot->state == TAKEN && slot->a == a && slot->b == b)
            return slot;
    }
}

static void insert(struct sk_map *map, uint64_t a, uint64_t b, uint32_t value)
{
    size_t at = place(map, a, b);
    while (map->slots[at].state == TAKEN)
        at = (at + 1) & (map->room - 1);
    map->used += map->slots[at].state == FREE;
    map->slots[at] = (struct sk_slot){ a, b, value, TAKEN };
}

static void grow(struct sk_map *map)
{
    struct sk_map old = *map;
    size_t live = 0;
    for (size_t at = 0; at < old.room; at++)
        live += old.slots[at].state == TAKEN;
    map->room = 64;
    while (map->room < 4 * live)
        map->room *= 2;
    map->used = 0;
    map->slots = calloc(map->room, sizeof *map->slots);
    if (!map->slots) {
        fprintf(stderr, "scalkit trace: no memory for %zu entries; record less, or with more memory.\n", map->room);
        abort();
    }
    for (size_t at = 0; at < old.room; at++)
        if (old.slots[at].state == TAKEN)
            insert(map, old.slots[at].a, old.slots[at].b, old.slots[at].value);
    free(old.slots);
}

uint32_t *sk_map_find(const struct sk_map *map, uint64_t a, uint64_t b)
{
    struct sk_slot *slot = lookup(map, a, b);
    return slot ? &slot->value : NULL;
}

void sk_map_set(struct sk_map *map, uint64_t a, uint64_t b, uint32_t value)
{
    struct sk_slot *slot = lookup(map, a, b);
    if (slot) {
        slot->value = value;
        return;
    }
    if (2 * (map->used + 1) > map->room)
        grow(map);
    insert(map, a, b, value);
}

void sk_map_remove(struct sk_map *map, uint64_t a, uint64_t b)
{
    struct sk_slot *slot = lookup(map, a, b);
    if (slot)
        slot->state = REMOVED;
}
