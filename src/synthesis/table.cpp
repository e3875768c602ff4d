// Every routing method, in one table.
#include <algorithm>
#include <vector>

#include "synthesis/methods.h"

namespace colltopo {

using namespace synthesis;

std::span<const RoutingMethod> routing_methods() {
  static const std::vector<RoutingMethod> methods{mcf_method(),      mcf_link_method(), mcf_master_method(),
                                                  mcf_path_method(), fptas_method(),    sssp_method(),
                                                  ilp_method(),      ewsp_method(),     dor_method()};
  return methods;
}

const RoutingMethod* routing_method_named(std::string_view name) {
  const auto methods = routing_methods();
  const auto found =
      std::find_if(methods.begin(), methods.end(), [&](const RoutingMethod& m) { return m.name == name; });
  return found == methods.end() ? nullptr : &*found;
}

}  // namespace colltopo
