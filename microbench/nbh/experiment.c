#include "nbh/experiment.h"

#include "base/alloc.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const sk_nbh_names[SK_NBH_OPS] = {
#define SK_NBH(id, name, kind, call) name,
#include "nbh/operations.def"
#undef SK_NBH
};
const enum sk_nbh_kind sk_nbh_kinds[SK_NBH_OPS] = {
#define SK_NBH(id, name, kind, call) kind,
#include "nbh/operations.def"
#undef SK_NBH
};
const char *const sk_constructor_names[SK_CONSTRUCTORS] = {"MPI_Cart_create", "MPI_Dist_graph_create",
                                                           "MPI_Dist_graph_create_adjacent"};

enum column { EXPERIMENT, OPERATION, DATATYPE, SIZE, REPETITIONS, WORK, TOPOLOGY, N_DIM, N_FINITE, RADIUS, REORDER,
              CONSTRUCTOR, ORDER, P, COLUMNS };
static const char *const column_names[COLUMNS] = {
    "experiment", "operation", "datatype", "size", "repetitions", "work", "topology", "n_dim", "n_finite", "radius",
    "reorder", "constructor", "order", "p"};

struct reader {
    const char *name; /* of the file */
    int line, p;
    int place[COLUMNS]; /* which field of a row; -1 if there is no such column */
    char *fields[COLUMNS];
    char *why;
    size_t room;
};

bool sk_experiment_has_neighbours(const struct sk_experiment *x)
{
    return sk_nbh_kinds[x->op] <= SK_NBH_IEXCHANGE;
}

bool sk_experiment_is_nonblocking(const struct sk_experiment *x)
{
    return sk_nbh_kinds[x->op] == SK_NBH_IGATHER || sk_nbh_kinds[x->op] == SK_NBH_IEXCHANGE;
}

struct sk_neighbourhood sk_experiment_neighbourhood(const struct sk_experiment *x, int p, uint64_t seed)
{
    struct sk_neighbourhood found = {.topology = x->topology, .n_dim = x->n_dim, .n_finite = x->n_finite, .p = p,
                                     .radius = x->radius, .order = x->order, .seed = seed};
    if (x->n_dim > 0)
        sk_balanced_dims(p, x->n_dim, found.dims);
    return found;
}

/* Says why the line is wrong; returns false. */
static bool refuse(const struct reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool refuse(const struct reader *r, const char *format, ...)
{
    int used = snprintf(r->why, r->room, "%s, line %d: ", r->name, r->line);
    va_list arguments;
    va_start(arguments, format);
    if (used > 0 && (size_t)used < r->room)
        vsnprintf(r->why + used, r->room - (size_t)used, format, arguments);
    va_end(arguments);
    return false;
}

/* Cuts a line at its commas, blanks around fields removed; returns how many there are, at most `most` are kept. */
static int cut(char *line, char **fields, int most)
{
    int n = 0;
    for (char *field = line; field;) {
        char *comma = strchr(field, ',');
        if (comma)
            *comma = '\0';
        field += strspn(field, " \t");
        size_t length = strlen(field);
        while (length > 0 && strchr(" \t\r", field[length - 1]))
            field[--length] = '\0';
        if (n < most)
            fields[n] = field;
        n++;
        field = comma ? comma + 1 : NULL;
    }
    return n;
}

static const char *value(const struct reader *r, enum column column)
{
    return r->place[column] >= 0 ? r->fields[r->place[column]] : "";
}

static bool is_empty(const struct reader *r, enum column column)
{
    return value(r, column)[0] == '\0';
}

static bool read_number(const struct reader *r, enum column column, int64_t least, int64_t most, int64_t *number)
{
    const char *text = value(r, column);
    char *end = NULL;
    errno = 0;
    long long found = strtoll(text, &end, 10);
    if (errno || end == text || *end || found < least || found > most)
        return refuse(r, "%s is '%s'; a whole number from %lld to %lld is needed", column_names[column], text,
                      (long long)least, (long long)most);
    *number = found;
    return true;
}

static bool read_small(const struct reader *r, enum column column, int least, int most, int *number)
{
    int64_t found = 0;
    bool ok = read_number(r, column, least, most, &found);
    *number = (int)found;
    return ok;
}

/* Looks a word up in `names`; `found` keeps its value if the field is empty. */
static bool read_name(const struct reader *r, enum column column, const char *const *names, int n, int *found)
{
    const char *text = value(r, column);
    char known[1024] = "";
    size_t used = 0;
    for (int i = 0; i < n && *text; i++) {
        if (strcmp(text, names[i]) == 0) {
            *found = i;
            return true;
        }
        int more = snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", names[i]);
        used += more > 0 && used + (size_t)more < sizeof known ? (size_t)more : 0;
    }
    return !*text || refuse(r, "the %s '%s' is unknown; choose from %s", column_names[column], text, known);
}

static bool must_be_empty(const struct reader *r, enum column column, const char *of)
{
    return is_empty(r, column) || refuse(r, "%s is '%s', and %s has none; leave it empty", column_names[column],
                                         value(r, column), of);
}

static bool read_names(const struct reader *r, struct sk_experiment *x)
{
    int op = -1, datatype = SK_BYTE, topology = SK_NO_TOPOLOGY, constructor = SK_NOT_BUILT, order = SK_NO_ORDER;
    if (!read_name(r, OPERATION, sk_nbh_names, SK_NBH_OPS, &op) ||
        !read_name(r, DATATYPE, sk_datatype_names, SK_DATATYPES, &datatype) ||
        !read_name(r, TOPOLOGY, sk_topology_names, SK_TOPOLOGIES, &topology) ||
        !read_name(r, CONSTRUCTOR, sk_constructor_names, SK_CONSTRUCTORS, &constructor) ||
        !read_name(r, ORDER, sk_order_names, SK_NEIGHBOUR_ORDERS, &order))
        return false;
    if (op < 0)
        return refuse(r, "the operation is missing; name one, such as %s", sk_nbh_names[0]);
    x->op = (enum sk_nbh_op)op;
    x->datatype = (enum sk_datatype)datatype;
    x->topology = (enum sk_topology)topology;
    x->constructor = (enum sk_constructor)constructor;
    x->order = (enum sk_neighbour_order)order;
    return true;
}

static bool read_numbers(const struct reader *r, struct sk_experiment *x, int64_t repetitions)
{
    int64_t p = r->p;
    x->repetitions = repetitions;
    if ((!is_empty(r, EXPERIMENT) && !read_number(r, EXPERIMENT, 0, INT64_MAX, &x->number)) ||
        (!is_empty(r, REPETITIONS) && !read_number(r, REPETITIONS, 1, 1000000, &x->repetitions)) ||
        (!is_empty(r, WORK) && !read_number(r, WORK, 0, INT64_MAX, &x->work)) ||
        (!is_empty(r, REORDER) && !read_small(r, REORDER, 0, 1, &x->reorder)) ||
        (!is_empty(r, P) && !read_number(r, P, 1, INT_MAX, &p)))
        return false;
    if (p != r->p)
        return refuse(r, "p is %lld, and the launch has %d processes; start as many, or leave the row out",
                      (long long)p, r->p);
    return true;
}

/* Dimensions, radius and order, as far as the topology has them. */
static bool read_grid(const struct reader *r, struct sk_experiment *x)
{
    const char *name = sk_topology_names[x->topology];
    bool is_masked = x->topology == SK_MOORE || x->topology == SK_VONNEUMANN;
    if (x->topology == SK_FULL && !(must_be_empty(r, N_DIM, name) && must_be_empty(r, N_FINITE, name)))
        return false;
    if (x->topology != SK_FULL &&
        !(read_small(r, N_DIM, 1, SK_MOST_DIMS, &x->n_dim) &&
          (is_empty(r, N_FINITE) || read_small(r, N_FINITE, 0, x->n_dim, &x->n_finite))))
        return false;
    if (is_masked ? !read_small(r, RADIUS, 1, INT_MAX / 4, &x->radius) : !must_be_empty(r, RADIUS, name))
        return false;
    bool fits = x->topology == SK_CART ? x->order == SK_NO_ORDER
                : is_masked            ? x->order <= SK_RAND
                                       : x->order == SK_LINEAR || x->order == SK_RAND;
    return fits || refuse(r, "the order is '%s'; %s is needed by the topology %s", value(r, ORDER),
                          x->topology == SK_CART ? "none" : is_masked ? "fmaj, lmaj or rand" : "linear or rand", name);
}

static bool require_room(const struct reader *r, const struct sk_experiment *x)
{
    struct sk_neighbourhood grid = sk_experiment_neighbourhood(x, r->p, 0);
    int least = x->n_dim > 0 ? grid.dims[x->n_dim - 1] : r->p;
    int64_t blocks = x->topology == SK_CART ? 2 * (int64_t)x->n_dim : r->p;
    if (x->radius > 0) {
        blocks = sk_cube(x->radius, x->n_dim);
        if (x->radius > least && x->radius > 1)
            return refuse(r, "the radius %d is larger than the grid of %d processes in %d dimensions, which has %d in "
                          "one of them; choose a smaller one, more processes or fewer dimensions", x->radius, r->p,
                          x->n_dim, least);
        if (blocks > SK_MOST_NEIGHBOURS)
            return refuse(r, "a radius of %d in %d dimensions gives more than %d neighbours; choose a smaller one",
                          x->radius, x->n_dim, SK_MOST_NEIGHBOURS);
    }
    int64_t most = INT_MAX / blocks;
    return x->size <= most || refuse(r, "the size %lld is too large for %lld neighbours: at most %lld bytes to each",
                                     (long long)x->size, (long long)blocks, (long long)most);
}

static bool read_size(const struct reader *r, struct sk_experiment *x)
{
    int64_t width = (int64_t)sk_datatype_bytes(x->datatype);
    if (!read_number(r, SIZE, 1, INT_MAX, &x->size))
        return false;
    return x->size % width == 0 || refuse(r, "the size %lld is no multiple of the %lld bytes of datatype %s",
                                          (long long)x->size, (long long)width, sk_datatype_names[x->datatype]);
}

/* A constructor that fits the topology; without one, the usual. */
static bool settle_constructor(const struct reader *r, struct sk_experiment *x)
{
    enum sk_constructor usual = x->topology == SK_CART ? SK_BY_CART : SK_BY_ADJACENT;
    if (x->constructor == SK_NOT_BUILT)
        x->constructor = usual;
    return (x->constructor == SK_BY_CART) == (usual == SK_BY_CART) ||
           refuse(r, "the constructor is %s, which does not make the topology %s; leave it empty",
                  sk_constructor_names[x->constructor], sk_topology_names[x->topology]);
}

static bool settle_creation(const struct reader *r, struct sk_experiment *x)
{
    const char *name = sk_nbh_names[x->op];
    if (!must_be_empty(r, CONSTRUCTOR, name) || !must_be_empty(r, SIZE, name) || !must_be_empty(r, WORK, name))
        return false;
    x->constructor = x->op == SK_NBH_OP_CART_CREATE         ? SK_BY_CART
                     : x->op == SK_NBH_OP_DIST_GRAPH_CREATE ? SK_BY_GRAPH
                                                            : SK_BY_ADJACENT;
    return settle_constructor(r, x) && read_grid(r, x) && require_room(r, x);
}

/* A global collective: on a full topology as given, or on a communicator without one. */
static bool settle_global(const struct reader *r, struct sk_experiment *x)
{
    const char *name = sk_nbh_names[x->op];
    if (x->topology == SK_NO_TOPOLOGY)
        x->topology = SK_FULL;
    if (x->topology != SK_FULL)
        return refuse(r, "the topology is %s, and %s needs full, or none", sk_topology_names[x->topology], name);
    if (!read_size(r, x) || !must_be_empty(r, WORK, name))
        return false;
    if (x->constructor == SK_NOT_BUILT && is_empty(r, ORDER))
        return must_be_empty(r, N_DIM, "full") && must_be_empty(r, N_FINITE, "full") &&
               must_be_empty(r, RADIUS, "full") && must_be_empty(r, REORDER, "a communicator without topology") &&
               require_room(r, x);
    return settle_constructor(r, x) && read_grid(r, x) && require_room(r, x);
}

static bool settle(const struct reader *r, struct sk_experiment *x)
{
    static const enum column not_of_work[] = {SIZE, DATATYPE, TOPOLOGY, N_DIM, N_FINITE, RADIUS, REORDER, CONSTRUCTOR,
                                              ORDER};
    enum sk_nbh_kind kind = sk_nbh_kinds[x->op];
    if (kind == SK_NBH_WORK) {
        for (size_t i = 0; i < sizeof not_of_work / sizeof *not_of_work; i++)
            if (!must_be_empty(r, not_of_work[i], "work"))
                return false;
        return !is_empty(r, WORK) || refuse(r, "the work is missing; give its rounds");
    }
    if (kind == SK_NBH_ALL_GATHER || kind == SK_NBH_ALL_EXCHANGE)
        return settle_global(r, x);
    if (x->topology == SK_NO_TOPOLOGY)
        return refuse(r, "the topology is missing; %s needs cart, vonneumann, moore or full", sk_nbh_names[x->op]);
    if (kind == SK_NBH_CREATE)
        return settle_creation(r, x);
    if (!sk_experiment_is_nonblocking(x) && !must_be_empty(r, WORK, sk_nbh_names[x->op]))
        return false;
    return read_size(r, x) && settle_constructor(r, x) && read_grid(r, x) && require_room(r, x);
}

static bool read_head(struct reader *r, char *line)
{
    char *names[COLUMNS];
    int n = cut(line, names, COLUMNS);
    if (n > COLUMNS)
        return refuse(r, "there are %d columns, and at most %d are known", n, COLUMNS);
    for (int column = 0; column < COLUMNS; column++)
        r->place[column] = -1;
    for (int i = 0; i < n; i++) {
        int column = 0;
        while (column < COLUMNS && strcmp(names[i], column_names[column]) != 0)
            column++;
        if (column == COLUMNS || r->place[column] >= 0)
            return refuse(r, "the column '%s' is %s", names[i], column == COLUMNS ? "unknown" : "there twice");
        r->place[column] = i;
    }
    return r->place[OPERATION] >= 0 || refuse(r, "there is no column 'operation'; the first line names the columns");
}

static int columns(const struct reader *r)
{
    int n = 0;
    for (int column = 0; column < COLUMNS; column++)
        n += r->place[column] >= 0;
    return n;
}

static bool read_row(struct reader *r, char *line, struct sk_table *table, int64_t repetitions)
{
    int n = cut(line, r->fields, COLUMNS), wanted = columns(r);
    if (n != wanted)
        return refuse(r, "there are %d fields, and the first line names %d columns", n, wanted);
    struct sk_experiment x = {.line = r->line, .number = table->n};
    if (!read_names(r, &x) || !read_numbers(r, &x, repetitions) || !settle(r, &x))
        return false;
    table->rows = sk_grow(table->rows, (size_t)table->n * sizeof x, (size_t)(table->n + 1) * sizeof x);
    table->rows[table->n++] = x;
    return true;
}

bool sk_table_read(struct sk_table *table, const char *name, char *text, int p, int64_t repetitions, char *why,
                   size_t room)
{
    struct reader r = {.name = name, .p = p, .why = why, .room = room};
    bool has_head = false;
    *table = (struct sk_table){0};
    for (char *line = text; line && *line;) {
        char *end = strchr(line, '\n');
        if (end)
            *end = '\0';
        r.line++;
        bool is_blank = line[strspn(line, " \t\r")] == '\0';
        if (!is_blank && !(has_head ? read_row(&r, line, table, repetitions) : read_head(&r, line)))
            return false;
        has_head = has_head || !is_blank;
        line = end ? end + 1 : NULL;
    }
    r.line += r.line == 0;
    return table->n > 0 || refuse(&r, "there are no experiments; each line after the first is one");
}

void sk_table_free(struct sk_table *table)
{
    sk_free(table->rows);
    *table = (struct sk_table){0};
}
