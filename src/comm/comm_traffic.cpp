// Blocks of sizes of their own that go by the routes of a file: shares of the routes for the traffic that there is. Of
// calls that block it is gathered while they go on, and from time to time the ranks meet after the same call; of an
// operation that begins again and again it is known when that is made.

#include <fmt/format.h>

#include "comm/comm.h"
#include "comm/machine_network.h"

namespace colltopo {

namespace {

constexpr Rank k_most_planned_ranks = 1024;  // whose traffic is one matrix: 8 MiB

}  // namespace

// All of this is the same on all ranks.
bool Comm::may_have_shares(Collective collective, const Decision& decision) const {
  if (decision.file == nullptr || ranks_ < 2 || ranks_ > k_most_planned_ranks ||
      row(collective).sizes != Sizes::of_messages)
    return false;
  const RankPlaces& places = selector_.places();
  return !places.empty() && (places.in_order || decision.file->by_host);
}

std::unique_ptr<SharePlanner> Comm::share_planner(const Decision& decision) const {
  if (rank_ != 0) return nullptr;
  return std::make_unique<SharePlanner>(decision.file->path, machine_network(settings_.topology), selector_.places(),
                                        selector_.lanes());
}

bool Comm::follows_traffic(Collective collective, const Decision& decision, Form form) {
  if (settings_.replan == 0 || form != Form::blocking || !may_have_shares(collective, decision)) return false;
  if (replanner_ == nullptr)
    replanner_ = std::make_unique<Replanner>(rank_, ranks_, settings_.replan, decision.file, share_planner(decision),
                                             callbacks_, agreement_);
  return replanner_->is_of(decision.file.get());
}

void Comm::follow_traffic(Collective collective, const colltopo_call& call) {
  if (replanner_ == nullptr || !replanner_->counts(call)) return;
  const Alone alone(*this);
  const Replanner::Outcome outcome = replanner_->meet(collective);
  if (!outcome.line.empty()) voice_.say(outcome.level, outcome.line);
  if (!outcome.is_new) return;
  for (std::size_t c = 0; c < k_calls; ++c)
    if (row(static_cast<Collective>(c)).sizes == Sizes::of_messages) recent_.forget(static_cast<Collective>(c));
}

// In the turn of an operation: the decision with shares for what the ranks have for each other.
Decision Comm::planned(Collective collective, const colltopo_call& call, const Decision& decision) {
  if (!may_have_shares(collective, decision)) return decision;
  const auto ranks = static_cast<std::size_t>(ranks_);
  std::vector<long long> sums(ranks * ranks, 0);
  for (std::size_t peer = 0; peer < ranks; ++peer)
    sums[static_cast<std::size_t>(rank_) * ranks + peer] = static_cast<long long>(call.blocks->input_bytes[peer]);
  agreement_.add_up(sums);

  std::string fault, text;
  SharePlan plan;
  if (rank_ == 0) {
    try {
      const std::atomic<bool> goes_on = false;
      plan = share_planner(decision)->plan(std::vector<std::uint64_t>(sums.begin(), sums.end()), goes_on);
      text = text_of(plan);
    } catch (const std::exception& error) {
      fault = error.what();
    }
  }
  AgreedShares agreed = agreed_shares(agreement_, *decision.file, agreement_.text_of_rank_0(text), rank_, &fault);
  if (agreed.failed && !fault.empty())
    voice_.say(0, fmt::format("{} keeps the shares of its file: {}", name(collective), fault));
  if (agreed.file == nullptr) return decision;
  Decision made = decision;
  made.file = std::move(agreed.file);
  made.name += fmt::format(", shares of operation {}", ++planned_);
  if (rank_ == 0) voice_.say(1, fmt::format("{} for its own traffic: {}", name(collective), to_say(plan, 1)));
  return made;
}

}  // namespace colltopo
