// Sorts, copies and fills: what google_benchmark.json has measured.
#include <benchmark/benchmark.h>
#include <algorithm>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

static std::vector<int> numbers(std::size_t n) {
  std::mt19937 random(1);
  std::vector<int> values(n);
  for (auto& value : values) value = static_cast<int>(random());
  return values;
}

static void BM_Sort(benchmark::State& state) {
  const auto values = numbers(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    auto copy = values;
    std::sort(copy.begin(), copy.end());
    benchmark::DoNotOptimize(copy.data());
  }
  state.SetComplexityN(state.range(0));
}
BENCHMARK(BM_Sort)->RangeMultiplier(4)->Range(256, 65536)->Complexity(benchmark::oNLogN);

static void BM_InsertionSort(benchmark::State& state) {
  const auto values = numbers(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    auto copy = values;
    for (auto i = copy.begin(); i != copy.end(); ++i) std::rotate(std::upper_bound(copy.begin(), i, *i), i, i + 1);
    benchmark::DoNotOptimize(copy.data());
  }
}
BENCHMARK(BM_InsertionSort)->ArgName("size")->RangeMultiplier(4)->Range(64, 16384)->UseRealTime();

static void BM_Copy(benchmark::State& state) {
  std::vector<char> from(static_cast<std::size_t>(state.range(0) * state.range(1))), to(from.size());
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), from.size());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_Copy)->ArgNames({"rows", "size"})->ArgsProduct({{8, 64}, {64, 256, 1024, 4096, 16384}})->Unit(benchmark::kMicrosecond);

template <class T> static void BM_Fill(benchmark::State& state) {
  std::vector<T> values(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    std::fill(values.begin(), values.end(), T{1});
    benchmark::ClobberMemory();
  }
}
BENCHMARK_TEMPLATE(BM_Fill, int)->RangeMultiplier(4)->Range(256, 65536);

static void BM_Refused(benchmark::State& state) {
  state.SkipWithError("there is no such device");
  for (auto _ : state) {}
}
BENCHMARK(BM_Refused)->Arg(8)->Arg(64);

static void BM_Nothing(benchmark::State& state) {
  for (auto _ : state) benchmark::ClobberMemory();
}
BENCHMARK(BM_Nothing);
BENCHMARK(BM_Nothing)->ThreadRange(1, 2);

BENCHMARK_MAIN();
