/* What all processes of a launch share: clocks, the turn, who listens, streams, and the bytes on their way.
 *
 * The starter makes the memory, sparse and zero, and names it by SCALKIT_VIRTUAL; the first process that comes
 * prepares it.
 * Places in it are offsets from its begin, because each process maps it elsewhere; 0 is none. */
#ifndef SK_VIRTUAL_SHARED_H
#define SK_VIRTUAL_SHARED_H

#include "virtual/machine.h"

#include <netinet/in.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

enum { SK_MOST_PROCESSES = 4096, SK_HOSTS = 16, SK_STREAMS = 1 << 19, SK_BLOCK_CLASSES = 160, SK_NAME = 40,
       SK_FUNCTIONS = 512, SK_REGIONS = 64, SK_REGION_NAME = 80 };

typedef uint64_t sk_at; /* offset in the shared memory */

/* What was written at once. */
struct sk_message {
    sk_ps arrival;          /* on the wire */
    sk_ps ready;            /* when it can be read; SK_NEVER until nothing can come before it */
    sk_at next, previous;   /* in the inbox of its receiver, by arrival */
    sk_at after;            /* in its stream */
    sk_at body;             /* its bytes, where they lie apart; 0: behind it */
    int64_t length, taken;  /* bytes, of these already read; a length of 0 is the end of the stream */
    uint32_t stream;
    int16_t place;          /* enum sk_place */
    int8_t is_free;         /* sent before or after virtual time: it costs nothing */
    int8_t is_knock;        /* a request for a connection, until it is accepted */
    unsigned char bytes[];
};

/* One direction of a connection. */
struct sk_stream {
    uint64_t key;
    int32_t from, to;       /* ranks */
    int32_t reader;         /* file descriptor at the receiver; -1: not accepted yet */
    int32_t is_closed;      /* nobody reads any more */
    sk_at first, last;      /* messages */
};

enum sk_mode { SK_ABSENT, SK_FREE, SK_TIMED, SK_OUTSIDE, SK_FINISHING, SK_LEFT };

struct sk_process {
    pid_t pid;
    int32_t mode;              /* enum sk_mode */
    uint32_t word;             /* the turn: a futex */
    uint32_t bell;             /* something came: a futex, of free processes */
    sk_ps clock, settled;      /* nothing that arrives until `settled` is still unknown */
    sk_ps card[SK_PLACES], received[SK_PLACES]; /* when its network card is free, to send and to receive */
    sk_ps in_mpi, computed;
    sk_ps finished;            /* when it called MPI_Finalize */
    sk_at inbox, inbox_end;    /* messages by arrival */
    sk_at unready;             /* the first of these of which it is not known when it is ready */
    int32_t hears;             /* a message ends its waiting */
    int64_t messages, bytes;   /* sent */
    char doing[SK_NAME];       /* the MPI function that it is in */
};

/* Calls of one function of MPI, of all processes. */
struct sk_calls { char name[SK_NAME]; int64_t n; sk_ps time; };

/* What one process did in a region. */
struct sk_visits { int64_t n, messages, bytes; sk_ps time, in_mpi, computed; };

struct sk_region { char name[SK_REGION_NAME]; sk_at visits; }; /* of each process */

struct sk_shared {
    uint32_t state;            /* 0, being prepared, ready */
    uint32_t lock;             /* futex */
    int32_t holder;            /* process that holds the lock, plus one */
    /* Processes that have left MPI_Init, ceased to serve others there, entered MPI_Finalize, left virtual time, left
     * MPI_Finalize. */
    int32_t joined, ceased, finishing, leaving, left;
    int32_t turn;              /* rank; -1: nobody's */
    int32_t is_over;           /* a process has given up */
    int64_t events;            /* messages and wake-ups: what the watch over stalls looks at */
    sk_ps horizon;             /* the latest time to which any process was allowed */
    int64_t monotonic_ns, realtime_ns; /* real clocks when virtual time began */
    struct sk_machine machine;
    sk_at top, bottom;         /* between them nothing was ever used */
    sk_at blocks[SK_BLOCK_CLASSES];
    sk_at apart[SK_BLOCK_CLASSES]; /* messages that are free again, whose bytes lie apart */
    struct sk_calls calls[SK_FUNCTIONS];
    struct sk_region regions[SK_REGIONS];
    sk_ps next[SK_MOST_PROCESSES]; /* when each process can do something, at the earliest */
    struct sk_process processes[SK_MOST_PROCESSES];
    int32_t n_hosts;
    struct in6_addr hosts[SK_HOSTS]; /* addresses of this host that are in use */
    int32_t listeners[SK_HOSTS * 65536]; /* rank that listens on a port of each, plus one */
    struct sk_stream streams[SK_STREAMS];
};

extern struct sk_shared *sk_shared; /* NULL where there is none */

enum { SK_EXIT_OVER = 9 };

/* Ends a launch that cannot go on: a sentence on stderr, where every process stands, and status 9. Does not return.
 * Only the first process that calls it says anything. */
void sk_over(const char *why);

/* Maps the memory; prepares it if it is the first to come. Returns NULL, or what is wrong. */
const char *sk_shared_open(const char *path, const struct sk_machine *machine);

/* Around all that follows, and all access to streams and messages. Not recursive. */
void sk_shared_lock(void);
void sk_shared_unlock(void);

void *sk_shared_at(sk_at at);       /* NULL for 0 */
sk_at sk_shared_place(const void *pointer);

/* Memory for `bytes`, not cleared; ends the program with a sentence where there is none. */
sk_at sk_shared_take(uint64_t bytes);
void sk_shared_give(sk_at block, uint64_t bytes);

/* A message with room for `length` bytes, all else cleared. Those of long ones lie apart and are never mapped: each
 * process would have to map each page again, which takes longer than to copy it. */
struct sk_message *sk_shared_message(int64_t length);
void sk_shared_drop(struct sk_message *message);

/* Copies the bytes of a message in, and `n` of them from the place `from` on out. */
void sk_shared_copy_in(struct sk_message *message, const struct iovec *parts, int n);
void sk_shared_copy_out(const struct sk_message *message, int64_t from, void *to, int64_t n);

/* The descriptor of the memory, which a program must not close; -1: none. */
extern int sk_shared_fd;

/* Returns the stream with this key, made if there is none. */
uint32_t sk_shared_stream(uint64_t key);

#endif
