// One program per rank, and what belongs to all of them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "colltopo/program.h"

namespace colltopo {

using LinkId = std::int32_t;  // a link of a Topology, by index

/// The links that messages from `source` to `target` on `lane` take, in order; `layer` is the virtual channel.
struct Route {
  Rank source = 0;
  Rank target = 0;
  Lane lane = 0;
  std::int32_t layer = 0;
  std::vector<LinkId> links;

  friend bool operator==(const Route&, const Route&) = default;
};

/// What the proof of a schedule found besides that it is right (colltopo/verify.h says what each means): it travels
/// with the schedule, so that nobody has to prove it again to know how it may be run.
struct Proof {
  bool in_place = false;
  bool keeps_rank_order = false;
  bool same_on_all_ranks = false;
  bool stepped = false;
  bool independent = false;

  friend bool operator==(const Proof&, const Proof&) = default;
};

struct Schedule {
  std::string name;
  Shape shape;
  std::vector<Program> programs;  // [rank]
  std::vector<Route> routes;      // sorted by (source, target, lane); empty where the network chooses
  std::string topology;           // fingerprint of the topology it was made for; empty: any
  std::string bound;  // what the generator claims ("all-to-all 0.1111 of link bandwidth"); free text, one line
  std::string topology_name = {};   // how that topology was asked for, "torus:3x3x3" or a file; empty: not known
  std::optional<Proof> proof = {};  // nothing: nobody has proved it

  /// The largest step of any op.
  Step steps() const;

  friend bool operator==(const Schedule&, const Schedule&) = default;
};

/// A schedule made of one generator call per rank.
Schedule schedule_of(std::string name, const Shape& shape, const std::function<Program(Rank)>& program_of);

}  // namespace colltopo
