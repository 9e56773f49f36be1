/* Entries of the definitions of a location, as docs/file-formats.md has them; each goes to the list that was begun. */
#ifndef SK_TRACE_TELLING_H
#define SK_TRACE_TELLING_H

#include "base/json.h"

#include <stdint.h>

void sk_tell_pair(struct sk_json *to, uint64_t number, const char *text);
void sk_tell_path(struct sk_json *to, uint64_t number, uint64_t parent, uint64_t region, int64_t site);

/* A communicator or window, `kind`: the location of its first rank, and the number that it has there. */
void sk_tell_scope(struct sk_json *to, int64_t number, const char *kind, const int64_t identity[2], int64_t size,
                   int64_t rank, const char *name);

/* A whole list, of entries that were written before, and are forgotten then. */
void sk_tell_pending(struct sk_json *to, const char *name, struct sk_json *pending);

#endif
