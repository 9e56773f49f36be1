// Forty kernels of usual C++ code, timed by the CPU clock at eight sizes over a factor of 128: one line
// "name,n,repetition,seconds" each.
//
// The largest size of a kernel is the one that takes a tenth of a second or more, so that the smallest fit into a cache
// and the largest need not. Build with -O2.

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <numeric>
#include <queue>
#include <random>
#include <regex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace
{

using Doubles = std::vector<double>;
using Ints = std::vector<int>;

volatile double sink;

Doubles noise(size_t n)
{
    std::mt19937_64 generator(n);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    Doubles found(n);
    for (double &x : found)
        x = uniform(generator);
    return found;
}

Ints shuffled(size_t n)
{
    Ints found(n);
    std::iota(found.begin(), found.end(), 0);
    std::shuffle(found.begin(), found.end(), std::mt19937_64(n));
    return found;
}

std::string letters(size_t n)
{
    std::mt19937_64 generator(n);
    std::string found(n, 'a');
    for (char &c : found)
        c = static_cast<char>('a' + generator() % 4);
    return found;
}

void fft(std::vector<std::complex<double>> &x)
{
    size_t n = x.size();
    if (n < 2)
        return;
    std::vector<std::complex<double>> even(n / 2), odd(n / 2);
    for (size_t k = 0; k < n / 2; k++)
        even[k] = x[2 * k], odd[k] = x[2 * k + 1];
    fft(even), fft(odd);
    for (size_t k = 0; k < n / 2; k++) {
        std::complex<double> turned = std::polar(1.0, -2 * M_PI * double(k) / double(n)) * odd[k];
        x[k] = even[k] + turned, x[k + n / 2] = even[k] - turned;
    }
}

int root(Ints &parent, int k)
{
    while (parent[k] != k)
        k = parent[k] = parent[parent[k]];
    return k;
}

// Each kernel makes its input for a size and returns what is timed.
using Made = std::function<std::function<void()>(size_t)>;

const std::vector<std::pair<const char *, Made>> kernels = {
    {"sort",
     [](size_t n) {
         return [x = noise(n)]() mutable {
             auto y = x;
             std::sort(y.begin(), y.end());
             sink = y[0];
         };
     }},
    {"stable_sort",
     [](size_t n) {
         return [x = noise(n)] {
             auto y = x;
             std::stable_sort(y.begin(), y.end());
             sink = y[0];
         };
     }},
    {"partial_sort",
     [](size_t n) {
         return [x = noise(n), n] {
             auto y = x;
             std::partial_sort(y.begin(), y.begin() + long(n / 10), y.end());
             sink = y[0];
         };
     }},
    {"nth_element",
     [](size_t n) {
         return [x = noise(n), n] {
             auto y = x;
             std::nth_element(y.begin(), y.begin() + long(n / 2), y.end());
             sink = y[0];
         };
     }},
    {"insertion_sort",
     [](size_t n) {
         return [x = noise(n)] {
             auto y = x;
             for (size_t i = 1; i < y.size(); i++)
                 for (size_t k = i; k && y[k] < y[k - 1]; k--)
                     std::swap(y[k], y[k - 1]);
             sink = y[0];
         };
     }},
    {"map_insert",
     [](size_t n) {
         return [x = shuffled(n)] {
             std::map<int, int> m;
             for (int k : x)
                 m[k] = k;
             sink = double(m.size());
         };
     }},
    {"unordered_map_insert",
     [](size_t n) {
         return [x = shuffled(n)] {
             std::unordered_map<int, int> m;
             for (int k : x)
                 m[k] = k;
             sink = double(m.size());
         };
     }},
    {"set_lookup",
     [](size_t n) {
         auto x = shuffled(n);
         return [x, s = std::set<int>(x.begin(), x.end())] {
             long hits = 0;
             for (int k : x)
                 hits += long(s.count(k));
             sink = double(hits);
         };
     }},
    {"priority_queue",
     [](size_t n) {
         return [x = noise(n)] {
             std::priority_queue<double> q;
             for (double v : x)
                 q.push(v);
             while (!q.empty())
                 sink = q.top(), q.pop();
         };
     }},
    {"push_back",
     [](size_t n) {
         return [n] {
             Ints v;
             for (size_t k = 0; k < n; k++)
                 v.push_back(int(k));
             sink = v.back();
         };
     }},
    {"list_walk",
     [](size_t n) {
         auto x = shuffled(n);
         return [l = std::list<int>(x.begin(), x.end())] {
             long s = 0;
             for (int k : l)
                 s += k;
             sink = double(s);
         };
     }},
    {"chase",
     [](size_t n) {
         return [x = shuffled(n)] {
             int at = 0;
             for (size_t k = 0; k < x.size(); k++)
                 at = x[size_t(at)] ^ (at & 1);
             sink = at;
         };
     }},
    {"gather",
     [](size_t n) {
         return [x = noise(n), at = shuffled(n)] {
             double s = 0;
             for (int k : at)
                 s += x[size_t(k)];
             sink = s;
         };
     }},
    {"accumulate", [](size_t n) { return [x = noise(n)] { sink = std::accumulate(x.begin(), x.end(), 0.0); }; }},
    {"prefix_sums",
     [](size_t n) {
         return [x = noise(n)] {
             Doubles y(x.size());
             std::partial_sum(x.begin(), x.end(), y.begin());
             sink = y.back();
         };
     }},
    {"shuffle",
     [](size_t n) {
         return [x = shuffled(n)] {
             auto y = x;
             std::shuffle(y.begin(), y.end(), std::mt19937(1));
             sink = y[0];
         };
     }},
    {"binary_searches",
     [](size_t n) {
         auto x = noise(n);
         auto y = x;
         std::sort(y.begin(), y.end());
         return [x, y] {
             long s = 0;
             for (double v : x)
                 s += std::lower_bound(y.begin(), y.end(), v) - y.begin();
             sink = double(s);
         };
     }},
    {"histogram",
     [](size_t n) {
         return [x = noise(n)] {
             Ints h(256);
             for (double v : x)
                 h[size_t(v * 256)]++;
             sink = h[3];
         };
     }},
    {"sieve",
     [](size_t n) {
         return [n] {
             std::vector<char> is(n + 1, 1);
             for (size_t p = 2; p * p <= n; p++)
                 if (is[p])
                     for (size_t k = p * p; k <= n; k += p)
                         is[k] = 0;
             sink = is[n];
         };
     }},
    {"union_find",
     [](size_t n) {
         return [x = shuffled(n)] {
             Ints parent(x.size());
             std::iota(parent.begin(), parent.end(), 0);
             for (size_t k = 0; k < x.size(); k++)
                 parent[size_t(root(parent, int(k)))] = root(parent, x[k]);
             sink = parent[0];
         };
     }},
    {"breadth_first",
     [](size_t n) {
         auto a = shuffled(4 * n);
         return [a, n] {
             std::vector<char> seen(n);
             std::queue<size_t> q;
             q.push(0);
             seen[0] = 1;
             size_t found = 0;
             while (!q.empty()) {
                 size_t at = q.front();
                 q.pop();
                 found++;
                 for (size_t k = 0; k < 4; k++) {
                     size_t to = size_t(a[4 * at + k]) % n;
                     if (!seen[to])
                         seen[to] = 1, q.push(to);
                 }
             }
             sink = double(found);
         };
     }},
    {"matmul",
     [](size_t n) {
         return [a = noise(n * n), b = noise(n * n), n] {
             Doubles c(n * n);
             for (size_t i = 0; i < n; i++)
                 for (size_t k = 0; k < n; k++)
                     for (size_t j = 0; j < n; j++)
                         c[i * n + j] += a[i * n + k] * b[k * n + j];
             sink = c[0];
         };
     }},
    {"matmul_columns",
     [](size_t n) {
         return [a = noise(n * n), b = noise(n * n), n] {
             Doubles c(n * n);
             for (size_t i = 0; i < n; i++)
                 for (size_t j = 0; j < n; j++) {
                     double s = 0;
                     for (size_t k = 0; k < n; k++)
                         s += a[i * n + k] * b[k * n + j];
                     c[i * n + j] = s;
                 }
             sink = c[0];
         };
     }},
    {"matvec",
     [](size_t n) {
         return [a = noise(n * n), x = noise(n), n] {
             Doubles y(n);
             for (size_t i = 0; i < n; i++)
                 for (size_t j = 0; j < n; j++)
                     y[i] += a[i * n + j] * x[j];
             sink = y[0];
         };
     }},
    {"transpose",
     [](size_t n) {
         return [a = noise(n * n), n] {
             Doubles b(n * n);
             for (size_t i = 0; i < n; i++)
                 for (size_t j = 0; j < n; j++)
                     b[j * n + i] = a[i * n + j];
             sink = b[1];
         };
     }},
    {"lu",
     [](size_t n) {
         return [a = noise(n * n), n] {
             auto m = a;
             for (size_t k = 0; k < n; k++)
                 for (size_t i = k + 1; i < n; i++) {
                     double f = m[i * n + k] / (m[k * n + k] + 1e-9);
                     for (size_t j = k; j < n; j++)
                         m[i * n + j] -= f * m[k * n + j];
                 }
             sink = m[n];
         };
     }},
    {"floyd_warshall",
     [](size_t n) {
         return [a = noise(n * n), n] {
             auto d = a;
             for (size_t k = 0; k < n; k++)
                 for (size_t i = 0; i < n; i++)
                     for (size_t j = 0; j < n; j++)
                         d[i * n + j] = std::min(d[i * n + j], d[i * n + k] + d[k * n + j]);
             sink = d[1];
         };
     }},
    {"stencil",
     [](size_t n) {
         return [a = noise(n * n), n] {
             Doubles b(n * n);
             for (size_t i = 1; i + 1 < n; i++)
                 for (size_t j = 1; j + 1 < n; j++)
                     b[i * n + j] =
                         0.25 * (a[i * n + j - 1] + a[i * n + j + 1] + a[(i - 1) * n + j] + a[(i + 1) * n + j]);
             sink = b[n];
         };
     }},
    {"life",
     [](size_t n) {
         return [a = shuffled(n * n), n] {
             Ints b(n * n);
             for (size_t i = 1; i + 1 < n; i++)
                 for (size_t j = 1; j + 1 < n; j++) {
                     int s = 0;
                     for (size_t k = i - 1; k <= i + 1; k++)
                         for (size_t l = j - 1; l <= j + 1; l++)
                             s += a[k * n + l] & 1;
                     b[i * n + j] = s == 3 || (s == 4 && (a[i * n + j] & 1));
                 }
             sink = b[n];
         };
     }},
    {"sparse_matvec",
     [](size_t n) {
         return [v = noise(8 * n), at = shuffled(8 * n), x = noise(n), n] {
             Doubles y(n);
             for (size_t i = 0; i < n; i++)
                 for (size_t k = 0; k < 8; k++)
                     y[i] += v[8 * i + k] * x[size_t(at[8 * i + k]) % n];
             sink = y[0];
         };
     }},
    {"nbody",
     [](size_t n) {
         return [x = noise(n), n] {
             Doubles f(n);
             for (size_t i = 0; i < n; i++)
                 for (size_t j = 0; j < n; j++) {
                     double d = x[i] - x[j];
                     f[i] += d / std::sqrt(d * d * d * d + 1e-3);
                 }
             sink = f[0];
         };
     }},
    {"closest_pair",
     [](size_t n) {
         return [x = noise(n)] {
             double best = 9;
             for (size_t i = 0; i < x.size(); i++)
                 for (size_t j = 0; j < i; j++)
                     best = std::min(best, std::abs(x[i] - x[j]));
             sink = best;
         };
     }},
    {"subsequence",
     [](size_t n) {
         return [a = letters(n), b = letters(n + 1), n] {
             Ints row(n + 2);
             for (size_t i = 0; i < n; i++) {
                 int corner = 0;
                 for (size_t j = 0; j <= n; j++) {
                     int above = row[j + 1];
                     row[j + 1] = a[i] == b[j] ? corner + 1 : std::max(above, row[j]);
                     corner = above;
                 }
             }
             sink = row[n + 1];
         };
     }},
    {"knapsack",
     [](size_t n) {
         return [x = shuffled(n), n] {
             Ints best(8 * n);
             for (size_t i = 0; i < n; i++) {
                 size_t w = size_t(x[i] % 64) + 1;
                 for (size_t c = 8 * n; c-- > w;)
                     best[c] = std::max(best[c], best[c - w] + x[i]);
             }
             sink = best.back();
         };
     }},
    {"fft",
     [](size_t n) {
         return [n] {
             std::vector<std::complex<double>> x(n, 1.0);
             fft(x);
             sink = x[0].real();
         };
     }},
    {"string_appended",
     [](size_t n) {
         return [n] {
             std::string s;
             for (size_t k = 0; k < n; k++)
                 s += char('a' + k % 26);
             sink = s[n / 2];
         };
     }},
    {"string_prefixed",
     [](size_t n) {
         return [n] {
             std::string s;
             for (size_t k = 0; k < n; k++)
                 s.insert(s.begin(), 'x');
             sink = s[0];
         };
     }},
    {"print_numbers",
     [](size_t n) {
         return [x = noise(n)] {
             char text[32];
             long s = 0;
             for (double v : x)
                 s += std::snprintf(text, sizeof text, "%.17g", v);
             sink = double(s);
         };
     }},
    {"substring",
     [](size_t n) {
         return [a = letters(n)] {
             size_t s = 0, at = 0;
             while ((at = a.find("abcab", at)) != std::string::npos)
                 s++, at++;
             sink = double(s);
         };
     }},
    {"regex",
     [](size_t n) {
         return [a = letters(n)] {
             std::regex wanted("ab+c");
             sink = double(std::distance(std::sregex_iterator(a.begin(), a.end(), wanted), std::sregex_iterator()));
         };
     }},
    {"deque_rotated",
     [](size_t n) {
         auto x = shuffled(n);
         return [x] {
             std::deque<int> d(x.begin(), x.end());
             for (size_t k = 0; k < x.size(); k++)
                 d.push_back(d.front()), d.pop_front();
             sink = d[0];
         };
     }},
    {"powers",
     [](size_t n) {
         return [x = noise(n)] {
             double s = 0;
             for (double v : x)
                 s += std::pow(v, 1.7) + std::sin(v);
             sink = s;
         };
     }},
};

double cpu()
{
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

double once(const std::function<void()> &call)
{
    for (long calls = 1;; calls *= 4) {
        double start = cpu();
        for (long k = 0; k < calls; k++)
            call();
        double taken = cpu() - start;
        if (taken > 5e-4 || calls > 1000000)
            return taken / double(calls);
    }
}

} // namespace

int main()
{
    for (const auto &[name, make] : kernels) {
        size_t most = 1024;
        while (most < (size_t{1} << 22) && once(make(most)) < 0.05)
            most *= 2;
        for (size_t n = most / 128; n <= most; n *= 2) {
            if (n < 8)
                continue;
            auto call = make(n);
            for (int repetition = 0; repetition < 5; repetition++)
                std::printf("%s,%zu,%d,%.9g\n", name, n, repetition, once(call));
        }
        std::fflush(stdout);
    }
}
