#include "simulation/simulation.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "colltopo/error.h"
#include "simulation/translations.h"

namespace colltopo::simulation {

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Links that are looked at, numbered; and the loads of each step on them.
class Sums {
 public:
  Sums(const Subject& subject, const Topology& topology, const Translations& translations)
      : subject_(subject), topology_(topology), translations_(translations), number_(topology.links().size(), -1) {
    for (LinkId link = 0; link < static_cast<LinkId>(number_.size()); ++link) {
      const LinkId standing = translations.alike() == 1 ? link : translations.representative_link(link);
      if (number_[at(standing)] < 0) {
        number_[at(standing)] = static_cast<std::int32_t>(links_.size());
        links_.push_back(standing);
      }
      number_[at(link)] = number_[at(standing)];
    }
  }

  void add(const Program& program, const ShortestPaths& paths) {
    std::vector<std::size_t> sent, received;
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Op op = program.op(i);
      if (op.action != Action::send && op.action != Action::recv) continue;
      make_room(op.step);
      auto& mine = op.action == Action::send ? sent : received;
      mine.resize(std::max(mine.size(), at(op.step) + 1), 0);
      std::size_t& most = steps_[at(op.step)].most_messages_of_a_rank;
      most = std::max(most, ++mine[at(op.step)]);
      if (op.action == Action::send) add(op.step, program.rank(), op.peer, chunks_in(op.source), paths);
    }
  }

  Result result() {
    Result result;
    const double chunks = chunks_in_count(subject_.shape);
    std::vector<double> all(links_.size(), 0);
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      StepCost& step = steps_[s];
      if (step.messages == 0) continue;
      step.step = static_cast<Step>(s);
      for (std::size_t l = 0; l < links_.size(); ++l) {
        const double load = loads_[s][l] / chunks;
        all[l] += load;
        offer(links_[l], load, step.busiest_link, step.busiest_link_s_per_byte);
        step.most_messages_on_a_link = std::max(step.most_messages_on_a_link, at(messages_[s][l]));
      }
      result.cost.messages += step.messages;
      result.cost.steps.push_back(step);
    }
    for (std::size_t l = 0; l < links_.size(); ++l)
      offer(links_[l], all[l], result.cost.busiest_link, result.cost.busiest_link_s_per_byte);
    result.cost.neighbours_only = neighbours_only_;
    for (const std::int32_t number : number_) result.loads.push_back(all[at(number)]);
    return result;
  }

 private:
  void make_room(Step step) {
    if (at(step) < steps_.size()) return;
    if (static_cast<double>(step) * static_cast<double>(links_.size()) > k_most_loads)
      throw Error(
          fmt::format("{} on {}: more than {} steps with {} links that differ are more than are kept; expected "
                      "fewer hosts, or an algorithm that looks alike everywhere",
                      subject_.name, topology_.name(), step, links_.size()));
    steps_.resize(at(step) + 1);
    loads_.resize(at(step) + 1);
    messages_.resize(at(step) + 1);
  }

  void add(Step step, Rank source, Rank target, Chunk chunks, const ShortestPaths& paths) {
    auto& loads = loads_[at(step)];
    auto& messages = messages_[at(step)];
    if (loads.empty()) loads.resize(links_.size(), 0), messages.resize(links_.size(), 0);
    const std::vector<LinkId> path = paths.path(source, target);
    double latency = 0;
    // Each rank stands for as many as each link does, so a message of one is as many as its links have of all.
    for (const LinkId link : path) {
      loads[at(number_[at(link)])] += chunks;
      ++messages[at(number_[at(link)])];
      latency += topology_.link(link).latency;
    }
    StepCost& cost = steps_[at(step)];
    cost.messages += at(translations_.alike());
    cost.longest_latency_s = std::max(cost.longest_latency_s, latency);
    neighbours_only_ =
        neighbours_only_ && std::none_of(path.begin(), path.empty() ? path.end() : path.end() - 1,
                                         [&](LinkId link) { return topology_.is_host(topology_.link(link).head); });
  }

  void offer(LinkId link, double load, LinkId& busiest, double& seconds_per_byte) const {
    if (load <= 0) return;
    const double seconds = load / topology_.link(link).bandwidth;
    if (busiest >= 0 && seconds <= seconds_per_byte) return;
    busiest = link;
    seconds_per_byte = seconds;
  }

  const Subject& subject_;
  const Topology& topology_;
  const Translations& translations_;
  std::vector<LinkId> links_;                        // that stand for all
  std::vector<std::int32_t> number_;                 // [link] into links_
  std::vector<StepCost> steps_;                      // [step]
  std::vector<std::vector<double>> loads_;           // [step][number] chunks
  std::vector<std::vector<std::int32_t>> messages_;  // [step][number]
  bool neighbours_only_ = true;
};

}  // namespace

Result simulate(const Subject& subject, const Topology& topology, bool use_symmetry,
                const std::function<void(Rank, Rank)>& progress) {
  if (subject.shape.ranks != topology.hosts())
    throw Error(fmt::format("{}: {} ranks on {} hosts of {}; rank r runs on host r, so they must be equal",
                            subject.name, subject.shape.ranks, topology.hosts(), topology.name()));
  const ShortestPaths paths(topology);
  Rank compared = 0;
  // A rooted collective looks alike nowhere, and neither does what nodes choose by their numbers.
  const bool may = use_symmetry && !rooted(subject.shape.collective) && topology.single_paths() == SinglePaths::unknown;
  const Translations translations = may ? translations_of(subject, topology, paths, &compared)
                                        : Translations(topology, {topology.hosts()}, {topology.hosts()});
  Sums sums(subject, topology, translations);
  Rank read = 0;
  for (const Rank rank : translations.representatives()) {
    if (progress) progress(read, static_cast<Rank>(translations.representatives().size()));
    // Paths that are searched for are kept by source: those of a rank that has been read are of no use any more.
    if (topology.sides().empty() && topology.single_paths() == SinglePaths::unknown)
      sums.add(subject.program_of(rank), ShortestPaths(topology));
    else
      sums.add(subject.program_of(rank), paths);
    ++read;
  }
  Result result = sums.result();
  result.read = read;
  result.alike = translations.alike();
  result.compared = translations.alike() > 1 ? compared : 0;
  return result;
}

}  // namespace colltopo::simulation
