// Blocks of sizes of their own that go by the routes of a file: from time to time the ranks meet after the same call
// and may go on with other shares.

#include "comm/comm.h"
#include "comm/machine_network.h"

namespace colltopo {

// All of this is the same on all ranks. Operations keep the file's shares: they do not go by lanes.
bool Comm::has_traffic(Collective collective, const Decision& decision, Form form) {
  if (settings_.replan == 0 || form != Form::blocking || decision.file == nullptr || ranks_ < 2) return false;
  if (row(collective).sizes != Sizes::of_messages) return false;
  const RankPlaces& places = selector_.places();
  if (places.empty() || !(places.in_order || decision.file->by_host)) return false;
  if (replanner_ == nullptr)
    replanner_ = std::make_unique<Replanner>(
        rank_, ranks_, settings_.replan, decision.file,
        rank_ == 0 ? std::make_unique<SharePlanner>(decision.file->path, machine_network(settings_.topology), places,
                                                    selector_.lanes())
                   : nullptr,
        callbacks_, agreement_);
  return replanner_->is_of(decision.file.get());
}

void Comm::follow_traffic(Collective collective, const colltopo_call& call) {
  if (replanner_ == nullptr || !replanner_->counts(call)) return;
  const Turns::Exclusive alone(turns_);
  turn_transport_.serve(collective);
  const Replanner::Outcome outcome = replanner_->meet(collective);
  if (!outcome.line.empty()) voice_.say(outcome.level, outcome.line);
  if (!outcome.is_new) return;
  for (std::size_t c = 0; c < k_calls; ++c)
    if (row(static_cast<Collective>(c)).sizes == Sizes::of_messages)
      for (Recent& entry : recent_[c]) entry = {};
}

}  // namespace colltopo
