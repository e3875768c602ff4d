// Switches and what hangs below them, for formats that say who hangs where but not how fast (Slurm, MPICH).
//
// What such a file leaves out is assumed: a host has one link of `host` bandwidth, and a switch has towards the
// switches above it together as much as comes from below (nothing is oversubscribed), in equal parts when they are
// several. The option `uplink` states one bandwidth for all links between switches instead.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "colltopo/topology.h"
#include "import/source.h"

namespace colltopo::import {

class SwitchTree {
 public:
  explicit SwitchTree(const Source& source) : source_(source) {}

  /// `link_bandwidth`: of the links to what hangs below, 0: as assumed. Twice the same name is an error.
  void add_switch(std::string_view name, double link_bandwidth, std::int64_t line);
  /// Below the switch that was added last.
  void add_hosts(const std::vector<std::string>& names);
  /// The same for switches, which may be added later.
  void add_switches(const std::vector<std::string>& names);
  bool empty() const { return switches_.empty(); }

  /// Hosts and switches in their order. Errors: a switch that nobody added, one that is above itself, a name for both.
  Topology topology(const std::string& name) const;

 private:
  struct Switch {
    std::string name;
    double link_bandwidth;
    std::int64_t line;
    std::vector<std::string> hosts, switches;
  };
  using Index = std::size_t;

  void expect_more(const std::vector<std::string>& names);
  Index known(const std::string& name, std::int64_t line) const;
  std::vector<Index> lowest_first() const;
  std::vector<double> upward_bandwidths(double host) const;

  const Source& source_;
  std::vector<Switch> switches_;
  std::size_t listed_ = 0, listed_bytes_ = 0;  // names of all lists
  std::unordered_map<std::string, Index> by_name_;
};

/// The options that a format with such a tree has, for its row.
inline constexpr std::string_view k_switch_tree_options = "host=25Gbps uplink=as-from-below latency=1us";

}  // namespace colltopo::import
