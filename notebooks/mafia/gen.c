#include "base/alloc.h"
#include "mafia/kernels.h"

#include <string.h>

struct sk_gen_entry {
    uint64_t hash;
    uint32_t first; /* the latest member, counted from 1; 0 in an empty entry */
};

struct sk_gen_member {
    uint32_t unit, next;
    int dropped; /* place of the window that is not in the key */
};

/* The key of a unit: its windows without the one at place `dropped`. */
static uint64_t key_hash(const sk_window *unit, int dim, int dropped)
{
    uint64_t hash = 0x9E3779B97F4A7C15u;
    for (int i = 0; i < dim; i++)
        if (i != dropped)
            hash = (hash ^ unit[i]) * 0xD1342543DE82EF95u;
    return hash ^ (hash >> 32);
}

static bool same_key(const sk_window *a, int dropped_a, const sk_window *b, int dropped_b, int dim)
{
    for (int i = 0, j = 0;; i++, j++) {
        i += i == dropped_a;
        j += j == dropped_b;
        if (i >= dim)
            return true;
        if (a[i] != b[j])
            return false;
    }
}

/* Empties a table with twice the room of `keys`, and returns its room, a power of 2. */
static size_t make_room(struct sk_gen *gen, size_t keys)
{
    size_t room = 64;
    while (room < 2 * keys)
        room *= 2;
    if (room > gen->table_room) {
        gen->table = sk_grow(gen->table, 0, room * sizeof *gen->table);
        gen->table_room = room;
    }
    if (keys + 1 > gen->members_room) {
        gen->members = sk_grow(gen->members, 0, 2 * (keys + 1) * sizeof *gen->members);
        gen->members_room = 2 * (keys + 1);
    }
    memset(gen->table, 0, room * sizeof *gen->table);
    return room;
}

static struct sk_gen_entry *find(struct sk_gen *gen, size_t mask, const struct sk_units *dense, const sk_window *unit,
                                 int dropped, uint64_t *operations)
{
    int dim = dense->dim;
    uint64_t hash = key_hash(unit, dim, dropped);
    *operations += (uint64_t)dim - 1;
    for (size_t at = hash & mask;; at = (at + 1) & mask) {
        struct sk_gen_entry *entry = &gen->table[at];
        if (entry->first == 0) {
            entry->hash = hash;
            return entry;
        }
        if (entry->hash == hash) {
            const struct sk_gen_member *one = &gen->members[entry->first];
            *operations += (uint64_t)dim - 1;
            if (same_key(unit, dropped, sk_units_at(dense, one->unit), one->dropped, dim))
                return entry;
        }
    }
}

/* Writes the unit that `unit` and one more window make. */
static void join(const sk_window *unit, int dim, sk_window more, sk_window *made)
{
    int i = 0;
    for (; i < dim && unit[i] < more; i++)
        made[i] = unit[i];
    made[i] = more;
    for (; i < dim; i++)
        made[i + 1] = unit[i];
}

void sk_gen(struct sk_gen *gen, const struct sk_grid *grid, const struct sk_units *dense, struct sk_units *candidates,
            uint64_t *operations)
{
    int dim = dense->dim;
    size_t mask = make_room(gen, dense->n * (size_t)dim) - 1;
    uint64_t done = 0;
    uint32_t members = 0;
    sk_units_clear(candidates, dim + 1);
    for (size_t u = 0; u < dense->n; u++)
        for (int dropped = 0; dropped < dim; dropped++) {
            const sk_window *unit = sk_units_at(dense, u);
            struct sk_gen_entry *entry = find(gen, mask, dense, unit, dropped, &done);
            for (uint32_t m = entry->first; m != 0; m = gen->members[m].next) {
                const struct sk_gen_member *other = &gen->members[m];
                sk_window more = sk_units_at(dense, other->unit)[other->dropped];
                done += 1;
                if (grid->dense[more].dim == grid->dense[unit[dropped]].dim)
                    continue;
                join(unit, dim, more, sk_units_append(candidates));
                done += (uint64_t)dim + 1;
            }
            gen->members[++members] = (struct sk_gen_member){(uint32_t)u, entry->first, dropped};
            entry->first = members;
        }
    *operations += done;
}

void sk_gen_free(struct sk_gen *gen)
{
    sk_free(gen->table);
    sk_free(gen->members);
    *gen = (struct sk_gen){0};
}
