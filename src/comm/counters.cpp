#include "comm/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <mutex>

namespace colltopo {

namespace {

constexpr std::size_t at(Counter counter) { return static_cast<std::size_t>(counter); }

// Never destroyed: communicators may be freed while the process ends.
struct Registry {
  std::mutex mutex;
  std::vector<const Tally*> tallies;
  std::vector<const OwnCount*> own;
  std::vector<unsigned long long> past = std::vector<unsigned long long>(k_fixed_counters + algorithms().size() + 1, 0);
};
Registry& registry() {
  static auto* const registry = new Registry;
  return *registry;
}

}  // namespace

Tally::Tally(std::size_t row) : row_(row) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.tallies.push_back(this);
}

Tally::~Tally() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  add_to(all.past);
  std::erase(all.tallies, this);
}

void Tally::bind(const std::array<unsigned long long, k_fixed_counters>& per_run) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  add_to(all.past);
  runs_before_ = runs_.value();
  per_run_ = per_run;
}

void Tally::add_to(std::vector<unsigned long long>& values) const {
  const unsigned long long runs = runs_.value() - runs_before_;
  for (std::size_t i = 0; i < k_fixed_counters; ++i) values[i] += runs * per_run_[i];
  values[k_fixed_counters + row_] += runs;
  if (runs_before_ == 0 && runs > 0) --values[at(Counter::plan_hits)];  // the first run made the plan
}

OwnCount::OwnCount(Counter counter) : counter_(counter) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.own.push_back(this);
}

OwnCount::~OwnCount() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.past[at(counter_)] += value();
  std::erase(all.own, this);
}

namespace {

// Rows point into the names.
struct Table {
  std::deque<std::string> names;
  std::vector<colltopo_counter> rows = {
      {"calls", "collective calls that colltopo served"},
      {"bytes", "bytes of the shards or vectors of those calls"},
      {"fallbacks", "calls left to the previous implementation"},
      {"plan_hits", "calls whose plan was in the cache"},
      {"messages", "point-to-point messages sent"},
      {"bytes_sent", "bytes of those messages"},
      {"messages_between_nodes", "messages sent to another node"},
      {"bytes_between_nodes", "bytes of those messages"},
      {"messages_on_lanes", "messages sent over endpoints of colltopo's own (transport ucx)"},
      {"operations", "calls served that do not block: non-blocking ones, and starts of persistent ones"},
      {"trial_calls", "calls that took turns in trials, whoever served them"},
      {"trials", "classes of sizes that a trial has decided"},
      {"trials_for_previous", "of these, those that went to the previous implementation"},
  };

  Table() {
    for (const Algorithm& algorithm : algorithms()) add(algorithm.name);
    add("file");
    rows.push_back({nullptr, nullptr});
  }
  const char* kept(std::string text) { return names.emplace_back(std::move(text)).c_str(); }
  void add(std::string_view algorithm) {
    std::string identifier(algorithm);
    std::ranges::replace(identifier, '-', '_');
    const char* const name = kept("calls_" + identifier);
    rows.push_back({name, kept(fmt::format("calls served by {}", algorithm))});
  }
};

}  // namespace

const std::vector<colltopo_counter>& counter_table() {
  static const auto* const table = new Table;  // as the registry
  return table->rows;
}

unsigned long long counter_value(std::size_t index) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  std::vector<unsigned long long> values = all.past;
  for (const Tally* tally : all.tallies) tally->add_to(values);
  for (const OwnCount* own : all.own) values[at(own->counter())] += own->value();
  return index < values.size() ? values[index] : 0;
}

}  // namespace colltopo
