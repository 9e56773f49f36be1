#include "p2p/cells.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NUMBERS = 4096 };

struct reading {
    const char *at;
    char *why;
    size_t room;
};

static int refused(struct reading *r, const char *what, const char *where)
{
    snprintf(r->why, r->room, "--cells: %s at '%.40s'; write kinds, sizes and numbers as in "
             "'Round_trip:0,8,64/Strided:65536@1,2,4'", what, where);
    return -1;
}

static void skip_blanks(struct reading *r)
{
    while (isspace((unsigned char)*r->at))
        r->at++;
}

static bool took(struct reading *r, char sign)
{
    skip_blanks(r);
    bool there = *r->at == sign;
    r->at += there;
    return there;
}

/* Reads the name of a kind; returns it or -1. */
static int read_kind(struct reading *r)
{
    skip_blanks(r);
    size_t n = strcspn(r->at, ":/@, \t\n");
    for (int kind = 0; kind < SK_P2P_KINDS; kind++)
        if (strlen(sk_p2p_names[kind]) == n && strncmp(sk_p2p_names[kind], r->at, n) == 0) {
            r->at += n;
            return kind;
        }
    return refused(r, "there is no such kind", r->at);
}

/* Reads numbers with commas between them; returns how many or -1. */
static int read_numbers(struct reading *r, int64_t *numbers)
{
    int n = 0;
    do {
        skip_blanks(r);
        size_t digits = strspn(r->at, "0123456789");
        if (digits == 0 || digits > 12)
            return refused(r, "a number is needed", r->at);
        if (n == MOST_NUMBERS)
            return refused(r, "there are too many numbers", r->at);
        numbers[n++] = strtoll(r->at, NULL, 10);
        r->at += digits;
    } while (took(r, ','));
    return n;
}

static bool refused_cell(struct reading *r, const struct sk_p2p_cell *cell, int p)
{
    if (sk_p2p_extent(cell->kind, cell->size, cell->detail, p) >= 0)
        return false;
    snprintf(r->why, r->room, "--cells: %s of %lld B with the number %lld makes no sense among %d processes; buffers "
             "hold at most %lld B, matchings need an even number of them, blocks have %d B, "
             "elements have 1 or 8",
             sk_p2p_names[cell->kind], (long long)cell->size, (long long)cell->detail, p, (long long)SK_MOST_BYTES,
             SK_STRIDED_BYTES);
    return true;
}

int sk_p2p_cells_read(const char *text, int p, struct sk_p2p_cell *cells, int most, char *why, size_t room)
{
    static int64_t sizes[MOST_NUMBERS], details[MOST_NUMBERS];
    struct reading r = {text, why, room};
    int n = 0;
    do {
        int kind = read_kind(&r);
        if (kind < 0)
            return -1;
        if (!took(&r, ':'))
            return refused(&r, "a colon is needed", r.at);
        int n_sizes = read_numbers(&r, sizes), n_details = 1;
        details[0] = 0;
        if (n_sizes > 0 && took(&r, '@'))
            n_details = read_numbers(&r, details);
        if (n_sizes < 0 || n_details < 0)
            return -1;
        for (int i = 0; i < n_sizes * n_details; i++, n++) {
            struct sk_p2p_cell cell = {(enum sk_p2p_kind)kind, sizes[i / n_details], details[i % n_details]};
            if (refused_cell(&r, &cell, p))
                return -1;
            if (n < most)
                cells[n] = cell;
        }
    } while (took(&r, '/') && (skip_blanks(&r), *r.at != '\0'));
    skip_blanks(&r);
    return *r.at == '\0' ? n : refused(&r, "the text goes on", r.at);
}
