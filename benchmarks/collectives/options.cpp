#include "options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <limits>
#include <map>
#include <stdexcept>

#include "sizes.h"

namespace colltopo::bench {

namespace {

constexpr const char* k_about =
    "Times collectives of this MPI job, one algorithm or several against each other, and checks their results.\n"
    "Run it under mpirun. BYTES is what a rank has for each other rank (alltoall), contributes (allgather, gather), "
    "receives\n"
    "(reduce_scatter, reduce_scatter_block, scatter), or the whole vector (allreduce, bcast, reduce).\n"
    "An algorithm is a name of coll/topo with options (tra:radix=4, tra2:group=4, swing, file:PATH), auto (what "
    "coll/topo\n"
    "chooses), fallback (coll/topo passing every call on), native (Open MPI without coll/topo) or set (as the job's "
    "parameters say).\n"
    "A@nonblocking is a non-blocking call of A and its wait, A@persistent a start and a wait.\n"
    "Exit status: 0 good, 1 a value is wrong or another module than asked for served the calls, 2 usage.";

std::vector<Kind> kinds_from(const std::string& text) {
  std::vector<Kind> chosen;
  for (const std::string& part : parts_between_commas(text)) {
    if (part == "all") {
      for (const KindName& kind : kinds()) chosen.push_back(kind.kind);
      continue;
    }
    const auto found = std::find_if(kinds().begin(), kinds().end(), [&](const KindName& k) { return part == k.name; });
    if (found == kinds().end()) {
      std::string known = "all";
      for (const KindName& kind : kinds()) known += fmt::format(" {}", kind.name);
      throw std::invalid_argument(fmt::format("--collective \"{}\" is not one of {}", part, known));
    }
    chosen.push_back(found->kind);
  }
  return chosen;
}

std::vector<std::string> versus_from(const std::string& text) {
  std::vector<std::string> rivals = parts_between_commas(text);
  if (rivals.size() < 2)
    throw std::invalid_argument(
        fmt::format("--versus \"{}\" names {} algorithms, not two or more", text, rivals.size()));
  return rivals;
}

void check_options(const Options& options, int ranks) {
  if (options.root < 0 || options.root >= ranks)
    throw std::invalid_argument(fmt::format("--root {} is not in 0..{}", options.root, ranks - 1));
  if (!options.record.empty()) {
    if (!options.versus || options.collectives.size() != 1 || options.sizes.size() != 1)
      throw std::invalid_argument("--record needs --versus, one collective and one size: a file is one cell");
    if (options.algorithms.back() != "native")
      throw std::invalid_argument(
          fmt::format("--record needs native as the last algorithm, not {}", options.algorithms.back()));
  }
  const bool bitwise = options.reduction >= Reduction::band;
  for (const std::size_t bytes : options.sizes) {
    const Element element = element_for(options, bytes);
    if (bytes / size_of(element) > static_cast<std::size_t>(std::numeric_limits<int>::max()))
      throw std::invalid_argument(
          fmt::format("--bytes {} has more elements of {} than an int counts", size_text(bytes), name_of(element)));
    if (bitwise && !is_integer(element))
      throw std::invalid_argument(
          fmt::format("--op: bitwise operations need --type int8, int32 or int64, not {}", name_of(element)));
  }
}

}  // namespace

Element element_for(const Options& options, std::size_t bytes) {
  if (!options.element) return bytes % 8 == 0 ? Element::float64 : bytes % 4 == 0 ? Element::int32 : Element::int8;
  if (bytes % size_of(*options.element) != 0)
    throw std::invalid_argument(fmt::format("--bytes {} is not a multiple of the {} bytes of {}", size_text(bytes),
                                            size_of(*options.element), name_of(*options.element)));
  return *options.element;
}

Parsed parse(int argc, char** argv, int rank, int ranks) {
  Options options;
  std::string collectives = "all";
  std::string sizes = "8,1K,64K";
  std::string algorithm = "auto";
  std::string versus;
  const std::map<std::string, Element> types = {{"int8", Element::int8},
                                                {"int32", Element::int32},
                                                {"int64", Element::int64},
                                                {"float", Element::float32},
                                                {"double", Element::float64}};
  const std::map<std::string, Reduction> reductions = {
      {"sum", Reduction::sum},   {"prod", Reduction::prod}, {"min", Reduction::min},  {"max", Reduction::max},
      {"band", Reduction::band}, {"bor", Reduction::bor},   {"bxor", Reduction::bxor}};

  const std::map<std::string, Spread> spreads = {
      {"equal", Spread::equal},   {"uneven", Spread::uneven}, {"skewed", Spread::skewed},     {"huge", Spread::huge},
      {"sparse", Spread::sparse}, {"hot", Spread::hot},       {"diagonal", Spread::diagonal}, {"slabs", Spread::slabs},
      {"halo", Spread::halo},     {"near", Spread::near}};

  CLI::App app{k_about, "colltopo-bench"};
  app.add_option("--collective", collectives, "C[,C...] or all")->capture_default_str();
  app.add_option("--bytes", sizes, "sizes, as 8,1K,4M, or doubling ranges, as 8:1M")->capture_default_str();
  const auto alone = app.add_option("--algorithm", algorithm, "algorithms measured one after the other: A[,A...]")
                         ->capture_default_str();
  app.add_option("--versus", versus, "two algorithms or more in alternating blocks: A,B[,C...]")->excludes(alone);
  app.add_flag("--check", options.check, "compare every element of every rank with values computed by hand");
  app.add_flag("--json", options.json, "one JSON object on standard output");
  app.add_option("--iterations", options.effort.calls, "timed calls per algorithm and size; 0: about 0.3 s of them")
      ->check(CLI::Range(0L, 100000000L))
      ->capture_default_str();
  app.add_option("--warmup", options.effort.warmup, "calls before them")
      ->check(CLI::Range(0L, 1000000L))
      ->capture_default_str();
  app.add_option("--settle", options.settle, "calls before those of algorithms that choose (auto, set): for trials")
      ->check(CLI::Range(0L, 1000000L))
      ->capture_default_str();
  app.add_option(
         "--pause", options.effort.pause_s,
         "seconds between the barrier and the calls that are timed: where queues are deep, the data of ranks that "
         "leave it first would hold up its last messages")
      ->check(CLI::Range(0.0, 10.0))
      ->capture_default_str();
  app.add_flag(
      "--together", options.effort.together,
      "a barrier between the calls, whose own time is measured and taken off: ranks may run ahead of each other in "
      "calls with a root");
  app.add_option("--type", options.element, "element type; else the widest of double, int32, int8 that divides BYTES")
      ->transform(CLI::CheckedTransformer(types));
  app.add_option("--op", options.reduction, "reduction")->transform(CLI::CheckedTransformer(reductions));
  app.add_option("--root", options.root, "of bcast, reduce, gather(v) and scatter(v)")->capture_default_str();
  app.add_option("--counts", options.spread,
                 "of calls whose blocks have sizes of their own, of which BYTES is the mean: equal, uneven (half to "
                 "three halves), skewed (Zipf), huge (one block a thousand times the others), sparse (one in eight), "
                 "hot (rank 0 has eight times as much), diagonal (within groups of ranks), slabs (of an uneven 3D "
                 "transform), near (the same, six planes each but for two ranks), halo (of a grid)")
      ->transform(CLI::CheckedTransformer(spreads));
  app.add_option(
      "--demand", options.demand,
      "write the bytes that ranks have for each other in an alltoallv of the first of BYTES to this file, for "
      "colltopo bound alltoallv and generate mcf");
  CLI::Option* const record = app.add_option(
      "--record", options.record,
      "write what calls take to this file, algorithms in turns of 26 calls, for colltopo-replay --series; the last "
      "algorithm must be native");
  app.add_option("--record-calls", options.record_calls, "of each algorithm, at least")
      ->check(CLI::Range(1L, 10000000L))
      ->needs(record)
      ->capture_default_str();
  app.add_option("--pace", options.pace, "coll_topo_pace of what coll/topo serves: free or steps");
  app.add_option(
         "--overlap", options.overlap,
         "also print how much of a non-blocking or persistent call is hidden behind computing twice as long, with "
         "one MPI_Test per 100 us: spin, or sleep where there are fewer processors than ranks")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, Computing>{{"spin", Computing::spin}, {"sleep", Computing::sleep}}));
  app.add_option("--overhead", options.overhead_communicators,
                 "also print what coll/topo costs: first and cached call, memory over N fresh communicators")
      ->expected(0, 1)
      ->default_str("32")
      ->check(CLI::Range(1, 1000));
  try {
    app.parse(argc, argv);
    options.collectives = kinds_from(collectives);
    options.sizes = sizes_from(sizes);
    options.versus = !versus.empty();
    options.algorithms = options.versus ? versus_from(versus) : parts_between_commas(algorithm);
    check_options(options, ranks);
  } catch (const CLI::ParseError& error) {
    if (rank == 0) app.exit(error);
    return {std::nullopt, error.get_exit_code() == 0 ? 0 : 2};
  } catch (const std::invalid_argument& error) {
    if (rank == 0) std::cerr << "colltopo-bench: " << error.what() << "\n";
    return {std::nullopt, 2};
  }
  return {options, 0};
}

}  // namespace colltopo::bench
