/* How much memory this process holds, as the kernel sees it; read without allocating. */
#ifndef SK_MEM_SMAPS_H
#define SK_MEM_SMAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SK_PSS, SK_PSS_ANON, SK_PSS_SHMEM, SK_PSS_DIRTY, SK_PRIVATE, SK_RSS, SK_HWM, SK_SMAPS_FIELDS };

extern const char *const sk_smaps_names[SK_SMAPS_FIELDS];

/* Bytes; -1 where the kernel does not say. PSS: a page shared by n processes counts 1/n. */
struct sk_smaps { int64_t bytes[SK_SMAPS_FIELDS]; };

/* Adds what one line of smaps, smaps_rollup or status says ("Pss:   12 kB") to `smaps`. Other lines are ignored. */
void sk_smaps_line(struct sk_smaps *smaps, const char *line);

/* Reads a file of such lines. Returns false when it cannot be opened. */
bool sk_smaps_file(struct sk_smaps *smaps, const char *path);

/* Reads smaps_rollup (smaps where there is none) and the high-water mark of this process. */
struct sk_smaps sk_smaps_now(void);

/* The same once the proportional set size has been the same for 0.2 s, at most 3 s from now: while other processes of
 * the job are being started it falls, because they share this process' pages. */
struct sk_smaps sk_smaps_settled(void);

#endif
