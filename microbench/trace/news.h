/* All that is new in a trace since it was last written: what was defined, and what was left out. */
#ifndef SK_TRACE_NEWS_H
#define SK_TRACE_NEWS_H

/* Returns it as a JSON object, NULL if there is nothing new; valid until the next call. */
const char *sk_news(void);

#endif
