#include "prepare/network_profile.h"

#include <algorithm>
#include <cmath>

#include "colltopo/node_network.h"

namespace colltopo::prepare {

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// What each rank and each link has to do in one step; what was touched is cleared in time proportional to it.
class StepSums {
 public:
  StepSums(const Topology& network, std::span<const int> node_of, Rank ranks)
      : network_(network),
        hops_(network, node_of),
        load_(network.links().size(), 0),
        all_(load_),
        sent_(at(ranks)),
        received_(at(ranks)) {}

  struct OneWay {
    double messages_node = 0, messages_network = 0, shards_node = 0, shards = 0;
  };

  void message(const Message& message, double shards, bool within, const std::vector<LinkId>& path) {
    touched_.insert(touched_.end(), {message.source, message.target});
    for (OneWay* const way : {&sent_[at(message.source)], &received_[at(message.target)]}) {
      (within ? way->messages_node : way->messages_network) += 1;
      way->shards += shards;
      if (within) way->shards_node += shards;
    }
    if (within) return;
    double latency = 0;
    for (const LinkId link : path) {
      if (load_[at(link)] == 0) loaded_.push_back(link);
      load_[at(link)] += shards;
      latency += network_.link(link).latency;
    }
    longest_latency_ = std::max(longest_latency_, latency);
  }

  /// [link] shards of all steps together.
  const std::vector<double>& all() const { return all_; }

  /// The step's work so far, and a clean start for the next. The busiest link counts in shards over the machine's rate.
  StepWork take(const Machine& machine) {
    StepWork work;
    for (const Rank rank : touched_) {
      const OneWay& out = sent_[at(rank)];
      const OneWay& in = received_[at(rank)];
      work.messages_node = std::max({work.messages_node, out.messages_node, in.messages_node});
      work.messages_network = std::max({work.messages_network, out.messages_network, in.messages_network});
      work.shards_node = std::max({work.shards_node, out.shards_node, in.shards_node});
      work.received = std::max(work.received, in.messages_node + in.messages_network);
      work.shards_received = std::max(work.shards_received, in.shards);
    }
    for (const LinkId link : loaded_) {
      work.shards_network =
          std::max(work.shards_network, load_[at(link)] * machine.bandwidth_network / network_.link(link).bandwidth);
      all_[at(link)] += load_[at(link)];
      load_[at(link)] = 0;
    }
    if (work.messages_network > 0) work.hops = hops_.of(longest_latency_);
    for (const Rank rank : touched_) sent_[at(rank)] = {}, received_[at(rank)] = {};
    touched_.clear();
    loaded_.clear();
    longest_latency_ = 0;
    return work;
  }

 private:
  const Topology& network_;
  Hops hops_;
  std::vector<double> load_, all_;       // [link] shards
  std::vector<OneWay> sent_, received_;  // [rank]
  std::vector<Rank> touched_;
  std::vector<LinkId> loaded_;
  double longest_latency_ = 0;
};

/// [step] what the busiest rank moves in its own memory.
std::vector<StepWork> local_work(const Schedule& schedule, double chunk) {
  std::vector<StepWork> all(at(schedule.steps()) + 1);
  std::vector<StepWork> own(all.size());
  for (const Program& program : schedule.programs) {
    std::ranges::fill(own, StepWork{});
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Op op = program.op(i);
      StepWork& mine = own[at(op.step)];
      const auto runs = op.action == Action::recv ? op.target : op.source;
      const double shards = chunk * chunks_in(runs);
      if (op.action == Action::copy)
        mine.shards_copied += shards;
      else if (op.action == Action::reduce)
        mine.shards_reduced += shards;
      else if (runs.size() > 1)
        mine.shards_packed += shards;
    }
    for (std::size_t step = 0; step < all.size(); ++step)
      for (const auto field : {&StepWork::shards_copied, &StepWork::shards_reduced, &StepWork::shards_packed})
        all[step].*field = std::max(all[step].*field, own[step].*field);
  }
  return all;
}

void append(Profile& profile, const StepWork& step) {
  if (step == StepWork{}) return;
  if (!profile.steps.empty() && profile.steps.back().each == step)
    profile.steps.back().times += 1;
  else
    profile.steps.push_back({step, 1});
}

bool same_node(std::span<const int> node_of, const Message& message) {
  return !node_of.empty() && node_of[at(message.source)] == node_of[at(message.target)];
}

}  // namespace

NetworkProfile network_profile(const Schedule& schedule, const Topology& network, std::span<const int> node_of,
                               const Machine& machine) {
  const MessagePaths paths(schedule, network);
  const double chunk = 1.0 / schedule.shape.chunks;
  std::vector<StepWork> steps = local_work(schedule, chunk);
  StepSums sums(network, node_of, schedule.shape.ranks);
  const std::vector<Message> messages = messages_of(schedule);
  for (auto message = messages.begin(); message != messages.end();) {
    const Step step = message->step;
    for (; message != messages.end() && message->step == step; ++message) {
      const bool within = same_node(node_of, *message);
      sums.message(*message, chunk * message->chunks, within, within ? std::vector<LinkId>{} : paths.path(*message));
    }
    StepWork& work = steps[at(step)];
    const StepWork moved = work;
    work = sums.take(machine);
    work.shards_copied = moved.shards_copied;
    work.shards_reduced = moved.shards_reduced;
    work.shards_packed = moved.shards_packed;
  }
  NetworkProfile found;
  for (const StepWork& step : steps) append(found.profile, step);
  // A shard's share of the count of a call: loads are per byte of a call.
  const double share = schedule.shape.chunks / chunks_in_count(schedule.shape);
  found.loads = sums.all();
  for (std::size_t link = 0; link < found.loads.size(); ++link) {
    found.loads[link] *= share;
    found.busiest_link_s_per_byte =
        std::max(found.busiest_link_s_per_byte, found.loads[link] / network.links()[link].bandwidth);
  }
  return found;
}

Priced::Priced(const Schedule& schedule, const Topology& network, std::span<const int> node_of, const Machine& machine,
               Cut cut)
    : found_(network_profile(schedule, network, node_of, machine)),
      machine_(machine),
      shape_(schedule.shape),
      cut_(cut) {
  if (cut == Cut::whole) return;
  pattern_ = step_pattern(schedule);
  port_ = {machine.overhead, machine.bandwidth_network};
  // The most that it could be asked for: at a size that no message overhead matters for.
  if (cut == Cut::as_file && segments(1e15) <= 1) return;
  pipelined_ = std::make_shared<const Schedule>(schedule);
  network_ = std::make_shared<const Topology>(network);
}

int Priced::segments(double bytes) const {
  return cut_ == Cut::whole ? 1 : segments_for(pattern_, shape_, bytes, port_);
}

const std::vector<SlotCost>& Priced::slots(int segments) const {
  // A price does not change much from one number of segments to the next, and each one is a walk over all messages.
  constexpr int k_few = 8;
  if (segments > k_few) {
    const double octave = std::exp2(std::round(4 * std::log2(segments)) / 4);
    segments = std::max(k_few, static_cast<int>(octave));
  }
  auto& slots = slots_[segments];
  if (slots.empty()) slots = slots_of(*pipelined_, *network_, segments);
  return slots;
}

double Priced::seconds(double bytes, int segments) const {
  const double shard = bytes * shape_.chunks / shape_.parts();
  if (segments <= 1 || pipelined_ == nullptr) return seconds_of(found_.profile, machine_, shard);
  double seconds = model_seconds(slots(segments), bytes, machine_.overhead);
  // What ranks do in their own memory hides behind other segments' messages, but for one's.
  for (const auto& [step, times] : found_.profile.steps)
    seconds += times * shard / segments *
               ((step.shards_copied + step.shards_packed) / machine_.bandwidth_copy +
                step.shards_reduced / machine_.bandwidth_reduce);
  return seconds;
}

}  // namespace colltopo::prepare
