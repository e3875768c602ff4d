// Shares of the lanes of every pair, and the programs that they make.
#include "colltopo/route_shares.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "colltopo/error.h"
#include "routing/routed_program.h"

namespace colltopo {

RouteShares::RouteShares(std::span<const Route> routes, const Routing& routing, Chunk chunks)
    : ranks_(routing.hosts()), chunks_(chunks) {
  std::size_t next = 0;
  auto route = routes.begin();
  for (Rank source = 0; source < ranks_; ++source)
    for (Rank target = 0; target < ranks_; ++target) {
      const auto is_of_pair = [&](const auto& one) { return one.source == source && one.target == target; };
      for (; route != routes.end() && is_of_pair(*route); ++route) {
        if (next == routing.paths() || !is_of_pair(routing.path(next)) ||
            !std::ranges::equal(routing.path(next).links, route->links))
          continue;
        const auto count = static_cast<Chunk>(std::lround(routing.path(next++).weight * chunks));
        if (count > 0) parts_.push_back({route->lane, count});
      }
      first_.push_back(parts_.size());
    }
  if (next < routing.paths())
    throw Error(fmt::format("a share of a path from {} to {} that is none of the routes", routing.path(next).source,
                            routing.path(next).target));
}

std::span<const RouteShares::Part> RouteShares::parts(Rank source, Rank target) const {
  const auto pair =
      static_cast<std::size_t>(source) * static_cast<std::size_t>(ranks_) + static_cast<std::size_t>(target);
  return std::span(parts_).subspan(first_[pair], first_[pair + 1] - first_[pair]);
}

RouteShares RouteShares::renamed(std::span<const Rank> rank_at) const {
  std::vector<Rank> place_of(rank_at.size());
  for (std::size_t place = 0; place < rank_at.size(); ++place)
    place_of[static_cast<std::size_t>(rank_at[place])] = static_cast<Rank>(place);
  RouteShares other;
  other.ranks_ = ranks_;
  other.chunks_ = chunks_;
  for (const Rank source : place_of)
    for (const Rank target : place_of) {
      const std::span<const Part> of_pair = parts(source, target);
      other.parts_.insert(other.parts_.end(), of_pair.begin(), of_pair.end());
      other.first_.push_back(other.parts_.size());
    }
  return other;
}

std::string RouteShares::text() const {
  std::string text = fmt::format("{} {}", ranks_, chunks_);
  for (std::size_t pair = 0; pair + 1 < first_.size(); ++pair) {
    fmt::format_to(std::back_inserter(text), " {}", first_[pair + 1] - first_[pair]);
    for (std::size_t i = first_[pair]; i < first_[pair + 1]; ++i)
      fmt::format_to(std::back_inserter(text), " {} {}", parts_[i].lane, parts_[i].chunks);
  }
  return text;
}

RouteShares RouteShares::from_text(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto number = [&](std::int64_t most) {
    std::int64_t value = -1;
    while (at != end && *at == ' ') ++at;
    const auto [rest, error] = std::from_chars(at, end, value);
    if (error != std::errc() || value < 0 || value > most)
      throw Error("shares of routes: a number is missing or out of range; expected what text() gave");
    at = rest;
    return value;
  };
  constexpr std::int64_t k_most_ranks = 1 << 20, k_most_chunks = 1 << 30, k_most_lanes = 1 << 16;
  RouteShares shares;
  shares.ranks_ = static_cast<Rank>(number(k_most_ranks));
  shares.chunks_ = static_cast<Chunk>(number(k_most_chunks));
  for (std::int64_t pair = std::int64_t{shares.ranks_} * shares.ranks_; pair > 0; --pair) {
    const std::int64_t lanes = number(k_most_lanes);
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < lanes; ++i) {
      const auto lane = static_cast<Lane>(number(k_most_lanes));
      shares.parts_.push_back({lane, static_cast<Chunk>(number(shares.chunks_))});
      sum += shares.parts_.back().chunks;
    }
    if (lanes > 0 && sum != shares.chunks_)
      throw Error(fmt::format("shares of routes: {} chunks of a pair; expected {}", sum, shares.chunks_));
    shares.first_.push_back(shares.parts_.size());
  }
  return shares;
}

Program program_of(const RouteShares& shares, Rank rank) {
  const Shape shape{Collective::alltoall, shares.ranks(), shares.chunks(), 0};
  return routed_program(shape, rank, [&](Rank source, Rank target) { return shares.parts(source, target); });
}

Routing all_routes(const Schedule& schedule) {
  if (schedule.shape.collective != Collective::alltoall)
    throw Error(
        fmt::format("{}: {} has no routing; only alltoall has", schedule.name, name(schedule.shape.collective)));
  Routing routing(schedule.shape.ranks);
  auto route = schedule.routes.begin();  // sorted by source, as programs are
  for (const Program& program : schedule.programs) {
    std::map<std::pair<Rank, Lane>, Chunk> sent;
    for (std::size_t i = 0; i < program.size(); ++i)
      if (const Op op = program.op(i); op.action == Action::send) sent[{op.peer, op.lane}] += chunks_in(op.source);
    for (; route != schedule.routes.end() && route->source == program.rank(); ++route) {
      const auto found = sent.find({route->target, route->lane});
      const Chunk chunks = found == sent.end() ? 0 : found->second;
      if (found != sent.end()) sent.erase(found);
      routing.add(route->source, route->target, double{1} * chunks / schedule.shape.chunks, route->links);
    }
    if (sent.empty()) continue;
    const auto [target, lane] = sent.begin()->first;
    throw Error(fmt::format("{}: no route from {} to {} on lane {}; expected one for every message", schedule.name,
                            program.rank(), target, lane));
  }
  return routing;
}

}  // namespace colltopo
