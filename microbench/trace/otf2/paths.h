/* What the file of the location that is being read says of its call paths, communicators, windows and groups. */
#ifndef SK_TRACE_OTF2_PATHS_H
#define SK_TRACE_OTF2_PATHS_H

#include <stdbool.h>
#include <stdint.h>

void sk_paths_begin(uint32_t location); /* a new location */
uint32_t sk_paths_number(void);         /* of the next call or mark */
uint32_t sk_paths_next_number(void);    /* that the next call or mark will get */
const char *sk_paths_news(void);        /* what is new of all this, see struct sk_definitions */
uint32_t sk_paths_find(uint32_t parent, uint32_t region);

/* Numbers of a communicator, a window and a group in this location; -1 if it is in none of them. */
int32_t sk_paths_comm(uint32_t comm);
int32_t sk_paths_win(uint32_t win);
int32_t sk_paths_group(uint32_t group);

#endif
