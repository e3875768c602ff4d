// Decisions and plans of one communicator. Everything that decides is equal on all ranks: settings (compared once), the
// placement of ranks, and of a call only bytes, root and the operation's properties.

#include "execution/comm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "colltopo/error.h"
#include "colltopo/text.h"

namespace colltopo {

namespace {

constexpr std::size_t index_of(Collective collective) { return static_cast<std::size_t>(collective); }
constexpr std::size_t k_most_plans = 64;
constexpr std::size_t k_most_decisions = 1024;
constexpr std::size_t k_most_segments = 64;

std::size_t largest_shard(const colltopo_call& call, Rank ranks) {
  return call.counts == nullptr ? call.count : *std::max_element(call.counts, call.counts + ranks);
}

// The row of an algorithm in the table; the row after the last stands for files.
std::size_t row_of(const Algorithm* algorithm) {
  return algorithm == nullptr ? algorithms().size() : static_cast<std::size_t>(algorithm - algorithms().data());
}

std::string group_text(const std::vector<int>& group_of) {
  std::string text;
  for (const int group : group_of) text += std::to_string(group) + ",";
  return text;
}

// Places by the order in which they first appear: a torus of nodes counts them so, whatever the caller calls them.
void number_from_0(std::vector<int>& places) {
  std::map<int, int> numbers;
  for (int& place : places) place = numbers.emplace(place, static_cast<int>(numbers.size())).first->second;
}

}  // namespace

std::size_t Comm::DecisionHash::operator()(const DecisionKey& key) const {
  std::size_t hash = key.bytes * 0x9E3779B97F4A7C15ull;
  for (const auto part : {index_of(key.collective), key.element_size, static_cast<std::size_t>(key.root),
                          static_cast<std::size_t>(key.op_properties)}) {
    hash = (hash ^ part) * 0x9E3779B97F4A7C15ull;
  }
  return hash ^ (hash >> 32);
}

Comm::Comm(Rank rank, Rank ranks, const colltopo_callbacks& callbacks)
    : rank_(rank), ranks_(ranks), callbacks_(callbacks), transport_(callbacks), agreement_(rank, ranks, callbacks) {}

void Comm::say(int level, const std::string& line) const noexcept {
  if (callbacks_.say != nullptr && level <= settings_.verbose) callbacks_.say(callbacks_.context, level, line.c_str());
}

void Comm::set(std::string_view name, std::string_view value) {
  try {
    settings_.set(name, value);
  } catch (const Error& error) {
    // Ranks compare their settings at the first call, so a fault that not all of them have is seen there.
    settings_.canonical += fmt::format("{}={} (refused)\n", name, value);
    const std::string line = fmt::format("{}; using the next component", error.what());
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
    if (!fault.empty()) say(0, fault + "; using the next component");
    return;
  }
  fit_topology();
  chooser_ = std::make_unique<Chooser>(ranks_, Placement{node_of_, settings_.dimensions}, settings_.machine, options_);
}

void Comm::agree_on_settings() {
  // 62 bits of the hash, so that the negative is a long long as well.
  const auto hash = static_cast<long long>(std::hash<std::string>{}(settings_.canonical) >> 2);
  std::string none;
  if (agreement_.all_good(&none, hash)) return;
  declined_.fill(true);
  if (rank_ == 0) {
    say(0, "ranks of this communicator have different settings; all must have the same; using the next component");
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
  const Rule* const rule = matching_rule(request);
  const std::size_t segment =
      rule != nullptr && rule->segment_bytes > 0 ? rule->segment_bytes : settings_.segment_bytes;
  const std::size_t whole =
      collective == Collective::allreduce ? key.bytes / static_cast<std::size_t>(ranks_) : key.bytes;
  if (segment > 0) {
    decision.segments = static_cast<int>(std::clamp<std::size_t>((whole + segment - 1) / segment, 1, k_most_segments));
  }
  return decisions_.emplace(key, std::move(decision)).first->second;
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
    if (!fault.empty()) say(0, fmt::format("{}: {}; using the next component", name(request.collective), fault));
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
  if (rank_ == 0 && !said) say(0, fmt::format("{}: {}; using the next component", name(collective), line));
  said = true;
}

void Comm::say_decision(const Request& request, const std::string& what, const std::string& source) const {
  if (rank_ != 0 || settings_.verbose == 0) return;
  say(1, fmt::format("{} of {} bytes on {} ranks, {} nodes: {} ({})", name(request.collective), request.bytes, ranks_,
                     Placement{node_of_, {}}.nodes(), what, source));
}

bool Comm::serves(Collective collective, const colltopo_call& call) {
  if (!ready_) first_call();
  if (declined_[index_of(collective)]) return false;
  const Decision& decision = decide(collective, call);
  return decision.file != nullptr || decision.algorithm != nullptr;
}

int Comm::run(Collective collective, const colltopo_call& call) {
  Recent& recent = recent_[index_of(collective)];
  if (recent.valid && call.counts == nullptr && recent.count == call.count &&
      recent.element_size == call.element_size && recent.root == call.root &&
      recent.op_properties == call.op_properties && recent.in_place == call.in_place) {
    if (recent.served == nullptr) {
      fallbacks_.add();
      return COLLTOPO_DECLINED;
    }
    return run_served(collective, call, *recent.served, 0);
  }
  recent.valid = false;
  if (!serves(collective, call)) {
    fallbacks_.add();
    if (call.counts == nullptr) {
      recent = {call.count, call.element_size, call.root, call.op_properties, call.in_place, true, nullptr};
    }
    return COLLTOPO_DECLINED;
  }
  const Decision& decision = decide(collective, call);
  Served* const plan = served(collective, call, decision);
  const int code = run_served(collective, call, *plan, decision.segments);
  if (code == 0 && call.counts == nullptr)
    recent = {call.count, call.element_size, call.root, call.op_properties, call.in_place, true, plan};
  return code;
}

Program Comm::program_of(Collective collective, int root, const Decision& decision, bool& in_place_safe) {
  if (decision.file != nullptr) {
    in_place_safe = decision.file->properties.in_place;
    return decision.file->program;
  }
  Shape shape{collective, ranks_, 1, rooted(collective) ? root : 0};
  shape.chunks = decision.algorithm->chunks(shape, decision.options);
  in_place_safe = decision.algorithm->properties && decision.algorithm->properties(shape, decision.options).in_place;
  return decision.algorithm->program(shape, rank_, decision.options);
}

Comm::Served* Comm::served(Collective collective, const colltopo_call& call, const Decision& decision) {
  const bool in_place = call.in_place != 0 && collective != Collective::bcast;
  const std::string key =
      fmt::format("{} {} {} {} {}", name(collective), decision.name, group_text(decision.options.group_of),
                  rooted(collective) ? call.root : 0, in_place);
  if (const auto found = plans_.find(key); found != plans_.end()) {
    return found->second.get();
  }
  if (plans_.size() >= k_most_plans) {
    plans_.clear();
    recent_.fill({});
  }
  bool in_place_safe = false;
  Program program = program_of(collective, call.root, decision, in_place_safe);
  const bool copies_input = in_place && !in_place_safe;
  auto made = std::make_unique<Served>(std::move(program), PlanOptions{in_place && in_place_safe}, transport_,
                                       row_of(decision.algorithm));
  made->copies_input = copies_input;
  made->stepped = decision.file == nullptr || decision.file->stepped;
  return plans_.emplace(key, std::move(made)).first->second.get();
}

void Comm::bind(Served& served, const colltopo_call& call, int segments) {
  const std::span<const std::size_t> counts = call.counts == nullptr
                                                  ? std::span<const std::size_t>{}
                                                  : std::span(call.counts, static_cast<std::size_t>(ranks_));
  const Pace pace = served.stepped ? settings_.pace : Pace::free;
  if (!served.execution.bind({call.count, call.element_size, counts, segments, pace})) return;
  unsigned long long messages_between_nodes = 0, bytes_between_nodes = 0;
  served.execution.for_each_message([&](Rank peer, std::size_t bytes) {
    if (node_of_[static_cast<std::size_t>(peer)] == node_of_[static_cast<std::size_t>(rank_)]) return;
    ++messages_between_nodes;
    bytes_between_nodes += bytes;
  });
  std::array<unsigned long long, k_fixed_counters> per_run{};
  const auto adds = [&](Counter counter, unsigned long long by) { per_run[static_cast<std::size_t>(counter)] = by; };
  adds(Counter::calls, 1);
  adds(Counter::plan_hits, 1);
  adds(Counter::bytes, largest_shard(call, ranks_) * call.element_size);
  adds(Counter::messages, served.execution.messages());
  adds(Counter::bytes_sent, served.execution.bytes_sent());
  adds(Counter::messages_between_nodes, messages_between_nodes);
  adds(Counter::bytes_between_nodes, bytes_between_nodes);
  served.tally.bind(per_run);
}

// `segments` 0: the plan was bound to an equal call by the one before.
int Comm::run_served(Collective collective, const colltopo_call& call, Served& served, int segments) {
  if (segments > 0) {
    // An equal call that follows takes the short way only as long as nothing else has been bound to this plan.
    for (Recent& recent : recent_) recent.valid = recent.valid && recent.served != &served;
    bind(served, call, segments);
  }
  Call bound{static_cast<const std::byte*>(call.input), static_cast<std::byte*>(call.output), call.reduce,
             call.reduce_context};
  if (collective == Collective::bcast) {
    bound.input = bound.output;
  } else if (call.in_place != 0) {
    const Shape& shape = served.plan.program().shape();
    const std::size_t shard = call.count * call.element_size;
    bound.input = bound.output + (collective == Collective::allgather ? static_cast<std::size_t>(rank_) * shard : 0);
    if (served.copies_input && shape.input_chunks(rank_) > 0) {
      const Layout layout = call.counts == nullptr
                                ? Layout(shape, call.count, call.element_size)
                                : Layout(shape, {call.counts, static_cast<std::size_t>(ranks_)}, call.element_size);
      copied_input_.resize(layout.input_bytes(rank_));
      std::memcpy(copied_input_.data(), bound.input, copied_input_.size());
      bound.input = copied_input_.data();
    }
  }
  transport_.serve(collective);
  const int code = served.execution.run(bound);
  served.tally.ran();
  if (code != 0) keep_for_ever(served);
  if (settings_.verbose > 1 && rank_ == 0) {
    say(2, fmt::format("{} of {} elements of {} bytes: {} messages, {} bytes sent", name(collective), call.count,
                       call.element_size, served.execution.messages(), served.execution.bytes_sent()));
  }
  return code;
}

// After an error, messages that were given up may still arrive in the plan's memory.
void Comm::keep_for_ever(const Served& served) {
  static auto* const mutex = new std::mutex;
  static auto* const kept = new std::vector<std::pair<std::unique_ptr<Served>, std::vector<std::byte>>>;
  for (Recent& recent : recent_) recent.valid = recent.valid && recent.served != &served;
  const auto found = std::ranges::find_if(plans_, [&](const auto& entry) { return entry.second.get() == &served; });
  if (found == plans_.end()) return;
  const std::lock_guard lock(*mutex);
  kept->emplace_back(std::move(found->second), std::move(copied_input_));
  plans_.erase(found);
  copied_input_ = {};
}

std::size_t Comm::memory_bytes() const {
  std::size_t bytes = sizeof(*this) + copied_input_.capacity() + node_of_.capacity() * sizeof(int) +
                      decisions_.size() * sizeof(Decision);
  for (const auto& [key, served] : plans_)
    bytes += key.size() + served->plan.memory_bytes() + served->execution.memory_bytes();
  return bytes;
}

}  // namespace colltopo
