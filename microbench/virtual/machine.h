/* The machine whose time passes: the numbers of LogGP, and how the layer behaves, from the environment.
 *
 * A message of k bytes, one write of the library, costs
 *   the sender    o; then its network card is busy from start = max(card free, now) to start + k G + g;
 *   on the wire   arrival = start + k G + L;
 *   the receiver  ready = max(arrival, card free + g + k G), in the order of arrival; reading it costs o.
 * so that a message lasts 2 o + L + k G, and the next one follows after max(o, g + k G).
 *
 * SCALKIT_VIRTUAL_MACHINE holds words such as "processes=8 L=1000 o=300 g=200 G=0.08", times in ns, G in ns a byte. */
#ifndef SK_VIRTUAL_MACHINE_H
#define SK_VIRTUAL_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

typedef int64_t sk_ps; /* picoseconds: a byte may take less than a nanosecond; 106 days at most */

#define SK_NEVER INT64_MAX
#define SK_PS_OF_NS INT64_C(1000)
#define SK_LAST (SK_NEVER / 2) /* 53 days: what lies behind it is taken for it, so that no sum overflows */

enum sk_place { SK_BETWEEN, SK_INSIDE, SK_PLACES }; /* between nodes, inside one */
enum sk_compute { SK_COMPUTE_NONE, SK_COMPUTE_CPU, SK_COMPUTE_INSTRUCTIONS, SK_COMPUTES };

extern const char *const sk_compute_names[SK_COMPUTES];

struct sk_network {
    sk_ps latency, overhead, gap; /* L, o, g */
    double ps_per_byte;           /* G */
};

/* Switches between nodes. A message is `hop` later for each between the first and the last one on its way:
 * a fat tree whose switches have `tree` nodes, or `tree` switches, below them; up to the first common one and down.
 * a dragonfly, `routers` in a group and `hosts` on a router: one link between all routers of a group, and one between
 * two groups, from router k % routers of either to the k-th of its other groups. */
struct sk_topology {
    sk_ps hop;
    int tree, routers, hosts; /* 0: none */
};

struct sk_machine {
    int processes, per_node;      /* per_node 0: every process has a node of its own */
    struct sk_topology topology;
    struct sk_network network[SK_PLACES];
    enum sk_compute compute;
    double scale;                 /* virtual time for a second of computing */
    double instructions_per_ns;   /* of SK_COMPUTE_INSTRUCTIONS */
    int stall_s;                  /* real time without an event after which the layer gives up */
    bool check;                   /* assert that causes come before effects */
    int cpu;                      /* core that all processes share; -1: none */
};

/* Reads the words of SCALKIT_VIRTUAL_MACHINE. Returns NULL, or what is wrong with them: a static text. */
const char *sk_machine_read(const char *words, struct sk_machine *machine);

enum sk_place sk_machine_place(const struct sk_machine *machine, int one, int other);

/* How much later a message from one process to another one arrives because of the switches on its way. */
sk_ps sk_machine_further(const struct sk_machine *machine, int one, int other);

/* The shortest time from a decision of one process to anything that another one can see. */
sk_ps sk_machine_lookahead(const struct sk_machine *machine);

/* `ns` after `begin`, and what the C library says as seconds and nanoseconds, however much it is. */
sk_ps sk_machine_after(sk_ps begin, int64_t ns);
int64_t sk_machine_ns(int64_t seconds, int64_t ns);

sk_ps sk_network_bytes(const struct sk_network *network, int64_t bytes);

#endif
