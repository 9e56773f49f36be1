/* The names of the functions that call sites lie in. */
#ifndef SK_TRACE_SYMBOLS_H
#define SK_TRACE_SYMBOLS_H

#include "base/json.h"

#include <stddef.h>
#include <stdint.h>

/* Writes the function and the place in it, `solve+0x1c20`, also of one that is not exported, if its file has a table of
 * symbols; else the file and the place in it; nothing for NULL. The text is the same for all processes. */
void sk_symbols_describe(const void *site, char *text, size_t room);

/* The same, and what is needed to find the line of the source: the file, the address as that counts it, and its size in
 * bytes and time of last change in s, which tell whether it still is the same. */
struct sk_site { char text[320], object[4096]; uint64_t address, bytes, changed; };
void sk_symbols_find(const void *site, struct sk_site *found);
void sk_tell_site(struct sk_json *to, const struct sk_site *site); /* as members of the object that was begun */

void sk_symbols_forget(void); /* gives the memory of the last table back */

#endif
