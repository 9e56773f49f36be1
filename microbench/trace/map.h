/* A hash table from one or two numbers to another; grows as needed, aborts without memory. */
#ifndef SK_TRACE_MAP_H
#define SK_TRACE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sk_slot { uint64_t a, b; uint32_t value; uint32_t state; };
struct sk_map { struct sk_slot *slots; size_t room, used; };

/* Returns the value of a key, NULL if it is not there; valid until the next change. */
uint32_t *sk_map_find(const struct sk_map *map, uint64_t a, uint64_t b);
void sk_map_set(struct sk_map *map, uint64_t a, uint64_t b, uint32_t value);
void sk_map_remove(struct sk_map *map, uint64_t a, uint64_t b);

#endif
