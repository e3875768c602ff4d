// Decisions of one communicator. Everything that decides is equal on all ranks: settings (compared once), the
// placement of ranks, and of a call only bytes, root and the operation's properties.

#include "comm/comm.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "colltopo/error.h"
#include "colltopo/text.h"

namespace colltopo {

namespace {

constexpr std::size_t k_most_decisions = 1024;
constexpr std::size_t k_most_segments = 64;
constexpr std::size_t k_window_segment_bytes = 65536;  // of a shard, where nobody says

// Places by the order in which they first appear: a torus of nodes counts them so, whatever the caller calls them.
void number_from_0(std::vector<int>& places) {
  std::map<int, int> numbers;
  for (int& place : places) place = numbers.emplace(place, static_cast<int>(numbers.size())).first->second;
}

}  // namespace

std::size_t largest_shard(const colltopo_call& call, Rank ranks) {
  return call.counts == nullptr ? call.count : *std::max_element(call.counts, call.counts + ranks);
}

std::string group_text(const std::vector<int>& group_of) {
  std::string text;
  for (const int group : group_of) text += std::to_string(group) + ",";
  return text;
}

std::size_t Comm::DecisionHash::operator()(const DecisionKey& key) const {
  std::size_t hash = key.bytes * 0x9E3779B97F4A7C15ull;
  for (const auto part : {index_of(key.collective), key.element_size, static_cast<std::size_t>(key.root),
                          static_cast<std::size_t>(key.op_properties)}) {
    hash = (hash ^ part) * 0x9E3779B97F4A7C15ull;
  }
  return hash ^ (hash >> 32);
}

Comm::Comm(Rank rank, Rank ranks, const colltopo_callbacks& callbacks)
    : rank_(rank),
      ranks_(ranks),
      callbacks_(callbacks),
      transport_(callbacks),
      agreement_(rank, ranks, callbacks),
      lanes_(rank, ranks, callbacks_, agreement_, transport_) {}

void Comm::say(int level, const std::string& line) const noexcept {
  if (callbacks_.say != nullptr && level <= settings_.verbose) callbacks_.say(callbacks_.context, level, line.c_str());
}

const char* Comm::previous() const noexcept {
  return callbacks_.previous == nullptr ? "the previous implementation" : callbacks_.previous;
}

void Comm::set(std::string_view name, std::string_view value) {
  try {
    settings_.set(name, value);
  } catch (const Error& error) {
    // Ranks compare their settings at the first call, so a fault that not all of them have is seen there.
    settings_.canonical += fmt::format("{}={} (refused)\n", name, value);
    const std::string line = fmt::format("{}; using {}", error.what(), previous());
    if (const auto collective = Settings::concerns(name)) {
      declined_[index_of(*collective)] = true;
    } else {
      declined_.fill(true);
    }
    throw Error(line);
  }
}

// Ranks agree twice: on their settings, which say what to find out, and on what they found.
void Comm::first_call() {
  ready_ = true;
  node_of_.assign(static_cast<std::size_t>(ranks_), 0);
  agree_on_settings();
  if (std::ranges::all_of(declined_, [](bool declined) { return declined; })) return;
  std::string fault;
  long long checksum = 0;
  load_rules(&fault, &checksum);
  if (!find_places() && fault.empty()) fault = "cannot find out which ranks share a node";
  if (!settings_.topology.empty() || !settings_.schedules.empty()) filed_.place(settings_, rank_, ranks_, callbacks_);
  std::string places = group_text(node_of_) + "/" + group_text(options_.group_of) + "/" + filed_.placement_text();
  checksum = (checksum ^ static_cast<long long>(std::hash<std::string>{}(places) >> 2));
  if (!agreement_.all_good(&fault, checksum)) {
    declined_.fill(true);
    if (!fault.empty()) say(0, fmt::format("{}; using {}", fault, previous()));
    return;
  }
  fit_topology();
  chooser_ = std::make_unique<Chooser>(ranks_, Placement{node_of_, settings_.dimensions}, settings_.machine, options_);
}

void Comm::agree_on_settings() {
  // 62 bits of the hash, so that the negative is a long long as well.
  const std::string equal = settings_.canonical + std::to_string(callbacks_.architecture);
  const auto hash = static_cast<long long>(std::hash<std::string>{}(equal) >> 2);
  std::string none;
  if (agreement_.all_good(&none, hash)) return;
  declined_.fill(true);
  if (rank_ == 0) {
    say(0, fmt::format("ranks of this communicator have different settings; all must have the same; using {}",
                       previous()));
  }
}

void Comm::load_rules(std::string* fault, long long* checksum) {
  if (settings_.rules.empty()) return;
  try {
    rules_ = Rules::read(settings_.rules);
    *checksum = rules_->checksum();
  } catch (const std::exception& error) {
    *fault = error.what();
  }
}

bool Comm::find_places() {
  options_ = settings_.options;
  bool good = true;
  const auto find = [&](int level, std::vector<int>& places) {
    if (callbacks_.locality == nullptr) return;
    good = callbacks_.locality(callbacks_.context, level, places.data()) == 0 && good;
    number_from_0(places);
  };
  find(COLLTOPO_NODE, node_of_);
  if (settings_.group.size > 0) {
    options_.group = settings_.group.size;
  } else {
    options_.group_of = node_of_;
    if (settings_.group.level != COLLTOPO_NODE) find(settings_.group.level, options_.group_of);
  }
  return good;
}

void Comm::fit_topology() {
  const RankPlaces& places = filed_.places();
  if (!places.empty() && std::ranges::all_of(places.ranks_on, [](int count) { return count > 0; })) {
    // Nodes by their hosts' numbers: that is how the sides count.
    for (std::size_t host = 0, place = 0; host < places.ranks_on.size(); ++host)
      for (int i = 0; i < places.ranks_on[host]; ++i, ++place)
        node_of_[static_cast<std::size_t>(places.rank_at[place])] = static_cast<int>(host);
    if (settings_.group.size == 0 && settings_.group.level == COLLTOPO_NODE) options_.group_of = node_of_;
  }
  std::size_t product = 1;
  for (const int side : settings_.dimensions) product *= static_cast<std::size_t>(side);
  const auto nodes = static_cast<std::size_t>(Placement{node_of_, {}}.nodes());
  if (!settings_.dimensions.empty() && product != nodes) {
    // A communicator on part of the machine has no such shape; its own nodes count as a crossbar.
    if (rank_ == 0)
      say(1, fmt::format("topology {} has {} nodes, this communicator {}; taken as a crossbar", settings_.topology,
                         product, nodes));
    settings_.dimensions.clear();
  }
  // With one rank per node the ranks form the torus themselves.
  if (nodes == static_cast<std::size_t>(ranks_) && (places.empty() || places.in_order))
    options_.dimensions = settings_.dimensions;
  else if (nodes == static_cast<std::size_t>(ranks_) && !settings_.dimensions.empty() && rank_ == 0)
    say(1, fmt::format("ranks are not in the order of the hosts of {}; closed forms take them as a ring",
                       settings_.topology));
  options_.multiport = !options_.dimensions.empty();
}

const Comm::Decision& Comm::decide(Collective collective, const colltopo_call& call) {
  const bool has_root = rooted(collective);
  const DecisionKey key{collective, largest_shard(call, ranks_) * call.element_size, call.element_size,
                        has_root ? call.root : 0, reduces(collective) ? call.op_properties : 0};
  if (const auto found = decisions_.find(key); found != decisions_.end()) return found->second;
  if (decisions_.size() >= k_most_decisions) decisions_.clear();
  const Request request{collective, key.root, key.bytes, (call.op_properties & COLLTOPO_OP_COMMUTATIVE) != 0,
                        (call.op_properties & COLLTOPO_OP_ASSOCIATIVE_BITS) != 0};
  Decision decision = decided(collective, request);
  cut(decision, request);
  return decisions_.emplace(key, std::move(decision)).first->second;
}

// Segments of the size that a rule or the setting says; where nobody says one, as the steps of a file ask for. The
// algorithms of the table fill their channels in every step and are not cut by themselves.
void Comm::cut(Decision& decision, const Request& request) const {
  const Rule* const rule = matching_rule(request);
  const std::optional<std::size_t> segment =
      rule != nullptr && rule->segment_bytes > 0 ? rule->segment_bytes : settings_.segment_bytes;
  if (segment) {
    const std::size_t whole =
        request.bytes / static_cast<std::size_t>(Shape{request.collective, ranks_, 1, request.root}.parts());
    if (*segment > 0)
      decision.segments =
          static_cast<int>(std::clamp<std::size_t>((whole + *segment - 1) / *segment, 1, k_most_segments));
  } else if (settings_.pace == Pace::window && decision.file != nullptr && decision.file->pattern.in_order) {
    decision.segments =
        static_cast<int>(std::clamp<std::size_t>(request.bytes / k_window_segment_bytes, 1, k_most_segments));
  } else if (decision.file != nullptr) {
    const Machine& machine = settings_.machine;
    const Port port = Placement{node_of_, {}}.nodes() == 1 ? Port{machine.overhead, machine.bandwidth_node}
                                                           : Port{machine.overhead, machine.bandwidth_network};
    if (settings_.pace == Pace::free)
      decision.segments = segments_for(decision.file->pattern, decision.file->program.shape(),
                                       static_cast<double>(request.bytes), port);
  }
  if (decision.file != nullptr && !decision.file->pattern.in_order) decision.order = SegmentOrder::op_by_op;
  if (decision.segments > 1 && rank_ == 0)
    say(1, fmt::format("{} of {} bytes: {} segments", name(request.collective), request.bytes, decision.segments));
}

const Rule* Comm::matching_rule(const Request& request) const {
  if (!rules_) return nullptr;
  const Placement placement{node_of_, {}};
  return rules_->match({request.collective, ranks_, placement.ranks_per_node() == 1, placement.nodes() == 1,
                        settings_.topology, request.bytes});
}

// A parameter goes before a rule, a rule before schedules of folders, those before the model.
Comm::Decision Comm::decided(Collective collective, const Request& request) {
  const Forced& forced = settings_.forced[index_of(collective)];
  if (forced.kind != Forced::Kind::automatic) return decided_by(forced, "parameter", request);
  if (const Rule* rule = matching_rule(request); rule != nullptr && rule->choice.kind != Forced::Kind::automatic) {
    return decided_by(rule->choice, rule->place, request);
  }
  if (auto decision = decided_by_folder(request)) return *std::move(decision);
  const Candidate chosen = chooser_->choose(request);
  say_decision(request, chosen.name, fmt::format("model, predicted {:.3g} us", chosen.seconds * 1e6));
  return {chosen.algorithm, nullptr, chosen.options, chosen.name, 1};
}

Comm::Decision Comm::decided_by(const Forced& choice, const std::string& source, const Request& request) {
  if (choice.kind == Forced::Kind::file) return decided_by_file(choice.path, source, request);
  if (choice.kind == Forced::Kind::fallback) {
    say_decision(request, "fallback", source);
    return {nullptr, nullptr, {}, "fallback", 1};
  }
  const Candidate chosen = chooser_->price(*choice.algorithm, choice.over(options_), request);
  if (!chosen.excluded.empty()) {
    // An operation's properties may differ from call to call, what the shape refuses does not.
    decline_once(request.collective, fmt::format("{} {}", choice.algorithm->name, chosen.excluded));
    return {nullptr, nullptr, {}, chosen.name, 1};
  }
  say_decision(request, chosen.name, fmt::format("{}, predicted {:.3g} us", source, chosen.seconds * 1e6));
  return {chosen.algorithm, nullptr, chosen.options, chosen.name, 1};
}

std::optional<Comm::Decision> Comm::decided_by_folder(const Request& request) {
  if (settings_.schedules.empty() || request.bytes < settings_.schedules_from_bytes) return std::nullopt;
  std::vector<FiledSchedules::Remark> remarks;
  const std::string path = filed_.path(request.collective, request.root, agreement_, &remarks);
  for (const FiledSchedules::Remark& remark : remarks) say(remark.level, remark.line);
  if (path.empty()) return std::nullopt;
  std::string fault;
  const LoadedProgram* const loaded =
      files_.load(path, wanted_of(request, filed_.places().rank_at), agreement_, &fault);
  if (loaded == nullptr) {
    if (!fault.empty()) say(0, fmt::format("{}: {}; the model decides", name(request.collective), fault));
    filed_.forget(request.collective, request.root);
    return std::nullopt;
  }
  if (const std::string unfit = unfit_for(loaded->properties, request); !unfit.empty()) {
    if (rank_ == 0) say(1, fmt::format("{}: {} {}; the model decides", name(request.collective), path, unfit));
    return std::nullopt;
  }
  // The same file may also be forced, with rank r in place r.
  const std::string called = "file:" + path + (filed_.places().in_order ? "" : " by host");
  say_decision(request, called, "found by topology and placement");
  return Decision{nullptr, loaded, {}, called, 1};
}

ScheduleFiles::Wanted Comm::wanted_of(const Request& request, std::span<const Rank> rank_at) const {
  return {request.collective, rank_, ranks_, rank_at, settings_.pace == Pace::steps};
}

Comm::Decision Comm::decided_by_file(const std::string& path, const std::string& source, const Request& request) {
  std::string fault;
  const LoadedProgram* const loaded = files_.load(path, wanted_of(request, {}), agreement_, &fault);
  Decision decision{nullptr, loaded, {}, "file:" + path, 1};
  if (loaded == nullptr) {
    if (!fault.empty()) say(0, fmt::format("{}: {}; using {}", name(request.collective), fault, previous()));
    declined_[index_of(request.collective)] = true;
    return decision;
  }
  const Rank root = loaded->program.shape().root;
  const std::string unfit = rooted(request.collective) && root != request.root
                                ? fmt::format("has root {}, the call {}", root, request.root)
                                : unfit_for(loaded->properties, request);
  if (!unfit.empty()) {
    decline_once(request.collective, fmt::format("{} {}", path, unfit));
    decision.file = nullptr;
    return decision;
  }
  say_decision(request, decision.name, source);
  return decision;
}

void Comm::decline_once(Collective collective, const std::string& line) {
  bool& said = said_[index_of(collective)];
  if (rank_ == 0 && !said) say(0, fmt::format("{}: {}; using {}", name(collective), line, previous()));
  said = true;
}

void Comm::say_decision(const Request& request, const std::string& what, const std::string& source) const {
  if (rank_ != 0 || settings_.verbose == 0) return;
  say(1, fmt::format("{} of {} bytes on {} ranks, {} nodes: {} ({})", name(request.collective), request.bytes, ranks_,
                     Placement{node_of_, {}}.nodes(), what, source));
}

std::size_t Comm::memory_bytes() const {
  std::size_t bytes = sizeof(*this) + copied_input_.capacity() + node_of_.capacity() * sizeof(int) +
                      decisions_.size() * sizeof(Decision);
  for (const auto& [key, served] : plans_)
    bytes += key.size() + served->plan.memory_bytes() + served->execution.memory_bytes();
  return bytes;
}

}  // namespace colltopo
