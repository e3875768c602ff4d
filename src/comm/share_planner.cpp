// A routing problem on given paths, its answer in whole chunks, and the proof of the schedule that they make.
#include "comm/share_planner.h"

#include <algorithm>

#include <fmt/format.h>

#include "colltopo/chunking.h"
#include "colltopo/error.h"
#include "colltopo/text.h"
#include "colltopo/verify_sections.h"
#include "synthesis/sweep/path_weights.h"

namespace colltopo {

namespace {

constexpr double k_gap = 0.01;               // of the optimum on the routes
constexpr double k_most_s = 10;              // of solving
constexpr Chunk k_most_planned_chunks = 64;  // per shard: blocks of usual sizes have few elements per chunk
// Other shares cost every rank a plan: they must save this part.
constexpr double k_worth = 0.02;
constexpr const char* k_as_good = "as good";  // in place of shares

double exchange_s(const Topology& topology, const Routing& routing, const Demand& demand) {
  return all_to_all_time(topology, link_loads(topology, routing, demand)) / topology.slowest_bandwidth();
}

}  // namespace

void SharePlanner::read() {
  schedule_ = read_schedule(path_);
  topology_ = with_ranks(*network_, places_.ranks_on);
  if (const std::string here = fingerprint(topology_); schedule_.topology != here)
    throw Error(fmt::format("{}: made for topology {}, the ranks are on {}", path_, schedule_.topology, here));
  if (schedule_.routes.empty()) throw Error(fmt::format("{}: has no routes", path_));
  std::erase_if(schedule_.routes, [&](const Route& route) { return lanes_ > 0 && route.lane >= lanes_; });
  routes_ = all_routes(schedule_);
  in_force_ = routes_;
}

SharePlan SharePlanner::plan(std::span<const std::uint64_t> bytes, const std::atomic<bool>& ends) {
  if (routes_.paths() == 0) read();
  Demand demand(static_cast<NodeId>(places_.rank_at.size()));
  for (NodeId source = 0; source < demand.hosts(); ++source)
    for (NodeId target = 0; target < demand.hosts(); ++target) {
      const auto row = static_cast<std::size_t>(places_.rank_at[static_cast<std::size_t>(source)]);
      const auto column = static_cast<std::size_t>(places_.rank_at[static_cast<std::size_t>(target)]);
      const std::uint64_t sent = bytes[row * places_.rank_at.size() + column];
      if (source != target) demand.add(source, target, static_cast<double>(sent));
    }
  SharePlan plan;
  if (demand.total() == 0) return plan;
  SynthesisOptions options;
  options.gap = k_gap;
  options.seconds = k_most_s;
  options.threads = 1;
  options.demand = &demand;
  options.progress = [&](const FlowBound&) {
    if (ends) throw Error("ended");
  };
  const Synthesis best = synthesis::best_weights(topology_, routes_, options);
  Chunked chunks = chunked(topology_, best.routing, k_most_planned_chunks, k_negligible_loss, &demand);
  plan.before_s = exchange_s(topology_, in_force_, demand);
  plan.after_s = exchange_s(topology_, chunks.routing, demand);
  plan.least_routes_s = best.time_lower_of_paths / topology_.slowest_bandwidth();
  plan.least_s = best.bound.time_lower / topology_.slowest_bandwidth();
  if (plan.after_s > (1 - k_worth) * plan.before_s) return plan;

  const RouteShares shares(schedule_.routes, chunks.routing, chunks.chunks);
  SectionedSchedule made = sections_of(schedule_);
  made.threads = options.threads;
  made.facts.shape.chunks = shares.chunks();
  made.program = [&](Rank place) { return program_of(shares, place); };
  if (const Verdict verdict = verify(made); !verdict.valid())
    throw Error(fmt::format("{}: with other shares: {}", path_, to_string(verdict.violations.front())));
  plan.shares = shares.renamed(places_.rank_at);
  in_force_ = std::move(chunks.routing);
  return plan;
}

std::string text_of(const SharePlan& plan) { return plan.shares.ranks() == 0 ? k_as_good : plan.shares.text(); }

AgreedShares agreed_shares(const Agreement& agreement, const LoadedProgram& original, const std::string& text,
                           Rank rank, std::string* fault) {
  if (text == k_as_good) return {};
  AgreedShares agreed;
  if (!text.empty()) {
    try {
      auto made = std::make_shared<LoadedProgram>(original);
      made->program = std::make_shared<const Program>(program_of(RouteShares::from_text(text), rank));
      agreed.file = std::move(made);
    } catch (const std::exception& error) {
      *fault = error.what();
    }
  }
  // Rank 0 has proved the whole; what hinders another is its own.
  agreed.failed = !agreement.all_good(fault) || text.empty();
  if (agreed.failed) agreed.file.reset();
  return agreed;
}

std::string to_say(const SharePlan& plan, long long calls) {
  const double ms = 1e3 / static_cast<double>(std::max(1LL, calls));
  return fmt::format(
      "new shares take {:.3g} ms of the busiest link per call, those before {:.3g}; at least {:.3g} by these routes, "
      "{:.3g} by any",
      plan.after_s * ms, plan.before_s * ms, plan.least_routes_s * ms, plan.least_s * ms);
}

}  // namespace colltopo
