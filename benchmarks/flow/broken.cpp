// How much faster is a flow for a network that has lost links when it begins with the old one? `cold` begins with
// nothing, `routing` with the old schedule's routing, `lengths` also with the lengths that proved it.
//
//   colltopo-bench-broken [--threads 1] [--gap 0.01] [--links 1,3] [NETWORK...]
//
// One line of CSV for each. Processor seconds are those of the method alone: without reading and writing schedules.
#include <ctime>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "colltopo/chunking.h"
#include "colltopo/error.h"
#include "colltopo/synthesis.h"

namespace {

using namespace colltopo;

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void measure(const std::string& network, int links, const char* begin, const Topology& topology,
             const SynthesisOptions& options) {
  const double before = processor_seconds();
  const Synthesis made = routing_method_named("mcf")->make(topology, options);
  const double seconds = processor_seconds() - before;
  const std::uint64_t trees = std::accumulate(made.trees.begin(), made.trees.end(), std::uint64_t{0});
  fmt::print("{},{},{},{:.3f},{},{:.3g},{:.9g},{:.9g}\n", network, links, begin, seconds, trees, made.bound.gap(),
             made.bound.time, made.bound.time_lower);
  std::fflush(stdout);
}

void run(const std::string& network, const std::vector<int>& links, SynthesisOptions options) {
  const Topology whole = topology_of(network);
  const Synthesis old = routing_method_named("mcf")->make(whole, options);
  const Routing scheduled = chunked(whole, old.routing).routing;
  for (const int count : links) {
    const Topology broken = topology_of(fmt::format("{}/drop-links:{}:1", network, count));
    options.start = nullptr;
    options.start_lengths = {};
    measure(network, count, "cold", broken, options);
    const Routing start = carried_over(whole, scheduled, broken);
    options.start = &start;
    measure(network, count, "routing", broken, options);
    const std::vector<double> lengths = carried_over(whole, old.bound.lengths, broken);
    options.start_lengths = lengths;
    measure(network, count, "lengths", broken, options);
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Flows of networks that have lost links, from nothing and from the flow before");
  SynthesisOptions options;
  options.threads = 1;
  std::vector<int> links{1, 3};
  std::vector<std::string> networks{"kautz:1000:4", "jellyfish:1000:4", "torus:32x32", "torus:16x16x16"};
  app.add_option("--threads", options.threads, "0: all cores")->capture_default_str();
  app.add_option("--gap", options.gap, "of all flows")->capture_default_str();
  app.add_option("--links", links, "how many are lost, separated by commas")->delimiter(',');
  app.add_option("NETWORK", networks, "specs");
  CLI11_PARSE(app, argc, argv);
  try {
    fmt::print("network,lost_links,begins_with,processor_seconds,trees,gap,time,time_lower\n");
    for (const std::string& network : networks) run(network, links, options);
  } catch (const Error& error) {
    fmt::print(stderr, "colltopo-bench-broken: {}\n", error.what());
    return 2;
  }
  return 0;
}
