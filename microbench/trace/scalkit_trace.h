/* Regions of your program in a trace. Programs that call these run with the recorder and without it:
 *
 *     SK_TRACE_ENTER("solve");
 *     ...
 *     SK_TRACE_LEAVE();
 */
#ifndef SCALKIT_TRACE_H
#define SCALKIT_TRACE_H

#ifdef __cplusplus
extern "C" {
#endif

__attribute__((weak, visibility("default"))) void sk_trace_enter(const char *region);
__attribute__((weak, visibility("default"))) void sk_trace_leave(void); /* the region that was entered last */

#ifdef __cplusplus
}
#endif

#define SK_TRACE_ENTER(region) (sk_trace_enter ? sk_trace_enter(region) : (void)0)
#define SK_TRACE_LEAVE() (sk_trace_leave ? sk_trace_leave() : (void)0)

#endif
