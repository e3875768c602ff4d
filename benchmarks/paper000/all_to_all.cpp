// One point of a figure of Basu et al.: how long a method takes to make an all-to-all for a network, and how long the
// all-to-all takes. Prints one line of CSV: method, topology, hosts, links, seconds (of the processor, all threads),
// time, time_lower. The latter two are for unit demands and links of capacity 1 (1/F).
//
//   colltopo-bench-alltoall METHOD TOPOLOGY [gap=0.01] [seconds=60] [epsilon=0.05] [threads=1] [symmetry=0]
//                           [paths=disjoint|shortest|bounded]
//
// METHOD is one of the routing method table, `optimum` (both bounds, no paths) or `theorem-1` (the
// bound of any regular graph of as many hosts and links).
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <string>

#include "colltopo/error.h"
#include "colltopo/synthesis.h"

namespace {

using colltopo::FlowBound;
using colltopo::SynthesisOptions;
using colltopo::Topology;

double number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') throw colltopo::Error("'" + text + "' is no number");
  return value;
}

colltopo::PathSet path_set(const std::string& text) {
  if (text == "disjoint") return colltopo::PathSet::disjoint;
  if (text == "widened") return colltopo::PathSet::widened;
  if (text == "shortest") return colltopo::PathSet::shortest;
  if (text == "bounded") return colltopo::PathSet::bounded;
  throw colltopo::Error("paths=" + text + "; expected disjoint, shortest or bounded");
}

SynthesisOptions options_of(int count, char** words) {
  SynthesisOptions options;
  options.threads = 1;
  for (int i = 0; i < count; ++i) {
    const std::string word = words[i];
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (name == "paths")
      options.path_set = path_set(value);
    else if (name == "gap")
      options.gap = number(value);
    else if (name == "seconds")
      options.seconds = number(value);
    else if (name == "epsilon")
      options.epsilon = number(value);
    else if (name == "threads")
      options.threads = static_cast<int>(number(value));
    else if (name == "symmetry")
      options.symmetry = number(value) != 0;
    else
      throw colltopo::Error("'" + word + "'; expected gap, seconds, epsilon, threads, symmetry or paths with =VALUE");
  }
  return options;
}

FlowBound bound_by(const std::string& name, const Topology& topology, const SynthesisOptions& options) {
  if (name == "optimum") return colltopo::alltoall_bound(topology, options);
  if (name == "theorem-1") {
    FlowBound bound;
    bound.time = bound.time_lower =
        colltopo::theorem_1_time(topology.hosts(), static_cast<int>(topology.links_out(topology.hosts() - 1).size()));
    return bound;
  }
  const colltopo::RoutingMethod* method = colltopo::routing_method_named(name);
  if (method == nullptr) throw colltopo::Error("no method '" + name + "'");
  if (const std::string refusal = method->refusal(topology, options); !refusal.empty()) throw colltopo::Error(refusal);
  return method->make(topology, options).bound;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc < 3) throw colltopo::Error("usage: colltopo-bench-alltoall METHOD TOPOLOGY [OPTION=VALUE...]");
    const Topology topology = colltopo::topology_of(argv[2]);
    const SynthesisOptions options = options_of(argc - 3, argv + 3);
    const std::clock_t begin = std::clock();
    const FlowBound bound = bound_by(argv[1], topology, options);
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    std::printf("%s,%s,%d,%zu,%.4g,%.9g,%.9g\n", argv[1], argv[2], topology.hosts(), topology.links().size(), seconds,
                bound.time, bound.time_lower);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "colltopo-bench-alltoall: %s\n", error.what());
    return 2;
  }
  return 0;
}
