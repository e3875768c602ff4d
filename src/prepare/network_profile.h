// What the programs of all ranks cost on a given network: the profile that colltopo/choice.h prices, from every rank's
// program and every link's load instead of from a sample.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>

#include "choice/profile.h"
#include "colltopo/cost.h"

namespace colltopo::prepare {

struct NetworkProfile {
  Profile profile;
  std::vector<double> loads;           // [link] per byte of a call, all steps together; none within nodes
  double busiest_link_s_per_byte = 0;  // of a call
};

/// As messages take the schedule's routes, or, where it has none, shortest paths. Rank r runs on host r; `node_of`:
/// [rank] who shares a node, empty: nobody. A message within a node is one of the machine's node, whatever links lead
/// there. Throws Error as MessagePaths does.
NetworkProfile network_profile(const Schedule& schedule, const Topology& network, std::span<const int> node_of,
                               const Machine& machine);

/// In how many segments a schedule runs: in one, as the algorithms of the table do; in as many as its steps ask for, as
/// schedule files do; in any number.
enum class Cut : std::uint8_t { whole, as_file, any };

/// A schedule that is priced at many sizes.
class Priced {
 public:
  Priced(const Schedule& schedule, const Topology& network, std::span<const int> node_of, const Machine& machine,
         Cut cut);

  /// For a call of `bytes`: of a shard, or of the vector.
  double seconds(double bytes) const { return seconds(bytes, segments(bytes)); }
  /// In so many segments; more than one only where Cut allows it.
  double seconds(double bytes, int segments) const;
  /// As a file's steps ask for; 1 for Cut::whole.
  int segments(double bytes) const;
  const NetworkProfile& found() const { return found_; }

 private:
  const std::vector<SlotCost>& slots(int segments) const;

  NetworkProfile found_;
  Machine machine_;
  Shape shape_;
  Cut cut_;
  StepPattern pattern_;
  Port port_;
  std::shared_ptr<const Schedule> pipelined_;  // kept where more than one segment may be asked for
  std::shared_ptr<const Topology> network_;
  mutable std::map<int, std::vector<SlotCost>> slots_;  // by segments
};

}  // namespace colltopo::prepare
