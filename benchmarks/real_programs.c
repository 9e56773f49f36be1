/* Eight small MPI programs in one, to be run in virtual time: real_programs NAME. Each has its phases as regions.
 * Work and data are of one process's size (weak scaling), but for those that end in "-strong", which divide it. */
#include <math.h>
#include <mpi.h>
#include <scalkit/region.h>

static int rank, size;

static void *room(size_t count, size_t each)
{
    void *found = calloc(count ? count : 1, each);
    if (!found)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return found;
}

static void exchange(double *x, int n) /* x[-1] and x[n] are the neighbours' */
{
    int left = rank ? rank - 1 : MPI_PROC_NULL, right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(x, 1, MPI_DOUBLE, left, 0, x + n, 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(x + n - 1, 1, MPI_DOUBLE, right, 1, x - 1, 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double product(const double *a, const double *b, int n)
{
    double mine = 0, all;
    for (int k = 0; k < n; k++)
        mine += a[k] * b[k];
    SK_REGION_BEGIN("product");
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    SK_REGION_END("product");
    return all;
}

static void gradients(int n) /* conjugate gradients for a tridiagonal matrix */
{
    double *x = room(n, 8), *r = room(n, 8), *q = room(n, 8), *p = (double *)room(n + 2, 8) + 1;
    for (int k = 0; k < n; k++)
        r[k] = p[k] = 1;
    double square = product(r, r, n);
    for (int step = 0; step < 10; step++) {
        SK_REGION_BEGIN("halo");
        exchange(p, n);
        SK_REGION_END("halo");
        SK_REGION_BEGIN("matrix");
        for (int k = 0; k < n; k++)
            q[k] = 2.1 * p[k] - p[k - 1] - p[k + 1];
        SK_REGION_END("matrix");
        double a = square / product(p, q, n);
        for (int k = 0; k < n; k++)
            x[k] += a * p[k], r[k] -= a * q[k];
        double next = product(r, r, n);
        for (int k = 0; k < n; k++)
            p[k] = r[k] + next / square * p[k];
        square = next;
    }
}

static void transform(int n) /* the transposition and the lines of a two-dimensional Fourier transform */
{
    double *from = room((size_t)n * size, 8), *to = room((size_t)n * size, 8);
    for (int step = 0; step < 3; step++) {
        SK_REGION_BEGIN("lines");
        for (int k = 0; k < n * size; k++)
            from[k] = sin(from[k] + k);
        SK_REGION_END("lines");
        SK_REGION_BEGIN("transpose");
        MPI_Alltoall(from, n, MPI_DOUBLE, to, n, MPI_DOUBLE, MPI_COMM_WORLD);
        SK_REGION_END("transpose");
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void sample_sort(int n)
{
    double *x = room(n, 8), *sample = room((size_t)size * size, 8), *mine = room(size, 8);
    int *counts = room(size, 4), *starts = room(size, 4), *theirs = room(size, 4), *places = room(size, 4);
    for (int k = 0; k < n; k++)
        x[k] = fmod(sin(rank * n + k + 1) * 1e4, 1);
    SK_REGION_BEGIN("local sort");
    qsort(x, n, 8, compare);
    SK_REGION_END("local sort");
    SK_REGION_BEGIN("splitters");
    for (int k = 0; k < size; k++)
        mine[k] = x[(size_t)k * n / size];
    MPI_Allgather(mine, size, MPI_DOUBLE, sample, size, MPI_DOUBLE, MPI_COMM_WORLD);
    qsort(sample, (size_t)size * size, 8, compare);
    SK_REGION_END("splitters");
    for (int k = 0, to = 0; k < n; k++) {
        while (to + 1 < size && x[k] >= sample[(size_t)(to + 1) * size])
            to++;
        counts[to]++;
    }
    SK_REGION_BEGIN("counts");
    MPI_Alltoall(counts, 1, MPI_INT, theirs, 1, MPI_INT, MPI_COMM_WORLD);
    SK_REGION_END("counts");
    int total = 0;
    for (int k = 0, start = 0; k < size; start += counts[k++])
        starts[k] = start, places[k] = total, total += theirs[k];
    double *sorted = room(total, 8);
    SK_REGION_BEGIN("values");
    MPI_Alltoallv(x, counts, starts, MPI_DOUBLE, sorted, theirs, places, MPI_DOUBLE, MPI_COMM_WORLD);
    SK_REGION_END("values");
    SK_REGION_BEGIN("merge");
    qsort(sorted, total, 8, compare);
    SK_REGION_END("merge");
}

static void bodies(int n) /* all forces, the bodies going round a ring */
{
    double *mine = room(n, 8), *guests = room(n, 8), *force = room(n, 8);
    for (int k = 0; k < n; k++)
        mine[k] = guests[k] = rank + k / (double)n;
    for (int step = 0; step < size; step++) {
        SK_REGION_BEGIN("forces");
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                double d = mine[i] - guests[j];
                force[i] += d / sqrt(d * d * d * d + 1e-3);
            }
        SK_REGION_END("forces");
        SK_REGION_BEGIN("ring");
        MPI_Sendrecv_replace(guests, n, MPI_DOUBLE, (rank + 1) % size, 0, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
        SK_REGION_END("ring");
    }
}

static void pipeline(int n) /* a recurrence along all processes, block by block */
{
    double *x = room(n, 8), edge = 0;
    for (int block = 0; block < 8; block++) {
        SK_REGION_BEGIN("wait");
        if (rank)
            MPI_Recv(&edge, 1, MPI_DOUBLE, rank - 1, block, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        SK_REGION_END("wait");
        for (int k = 0; k < n; k++)
            edge = x[k] = 0.5 * (edge + cos(x[k]));
        if (rank + 1 < size)
            MPI_Send(&edge, 1, MPI_DOUBLE, rank + 1, block, MPI_COMM_WORLD);
    }
}

static void tasks(int n) /* process 0 hands out four tasks for each process */
{
    double result = 0;
    int left = 4 * size, at_work = 0, task;
    SK_REGION_BEGIN("master-worker");
    if (rank == 0) {
        MPI_Status from;
        for (int to = 1; to < size; to++, at_work++, left--)
            MPI_Send(&left, 1, MPI_INT, to, 1, MPI_COMM_WORLD);
        while (at_work) {
            MPI_Recv(&result, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &from);
            if (left-- > 0)
                MPI_Send(&left, 1, MPI_INT, from.MPI_SOURCE, 1, MPI_COMM_WORLD);
            else
                MPI_Send(&left, 0, MPI_INT, from.MPI_SOURCE, 2, MPI_COMM_WORLD), at_work--;
        }
    } else {
        MPI_Status what;
        while (MPI_Recv(&task, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &what), what.MPI_TAG == 1) {
            for (int k = 0; k < 4 * n; k++)
                result += sin(k + task);
            MPI_Send(&result, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        }
    }
    SK_REGION_END("master-worker");
}

static void files(int n) /* process 0 reads, everybody gets a part, the results come back */
{
    double *all = rank ? NULL : room((size_t)n * size, 8), *mine = room(n, 8);
    SK_REGION_BEGIN("read");
    for (size_t k = 0; all && k < (size_t)n * size; k++)
        all[k] = sqrt((double)k);
    SK_REGION_END("read");
    SK_REGION_BEGIN("scatter");
    MPI_Scatter(all, n, MPI_DOUBLE, mine, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    SK_REGION_END("scatter");
    SK_REGION_BEGIN("work");
    for (int k = 0; k < n; k++)
        mine[k] = exp(-mine[k]);
    SK_REGION_END("work");
    SK_REGION_BEGIN("gather");
    MPI_Gather(mine, n, MPI_DOUBLE, all, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    SK_REGION_END("gather");
}

static void multiply(int n) /* rows of A stay, B is broadcast block by block */
{
    double *a = room((size_t)n * n, 8), *b = room((size_t)n * n, 8), *c = room((size_t)n * n, 8);
    for (int step = 0; step < size; step++) {
        SK_REGION_BEGIN("broadcast");
        MPI_Bcast(b, n * n, MPI_DOUBLE, step, MPI_COMM_WORLD);
        SK_REGION_END("broadcast");
        SK_REGION_BEGIN("blocks");
        for (int i = 0; i < n; i++)
            for (int k = 0; k < n; k++)
                for (int j = 0; j < n; j++)
                    c[i * n + j] += a[i * n + k] * b[k * n + j];
        SK_REGION_END("blocks");
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(int n);
        int weak, strong;
    } programs[] = {
        {"gradients", gradients, 4000, 200000},
        {"transform", transform, 64, 8000},
        {"sample_sort", sample_sort, 4000, 100000},
        {"bodies", bodies, 60, 1500},
        {"pipeline", pipeline, 2000, 60000},
        {"tasks", tasks, 300, 20000},
        {"files", files, 1000, 100000},
        {"multiply", multiply, 24, 0},
    };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *asked = argc > 1 ? argv[1] : "", *kind = strchr(asked, '-');
    size_t letters = kind ? (size_t)(kind - asked) : strlen(asked);
    int found = 0;
    for (size_t k = 0; k < sizeof programs / sizeof *programs; k++)
        if (!strncmp(asked, programs[k].name, letters) && !programs[k].name[letters]) {
            programs[k].run(kind ? programs[k].strong / size : programs[k].weak);
            found = 1;
        }
    if (!found)
        fprintf(stderr, "real_programs: there is no program '%s'.\n", asked);
    MPI_Finalize();
    return found ? 0 : 2;
}
