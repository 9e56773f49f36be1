/* What a program may ask the layer of virtual time; without the layer these are not there, so look them up with
 * dlsym. */
#ifndef SCALKIT_VIRTUAL_H
#define SCALKIT_VIRTUAL_H

#include <stdint.h>

int64_t sk_virtual_now(void);              /* ns since virtual time began; -1 where time is real */
int64_t sk_virtual_is_on(void);            /* 1 where time is virtual for this thread */
int64_t sk_virtual_is_still(void);         /* 1 where computing costs no time either */
void sk_virtual_region(const char *name);  /* begins a region; NULL ends the innermost one */
int64_t sk_virtual_messages(void);         /* that this process has sent in virtual time; -1 where it has none */

#endif
