// The exact methods of Basu et al. as they stand: mcf-link, the linear programme (1)-(5), and mcf-master, its
// decomposition (6)-(14).
#include <fmt/format.h>

#include "synthesis/lp/exact_flow.h"
#include "synthesis/methods.h"

namespace colltopo::synthesis {

namespace {

std::string mcf_link_refusal(const Topology& topology, const SynthesisOptions&) {
  constexpr std::size_t k_most_columns = 250'000;
  const std::size_t columns = pair_flow_columns(topology);
  if (columns <= k_most_columns) return "";
  return fmt::format(
      "the undecomposed linear programme has {} variables, and Clp does not finish with more than {}; mcf "
      "gives the same optimum",
      columns, k_most_columns);
}

Synthesis mcf_link(const Topology& topology, const SynthesisOptions& options) {
  return synthesis_of(topology, pair_flows(topology, options.seconds), options);
}

std::string mcf_master_refusal(const Topology& topology, const SynthesisOptions&) {
  constexpr std::size_t k_most_columns = 170'000;
  const std::size_t columns = static_cast<std::size_t>(topology.hosts()) * topology.links().size();
  if (columns <= k_most_columns) return "";
  return fmt::format(
      "the master linear programme has {} variables, and Clp does not finish with more than {}; mcf gives "
      "the same optimum",
      columns, k_most_columns);
}

Synthesis mcf_master(const Topology& topology, const SynthesisOptions& options) {
  return decomposed_flow(topology, options);
}

}  // namespace

RoutingMethod mcf_link_method() {
  return {"mcf-link", "link MCF, the undecomposed linear programme, and widest paths (MCF-extP); exact",
          mcf_link_refusal, mcf_link};
}

RoutingMethod mcf_master_method() {
  return {"mcf-master",
          "decomposed MCF: the grouped master linear programme by Clp, and stripping or child programs; exact",
          mcf_master_refusal, mcf_master};
}

}  // namespace colltopo::synthesis
