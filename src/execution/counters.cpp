#include "execution/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <mutex>

namespace colltopo {

namespace {

// Never destroyed: communicators may be freed while the process ends.
struct Registry {
  std::mutex mutex;
  std::vector<const Counts*> live;
  std::vector<unsigned long long> past;
};
Registry& registry() {
  static auto* const registry = new Registry;
  return *registry;
}

std::size_t counters() { return k_fixed_counters + algorithms().size() + 1; }

}  // namespace

Counts::Counts() : values_(counters()) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.past.resize(values_.size());
  all.live.push_back(this);
}

Counts::~Counts() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  std::erase(all.live, this);
  for (std::size_t i = 0; i < values_.size(); ++i) all.past[i] += value(i);
}

const std::vector<colltopo_counter>& counter_table() {
  static const auto* const table = [] {
    auto* names = new std::deque<std::string>;  // lives as long as the process, as the table does
    auto* rows = new std::vector<colltopo_counter>{
        {"calls", "collective calls that colltopo served"},
        {"bytes", "bytes of the shards or vectors of those calls"},
        {"fallbacks", "calls left to the previous implementation"},
        {"plan_hits", "calls whose plan was in the cache"},
        {"messages", "point-to-point messages sent"},
        {"bytes_sent", "bytes of those messages"},
        {"messages_between_nodes", "messages sent to another node"},
        {"bytes_between_nodes", "bytes of those messages"},
    };
    const auto add = [&](std::string_view algorithm) {
      std::string identifier(algorithm);
      std::ranges::replace(identifier, '-', '_');
      names->push_back("calls_" + identifier);
      const char* name = names->back().c_str();
      names->push_back(fmt::format("calls served by {}", algorithm));
      rows->push_back({name, names->back().c_str()});
    };
    for (const Algorithm& algorithm : algorithms()) add(algorithm.name);
    add("file");
    rows->push_back({nullptr, nullptr});
    return rows;
  }();
  return *table;
}

unsigned long long counter_value(std::size_t index) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  if (index >= all.past.size()) return 0;
  unsigned long long sum = all.past[index];
  for (const Counts* counts : all.live) sum += counts->value(index);
  return sum;
}

}  // namespace colltopo
