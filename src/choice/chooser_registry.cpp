// The choosers of the process. Ranks that lie alike and have the same settings share one, so that a duplicate of a
// communicator decides at once.

#include <algorithm>
#include <list>
#include <mutex>

#include "colltopo/choice.h"

namespace colltopo {

namespace {

constexpr std::size_t k_most_kept = 64;

struct Entry {
  Placement placement;
  Machine machine;
  AlgorithmOptions options;
  CollectiveValues values;
  MeasuredRows measured;
  std::shared_ptr<Chooser> chooser;
};

}  // namespace

std::shared_ptr<Chooser> shared_chooser(Rank ranks, const Placement& placement, const Machine& machine,
                                        const AlgorithmOptions& options, const CollectiveValues& values,
                                        const MeasuredRows& measured) {
  // Never destroyed: communicators may end after the process's other static objects.
  static auto* const mutex = new std::mutex;
  static auto* const entries = new std::list<Entry>;  // least recently asked for last
  const std::lock_guard lock(*mutex);
  const auto found = std::ranges::find_if(*entries, [&](const Entry& entry) {
    return entry.placement == placement && entry.machine == machine && entry.values == values &&
           entry.options == options && entry.measured == measured;
  });
  if (found != entries->end()) {
    entries->splice(entries->begin(), *entries, found);
    return found->chooser;
  }
  entries->push_front({placement, machine, options, values, measured,
                       std::make_shared<Chooser>(ranks, placement, machine, options, values, measured)});
  if (entries->size() > k_most_kept) entries->pop_back();
  return entries->front().chooser;
}

}  // namespace colltopo
