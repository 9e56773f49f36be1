/* The kinds of trips: what each prepares, does once, and clears away. kinds.def is the list and says what each is. */
#ifndef SK_P2P_KINDS_H
#define SK_P2P_KINDS_H

#include "p2p/pair.h"

enum sk_p2p_kind {
#define SK_P2P(id, name, detail, flow, open, trip, close) SK_P2P_##id,
#include "p2p/kinds.def"
#undef SK_P2P
    SK_P2P_KINDS
};

enum { SK_TO_LEADER = 1, SK_FROM_LEADER = 2, SK_BOTH_WAYS = 3 };

struct sk_p2p {
    const char *name, *detail;
    int flow;
    void (*open)(struct sk_pair *pair, int64_t detail); /* after the pair has a plain message of bytes; may be NULL */
    struct sk_trip (*trip)(const struct sk_pair *pair);
    void (*close)(struct sk_pair *pair); /* may be NULL */
};

extern const struct sk_p2p sk_p2p_kinds[SK_P2P_KINDS];
extern const char *const sk_p2p_names[SK_P2P_KINDS];

enum { SK_STRIDED_BYTES = 8, SK_MOST_QUEUED = 100000 };
#define SK_MOST_BYTES ((int64_t)1 << 30)

/* Returns the bytes that each buffer needs; -1 when size or number make no sense for the kind among p processes. */
int64_t sk_p2p_extent(enum sk_p2p_kind kind, int64_t size, int64_t detail, int p);

/* Make `pair` ready for a kind, and clear away again; those that take part call both. */
void sk_p2p_open(enum sk_p2p_kind kind, struct sk_pair *pair, int64_t size, int64_t detail);
void sk_p2p_close(enum sk_p2p_kind kind, struct sk_pair *pair);

/* Returns the shortest of a few trips, in ns: what a busy machine stretches least; 0 on the partner. Both must
 * call it. */
int64_t sk_p2p_usual(const struct sk_pair *pair, struct sk_trip (*trip)(const struct sk_pair *pair));

/* The functions of kinds.def, each in the file of its idea. */
struct sk_trip sk_round_trip(const struct sk_pair *pair);
void sk_exchange_open(struct sk_pair *pair, int64_t detail);
struct sk_trip sk_exchange(const struct sk_pair *pair);
struct sk_trip sk_train(const struct sk_pair *pair);
void sk_train_open(struct sk_pair *pair, int64_t detail);
struct sk_trip sk_train_delayed(const struct sk_pair *pair);
void sk_arrived_open(struct sk_pair *pair, int64_t detail);
struct sk_trip sk_arrived(const struct sk_pair *pair);
struct sk_trip sk_late(const struct sk_pair *pair);
void sk_overlap_send_open(struct sk_pair *pair, int64_t detail);
struct sk_trip sk_overlap_send(const struct sk_pair *pair);
void sk_overlap_receive_open(struct sk_pair *pair, int64_t detail);
struct sk_trip sk_overlap_receive(const struct sk_pair *pair);
void sk_strided_open(struct sk_pair *pair, int64_t stride);
void sk_strided_close(struct sk_pair *pair);
struct sk_trip sk_pack(const struct sk_pair *pair);
void sk_reduce_open(struct sk_pair *pair, int64_t element);
struct sk_trip sk_reduce(const struct sk_pair *pair);
void sk_queued_open(struct sk_pair *pair, int64_t queue);
void sk_queued_close(struct sk_pair *pair);
void sk_matching_open(struct sk_pair *pair, int64_t round);
struct sk_trip sk_matching(const struct sk_pair *pair);

#endif
