/* What is recorded, in memory first, and the file that it goes to.
 *
 * Every table has a buffer of its own. When one is full all are written, as blocks of columns, and the time that took
 * is itself recorded, so nothing is lost and nothing is hidden. The buffers lie in a second file, which is mapped, so
 * that they survive a process that is killed, and which goes with the end. docs/file-formats.md describes both.
 */
#ifndef SK_TRACE_BUFFER_H
#define SK_TRACE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sk_call { int64_t enter, leave; uint32_t number, path; int32_t scope, peer; };
struct sk_transfer { int64_t bytes; uint32_t call, order, kind; int32_t scope, peer, tag; };
struct sk_completion { uint32_t call, posted; };
struct sk_mark { int64_t time; uint32_t number, path; int32_t way; };
struct sk_sample { int64_t local, offset, error; };

/* The call that the process is in, path 0 for none; it survives the process, too. */
struct sk_open_call { int64_t enter; uint32_t path; };
extern struct sk_open_call *sk_open_call;

/* What a file needs to know of those who define what it holds. */
struct sk_definitions {
    uint32_t (*next_number)(void); /* that the next call or mark will get */
    const char *(*news)(void); /* what is new since the last call, a JSON object; NULL: nothing */
};

/* Opens the file of a location in a folder that is there, with room for so many records of each table in memory.
 * Returns whether it could. */
bool sk_buffer_open(const char *folder, int location, size_t room, struct sk_definitions from);

void sk_buffer_call(const struct sk_call *call);
void sk_buffer_transfer(const struct sk_transfer *transfer);
void sk_buffer_completion(uint32_t call, uint32_t posted);
void sk_buffer_mark(const struct sk_mark *mark);
void sk_buffer_sample(const struct sk_sample *sample);

void sk_buffer_flush(void); /* writes all that is in memory */
void sk_buffer_define(void); /* writes the definitions that are new, which no record can do without */
void sk_buffer_convert(void); /* from now on the time of flushes is nobody's, and not recorded */
void sk_buffer_close(void); /* the same, and the end; the trace is complete then */
void sk_buffer_abandon(void); /* writes what is in memory, and no end: readers see that the rest is missing */

#endif
