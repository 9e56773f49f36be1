#include "base/alloc.h"
#include "mafia/kernels.h"

#include <string.h>

struct sk_dedup_node {
    uint32_t below[2]; /* the lesser and the greater side, counted from 1; 0 is none */
    uint32_t candidate;
    int height;
};

struct tree {
    struct sk_dedup_node *nodes; /* node 0 is the empty tree, of height 0 */
    uint32_t n;
    const struct sk_units *candidates;
    uint64_t operations;
};

static void update(struct sk_dedup_node *nodes, uint32_t at)
{
    int left = nodes[nodes[at].below[0]].height, right = nodes[nodes[at].below[1]].height;
    nodes[at].height = 1 + (left > right ? left : right);
}

/* Lifts the child on `side`; returns the new top. */
static uint32_t rotate(struct sk_dedup_node *nodes, uint32_t at, int side)
{
    uint32_t top = nodes[at].below[side];
    nodes[at].below[side] = nodes[top].below[!side];
    nodes[top].below[!side] = at;
    update(nodes, at);
    update(nodes, top);
    return top;
}

static uint32_t balance(struct sk_dedup_node *nodes, uint32_t at)
{
    const uint32_t *below = nodes[at].below;
    int lean = nodes[below[1]].height - nodes[below[0]].height;
    if (lean >= -1 && lean <= 1) {
        update(nodes, at);
        return at;
    }
    int side = lean > 0;
    uint32_t child = nodes[at].below[side];
    if (nodes[nodes[child].below[!side]].height > nodes[nodes[child].below[side]].height)
        nodes[at].below[side] = rotate(nodes, child, !side);
    return rotate(nodes, at, side);
}

/* Returns the top of the tree below `at` with the candidate in it. */
static uint32_t insert(struct tree *tree, uint32_t at, uint32_t candidate)
{
    if (at == 0) {
        tree->nodes[++tree->n] = (struct sk_dedup_node){{0, 0}, candidate, 1};
        return tree->n;
    }
    const struct sk_units *all = tree->candidates;
    int order = sk_units_compare(sk_units_at(all, candidate), sk_units_at(all, tree->nodes[at].candidate), all->dim,
                                 &tree->operations);
    if (order == 0)
        return at;
    uint32_t below = tree->nodes[at].below[order > 0], now = insert(tree, below, candidate);
    tree->nodes[at].below[order > 0] = now;
    return balance(tree->nodes, at);
}

static void copy_in_order(struct tree *tree, uint32_t at, struct sk_units *distinct)
{
    if (at == 0)
        return;
    const struct sk_dedup_node *node = &tree->nodes[at];
    copy_in_order(tree, node->below[0], distinct);
    size_t bytes = (size_t)distinct->dim * sizeof(sk_window);
    memcpy(sk_units_append(distinct), sk_units_at(tree->candidates, node->candidate), bytes);
    tree->operations += (uint64_t)distinct->dim;
    copy_in_order(tree, node->below[1], distinct);
}

void sk_dedup(struct sk_dedup *dedup, const struct sk_units *candidates, struct sk_units *distinct,
              uint64_t *operations)
{
    if (candidates->n + 1 > dedup->room) {
        dedup->nodes = sk_grow(dedup->nodes, 0, 2 * (candidates->n + 1) * sizeof *dedup->nodes);
        dedup->room = 2 * (candidates->n + 1);
    }
    struct tree tree = {.nodes = dedup->nodes, .candidates = candidates};
    uint32_t top = 0;
    for (size_t i = 0; i < candidates->n; i++)
        top = insert(&tree, top, (uint32_t)i);
    sk_units_clear(distinct, candidates->dim);
    copy_in_order(&tree, top, distinct);
    *operations += tree.operations;
}

void sk_dedup_free(struct sk_dedup *dedup)
{
    sk_free(dedup->nodes);
    *dedup = (struct sk_dedup){0};
}
