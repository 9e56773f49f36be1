#include "trace/filter.h"

#include "trace/define.h"
#include "trace/kinds.h"
#include "trace/map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 100, SMALL = 101 }; /* kinds of what is counted, beside those of messages */

struct left { uint32_t position, kind; int32_t scope, peer, tag; int64_t count, ns; bool is_new; };

bool sk_filter_is_on;

static const char *names; /* of functions and regions, between commas */
static char *skipped; /* of each function of MPI, whether it is left out */
static bool is_paused, has_news;
static unsigned depth; /* of regions, from one that is left out on */
static uint32_t position; /* where the pause began */
static uint32_t completing; /* the last call that completed something */
static int64_t least_ns, least_bytes;
static struct sk_map places;
static struct left *lefts;
static size_t used, room;

static bool is_same(const char *name, size_t length, const char *text)
{
    return strlen(name) == length && strncmp(name, text, length) == 0;
}

static bool is_named(const char *name)
{
    for (const char *at = names; at && *at; at += strcspn(at, ","), at += *at == ',')
        if (is_same(name, strcspn(at, ","), at))
            return true;
    return false;
}

/* Says which names cannot be left out: those that begin as functions of MPI do, and are none. */
static void check_names(void)
{
    for (const char *at = names; at && *at; at += strcspn(at, ","), at += *at == ',') {
        size_t length = strcspn(at, ",");
        uint32_t k = 0;
        while (k < SK_N_FUNCTIONS && !is_same(sk_function_names[k], length, at))
            k++;
        bool is_unknown = k == SK_N_FUNCTIONS && strncmp(at, "MPI_", 4) == 0;
        if (is_unknown || k == SK_F_Init || k == SK_F_Init_thread || k == SK_F_Finalize)
            fprintf(stderr, "scalkit trace: %.*s cannot be left out: %s.\n", (int)length, at,
                    is_unknown ? "no function that is recorded has this name" : "the recording begins or ends with it");
    }
}

static bool is_poll(uint32_t function)
{
    static const char *const polls[] = { "MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome", "MPI_Iprobe",
                                         "MPI_Improbe", "MPI_Win_test", "MPI_Request_get_status", "MPI_Parrived" };
    for (size_t k = 0; function < SK_N_FUNCTIONS && k < sizeof polls / sizeof polls[0]; k++)
        if (strcmp(sk_function_names[function], polls[k]) == 0)
            return true;
    return false;
}

static int64_t number_of(const char *variable)
{
    const char *given = getenv(variable);
    return given ? atoll(given) : 0;
}

void sk_filter_begin(void)
{
    names = getenv("SCALKIT_TRACE_LEAVE_OUT");
    least_ns = number_of("SCALKIT_TRACE_SHORTEST_POLL");
    least_bytes = number_of("SCALKIT_TRACE_SMALLEST");
    skipped = calloc(SK_N_FUNCTIONS, 1);
    if (!skipped)
        abort();
    for (uint32_t k = 0; k < SK_N_FUNCTIONS; k++) {
        size_t length = strlen(sk_function_names[k]);
        char base[64] = "";
        if (length > 2 && length < sizeof base && strcmp(sk_function_names[k] + length - 2, "_c") == 0)
            memcpy(base, sk_function_names[k], length - 2);
        skipped[k] = is_named(sk_function_names[k]) || (base[0] && is_named(base)); /* and that of large counts */
    }
    skipped[SK_F_Finalize] = 0;
    if (sk_define_location() == 0)
        check_names();
    sk_filter_is_on = (names && *names) || least_ns > 0 || least_bytes > 0;
    if (number_of("SCALKIT_TRACE_PAUSED"))
        sk_filter_pause(true);
}

static bool is_out(void)
{
    return is_paused || depth > 0;
}

static void paused_or_not(bool was_out)
{
    if (!was_out && is_out())
        position = sk_define_next_number();
    if (was_out && !is_out())
        sk_buffer_define(); /* what comes now has its place only with what was left out */
}

void sk_filter_pause(bool pause)
{
    bool was_out = is_out();
    is_paused = pause;
    sk_filter_is_on = sk_filter_is_on || pause;
    paused_or_not(was_out);
}

void sk_filter_enter(const char *region)
{
    bool was_out = is_out();
    if (depth > 0 || is_named(region))
        depth++;
    paused_or_not(was_out);
}

void sk_filter_leave(void)
{
    bool was_out = is_out();
    if (depth > 0)
        depth--;
    paused_or_not(was_out);
}

uint32_t sk_filter_number(uint32_t function)
{
    if (function < SK_N_FUNCTIONS && skipped[function])
        return SK_LEFT_OUT;
    return is_out() ? SK_LEFT_OUT | position : 0;
}

static void add(const struct left *one)
{
    uint64_t a = (uint64_t)one->position << 32 | ((one->kind << 24) ^ (uint32_t)one->scope);
    uint64_t b = (uint64_t)(uint32_t)one->peer << 32 | (uint32_t)one->tag;
    const uint32_t *known = sk_map_find(&places, a, b);
    if (!known && used == room) {
        room = room ? 2 * room : 64;
        lefts = realloc(lefts, room * sizeof *lefts);
        if (!lefts)
            abort();
    }
    uint32_t at = known ? *known : (uint32_t)used++;
    if (!known) {
        lefts[at] = *one;
        sk_map_set(&places, a, b, at);
    } else {
        lefts[at].count += one->count;
        lefts[at].ns += one->ns;
    }
    lefts[at].is_new = has_news = true;
}

static void add_call(uint32_t function, const struct sk_call *call, uint32_t at)
{
    int32_t scope = at ? call->scope : -1; /* only in a pause it matters where */
    struct left one = { scope < 0 ? 0 : at, CALLS, scope, (int32_t)function, 0, 1, call->leave - call->enter, true };
    add(&one);
}

void sk_filter_left(uint32_t function, const struct sk_call *call)
{
    add_call(function, call, call->number & ~SK_LEFT_OUT);
}

bool sk_filter_is_short(uint32_t function, const struct sk_call *call)
{
    if (call->leave - call->enter >= least_ns || call->number == completing || !is_poll(function))
        return false;
    add_call(function, call, 0);
    return true;
}

bool sk_filter_transfer(const struct sk_transfer *transfer)
{
    uint32_t kind = transfer->kind & 0xFF;
    bool is_message = kind == SK_SENT || kind == SK_RECEIVED;
    if (transfer->call & SK_LEFT_OUT) {
        uint32_t at = transfer->call & ~SK_LEFT_OUT;
        struct left one = { at, kind, transfer->scope, at ? transfer->peer : 0, at ? transfer->tag : 0, 1, 0, true };
        if (is_message)
            add(&one);
        return true;
    }
    if (kind == SK_COLLECTIVE || transfer->bytes >= least_bytes || transfer->tag == SK_NOTIFICATION)
        return false;
    struct left one = { 0, SMALL, -1, (int32_t)kind, 0, 1, 0, true };
    add(&one);
    return true;
}

bool sk_filter_completion(uint32_t call, uint32_t posted)
{
    if ((call | posted) & SK_LEFT_OUT)
        return true;
    completing = call;
    return false;
}

bool sk_filter_has_news(void)
{
    return has_news;
}

void sk_filter_tell(struct sk_json *to)
{
    sk_json_begin(to, "left_out", '[');
    for (size_t k = 0; k < used; k++) {
        struct left *one = &lefts[k];
        if (!one->is_new)
            continue;
        one->is_new = false;
        sk_json_begin(to, NULL, '[');
        sk_json_uint(to, NULL, one->position);
        sk_json_uint(to, NULL, one->kind);
        sk_json_int(to, NULL, one->scope);
        if (one->kind == CALLS)
            sk_json_text(to, NULL, sk_define_name((uint32_t)one->peer));
        else
            sk_json_int(to, NULL, one->peer);
        sk_json_int(to, NULL, one->tag);
        sk_json_int(to, NULL, one->count);
        sk_json_int(to, NULL, one->ns);
        sk_json_end(to, ']');
    }
    sk_json_end(to, ']');
    has_news = false;
}
