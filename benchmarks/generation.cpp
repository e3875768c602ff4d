// How long does one rank need for its own program, and how large is that? Google Benchmark over the algorithm table.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "colltopo/algorithms.h"

namespace {

using colltopo::Algorithm;
using colltopo::AlgorithmOptions;
using colltopo::Collective;
using colltopo::Shape;

struct Case {
  const char* algorithm;
  Collective collective;
  AlgorithmOptions options;
};

AlgorithmOptions with_radix(int radix) {
  AlgorithmOptions options;
  options.values.set("radix", radix);
  return options;
}

AlgorithmOptions on_torus(std::vector<int> sides) {
  AlgorithmOptions options;
  options.dimensions = std::move(sides);
  return options;
}

AlgorithmOptions in_groups(int group) {
  AlgorithmOptions options;
  options.values.set("group", group);
  return options;
}

void make_program(benchmark::State& state, const Case& wanted) {
  const Algorithm& algorithm = *colltopo::algorithm_named(wanted.algorithm);
  Shape shape{wanted.collective, static_cast<colltopo::Rank>(state.range(0)), 1, 0};
  shape.chunks = algorithm.chunks(shape, wanted.options);
  std::size_t ops = 0, runs = 0;
  for (auto _ : state) {
    const colltopo::Program program = algorithm.program(shape, shape.ranks / 3, wanted.options);
    ops = program.size();
    runs = 0;
    for (std::size_t i = 0; i < ops; ++i) runs += program.op(i).source.size() + program.op(i).target.size();
    benchmark::DoNotOptimize(runs);
  }
  state.counters["ops"] = static_cast<double>(ops);
  state.counters["runs"] = static_cast<double>(runs);
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int k_ranks = 16384;
  const std::vector<Case> cases = {
      {"tra", Collective::alltoall, with_radix(2)},
      {"tra", Collective::alltoall, with_radix(128)},
      {"tra2", Collective::alltoall, in_groups(64)},
      {"linear", Collective::alltoall, {}},
      {"ring", Collective::allreduce, {}},
      {"recursive-halving", Collective::allreduce, {}},
      {"swing", Collective::allreduce, on_torus({128, 128})},
      {"bucket", Collective::allreduce, on_torus({128, 128})},
  };
  for (const Case& one : cases) {
    const Shape shape{one.collective, k_ranks, 1, 0};
    const std::string details = colltopo::algorithm_named(one.algorithm)->describe(shape, one.options);
    benchmark::RegisterBenchmark((std::string(one.algorithm) + " " + details).c_str(), make_program, one)
        ->Arg(k_ranks)
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
