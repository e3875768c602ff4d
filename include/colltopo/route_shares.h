// New shares for the routes that a schedule has: which part of a pair's data goes which way, for traffic that the
// schedule was not made for (docs/decisions/0025). What the network's tables hold stays as it is.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "colltopo/program.h"
#include "colltopo/routing.h"
#include "colltopo/schedule.h"

namespace colltopo {

/// Whole chunks for the lanes of every ordered pair of ranks.
class RouteShares {
 public:
  /// What goes by a lane.
  struct Part {
    Lane lane = 0;
    Chunk chunks = 0;  // at least 1

    friend bool operator==(const Part&, const Part&) = default;
  };

  RouteShares() = default;
  /// `routes`: a schedule's, sorted. `routing`: its weights are multiples of 1/`chunks`, and its paths are among the
  /// routes, those of a pair in their order; Error for one that is not.
  RouteShares(std::span<const Route> routes, const Routing& routing, Chunk chunks);

  Rank ranks() const { return ranks_; }
  Chunk chunks() const { return chunks_; }
  /// By lane; together chunks().
  std::span<const Part> parts(Rank source, Rank target) const;

  /// The same of the ranks that have these places.
  RouteShares renamed(std::span<const Rank> rank_at) const;
  std::string text() const;
  /// Of what text() gave. Throws Error where it is no such thing.
  static RouteShares from_text(std::string_view text);

  friend bool operator==(const RouteShares&, const RouteShares&) = default;

 private:
  Rank ranks_ = 0;
  Chunk chunks_ = 1;
  std::vector<std::size_t> first_{0};  // [source * ranks + target] into parts_, and the end
  std::vector<Part> parts_;
};

/// A rank's program of the all-to-all with these shares.
Program program_of(const RouteShares& shares, Rank rank);

/// The routes of a schedule with the shares that its programs give them, 0 for those that no message takes; one of the
/// routing's paths for each, in their order. Throws Error naming a message without a route. Only for alltoall.
Routing all_routes(const Schedule& schedule);

}  // namespace colltopo
