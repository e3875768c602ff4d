#include "comm/comm_lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/lines.h"
#include "transport/communicator_numbers.h"
#include "transport/lane_library.h"
#include "transport/message_tag.h"

namespace colltopo {

// A trial that failed may have left a message behind, and so may a lane that is given up; the number is not used again.
CommLanes::~CommLanes() {
  const bool left_behind = broken_ || (transport_ != nullptr && transport_->has_knocks());
  transport_.reset();
  if (number_ >= 0 && !left_behind) communicator_numbers().free(number_);
}

bool CommLanes::serve(const Settings& settings, const std::string& plan, const Program& program,
                      const std::vector<int>& node_of, double patience_s, Remark* remark) {
  if (const auto found = plans_.find(plan); found != plans_.end()) return found->second;
  if (!tried_) open(settings, node_of, remark);
  const bool by_lanes = transport_ != nullptr && !broken_ && wire(settings, plan, program, patience_s, remark);
  return plans_.emplace(plan, by_lanes).first->second;
}

bool CommLanes::all_good(std::string fault, Remark* remark) {
  if (agreement_.all_good(&fault)) return true;
  if (!fault.empty()) *remark = {0, fmt::format("{}; using MPI's messages (transport pml)", fault)};
  return false;
}

LaneSet* CommLanes::open_set(const LaneCalls& calls, const LaneSetting& setting, std::string* fault) {
  std::vector<std::vector<std::string>> texts;
  std::vector<std::vector<const char*>> lists;
  std::vector<const char* const*> lanes;
  for (Lane lane = 0; lane < setting.lanes(); ++lane) {
    std::vector<std::string>& text = texts.emplace_back();
    for (UcxSetting& one : ucx_settings(setting, lane)) {
      text.push_back(std::move(one.name));
      text.push_back(std::move(one.value));
    }
    std::vector<const char*>& list = lists.emplace_back();
    for (const std::string& word : text) list.push_back(word.c_str());
    list.push_back(nullptr);
  }
  lanes.reserve(lists.size());
  for (const auto& list : lists) lanes.push_back(list.data());
  LaneFault why{}, heard{};
  calls.listen_begin();
  LaneSet* const set = calls.open(setting.text.c_str(), lanes.data(), setting.lanes(), &why);
  calls.listen_end(&heard);
  if (set == nullptr) *fault = fmt::format("rank {}: lanes {}: {}", rank_, in_quotes(setting.text), why.text);
  return set;
}

void CommLanes::open(const Settings& settings, const std::vector<int>& node_of, Remark* remark) {
  tried_ = true;
  const LaneSetting& setting = settings.lanes;
  std::string fault = lane_fault(setting);
  if (fault.empty() && ranks_ > k_most_tagged_ranks)
    fault = fmt::format("transport ucx serves at most {} ranks", k_most_tagged_ranks);
  const LaneCalls* const calls = fault.empty() ? lane_library(&fault) : nullptr;
  LaneSet* const set = calls == nullptr ? nullptr : open_set(*calls, setting, &fault);
  if (set == nullptr && fault.empty()) fault = "transport ucx cannot be had";
  if (set != nullptr) {
    transport_ = std::make_unique<LaneTransport>(
        *calls, set, setting,
        LaneTransport::Place{rank_, ranks_, 0, callbacks_.transport_error, callbacks_.truncation_error, &node_of,
                             settings.watch_s > 0 ? settings.lane_patience_s : 0},
        lent_);
  }
  if (!all_good(fault, remark)) {
    transport_.reset();
    return;
  }
  number_ = communicator_numbers().agree([&](long long value) { return -agreement_.least(-value); });
  fault.clear();
  if (number_ < 0)
    fault = fmt::format("{} communicators have been numbered, no more can be", k_most_tagged_communicators);
  if (number_ >= 0) exchange_addresses();
  if (!all_good(fault, remark)) {
    transport_.reset();
    return;
  }
  transport_->number(number_);
  if (rank_ == 0)
    *remark = {1, fmt::format("transport ucx: {} lanes ('{}'), communicator number {}", setting.lanes(), setting.text,
                              number_)};
}

void CommLanes::report(Findings& findings) {
  if (transport_ != nullptr && !broken_) care_.report(*transport_, rank_, findings);
}

bool CommLanes::decide(const Agreement::Result& agreed, Remark* remark) {
  if (transport_ == nullptr || broken_) return false;
  const LaneCare::Outcome outcome = care_.decide(*transport_, rank_, agreed);
  if (!outcome.remark.empty()) *remark = {outcome.level, outcome.remark};
  return outcome.changed;
}

void CommLanes::exchange_addresses() {
  const auto largest =
      static_cast<std::size_t>(-agreement_.least(-static_cast<long long>(transport_->address_bytes())));
  std::vector<std::byte> blocks(largest * static_cast<std::size_t>(ranks_));
  agreement_.gather(transport_->addresses(largest), blocks);
  transport_->know(std::move(blocks), largest);
}

bool CommLanes::wire(const Settings& settings, const std::string& plan, const Program& program, double patience_s,
                     Remark* remark) {
  const Lane beyond = transport_->unserved(program);
  std::string fault;
  if (beyond >= 0)
    fault = fmt::format("{}: rank {} has messages on lane {}, but lanes {} has {} (shared: one lane for all)",
                        plan.substr(0, plan.find(' ')), rank_, beyond, in_quotes(settings.lanes.text),
                        settings.lanes.lanes());
  // After this, all are here: what follows waits for nobody who is still at work elsewhere, unless in a turn.
  if (!all_good(fault, remark)) return false;
  const TurnTransport::MovesAlso moves(turn_,
                                       [this] { transport_->move(); });  // this rank makes others' connections too
  broken_ = !try_endpoints(program, patience_s, remark);
  if (!broken_) settle();
  return !broken_;
}

bool CommLanes::try_endpoints(const Program& program, double patience_s, Remark* remark) {
  std::string fault = transport_->connect(program);
  const std::string unreached = transport_->reach(patience_s, turn_);
  if (fault.empty()) fault = unreached;
  if (all_good(fault, remark) && all_good(transport_->hear(patience_s, turn_), remark)) return true;
  transport_->give_trials_up();
  return false;
}

void CommLanes::settle() {
  constexpr int k_most_rounds = 40;
  constexpr double k_round_s = 0.001;  // the first; each is longer than the one before
  for (int round = 1; round <= k_most_rounds; ++round) {
    const bool settled = transport_->is_settled(k_round_s * round, round > 1, turn_);
    if (agreement_.least(settled ? 1 : 0) == 1) return;
  }
}

}  // namespace colltopo
