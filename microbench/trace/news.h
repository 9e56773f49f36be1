/* What the file of a location needs to know of those who define what stands in it. */
#ifndef SK_TRACE_NEWS_H
#define SK_TRACE_NEWS_H

#include <stdint.h>

int sk_define_location(void);
uint32_t sk_define_next_number(void); /* that the next call or mark will get */

/* Returns the definitions since the last call as a JSON object, NULL if there are none; valid until the next call. */
const char *sk_define_news(void);

#endif
