/* Bytes on their way from one process to another: what is sent, when it arrives, what can be read by now.
 *
 * Those that say so are called with the shared memory locked, the others lock it themselves. */
#ifndef SK_VIRTUAL_STREAM_H
#define SK_VIRTUAL_STREAM_H

#include "virtual/self.h"

#include <stdbool.h>
#include <sys/uio.h>

/* A connection: the streams out of and into this process, told apart by the key of each. */
void sk_stream_bind(uint32_t stream, int from, int to);
void sk_stream_knock(uint32_t out);                 /* locked: tells the listening process that somebody connects */
void sk_stream_accept(uint32_t stream, int reader); /* locked: the descriptor that its reader uses */
void sk_stream_end(uint32_t out, uint32_t in);      /* this process closes both */

/* Locked. Whether the network card has room; otherwise `when` it will have. */
bool sk_stream_has_room(uint32_t out, sk_ps *when);

/* Sends all bytes as one message; false (and nothing done) where the reader has closed. */
bool sk_stream_send(uint32_t out, const struct iovec *parts, int n, int64_t bytes);

/* What can be read now, without waiting: bytes of the first message, 0 at the end of the stream, -1: nothing. */
int64_t sk_stream_readable(uint32_t in);

/* Copies at most what one message holds, and takes it away unless `peeks`; what sk_stream_readable says when it has
 * none. */
int64_t sk_stream_read(uint32_t in, const struct iovec *parts, int n, bool peeks);

/* Locked. Takes note of when messages can be read that arrived until the clock was settled. */
void sk_stream_rank_arrivals(void);

/* Locked. The messages of this process by arrival: sk_stream_first(), then `next` of each; NULL at the end. */
struct sk_message *sk_stream_first(void);
struct sk_message *sk_stream_next(const struct sk_message *message);

/* Locked. When a message can be read at the earliest, as far as is known. */
sk_ps sk_stream_earliest(const struct sk_message *message);

bool sk_stream_is_first(const struct sk_message *message); /* of its stream; locked */

#endif
