// Decisions of one communicator. Everything that decides is equal on all ranks: settings and files (agreed on once),
// the placement of ranks, and of a call only bytes, root and the operation's properties.

#include "comm/selector.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include "colltopo/aggregation.h"
#include "colltopo/error.h"
#include "colltopo/node_network.h"
#include "comm/build_id.h"
#include "comm/file_stamps.h"
#include "comm/machine_network.h"

namespace colltopo {

namespace {

constexpr std::size_t k_most_segments = 64;
constexpr std::size_t k_most_kept = 1024;  // decisions of a collective

// Places by the order in which they first appear: a torus of nodes counts them so, whatever the caller calls them.
void number_from_0(std::vector<int>& places) {
  std::map<int, int> numbers;
  int before = 0, number_before = -1;
  for (int& place : places) {
    if (number_before < 0 || place != before) {  // neighbours mostly share a place
      before = place;
      number_before = numbers.emplace(place, static_cast<int>(numbers.size())).first->second;
    }
    place = number_before;
  }
}

constexpr const char* k_settings = "different settings";

/// To find out which settings differ: each by itself.
Findings each_setting(const Settings& settings) {
  std::map<std::string, std::string> given;
  std::istringstream lines(settings.canonical);
  for (std::string line; std::getline(lines, line);) given[line.substr(0, line.find('='))] = line;
  Findings findings;
  for (const colltopo_setting* setting = colltopo_settings(); setting->name != nullptr; ++setting)
    findings.same("different values of ", checksum_of(given[setting->name]), setting->name);
  return findings;
}

int op_properties(const Request& request) { return (request.commutative ? 1 : 0) | (request.associative_bits ? 2 : 0); }

}  // namespace

// The request as the chooser knows it: of the collective whose schedules serve it. What small blocks would choose where
// nobody knows sizes: they are why messages are put together at all.
constexpr std::size_t k_small_block = 128;  // bytes
Request of_schedules(const Request& request) {
  Request same = request;
  same.collective = scheduled(request.collective);
  if (same.collective != request.collective && same.bytes == 0) same.bytes = k_small_block;
  return same;
}

bool is_sized(const Request& request) { return row(request.collective).sizes != Sizes::of_messages; }

std::string unfit_for(const LoadedProgram& file, const Request& request) {
  if (const Sizes sizes = row(request.collective).sizes; file.pattern.sizes < sizes)
    return sizes == Sizes::of_ranks ? "keeps shards in scratch, which has no room for those of any size"
                                    : "passes shards on, whose sizes only their two ends know";
  // What a reduction may serve depends on all programs, and nobody proves them in a job.
  if (reduces(request.collective) && !file.proved)
    return "has no proof, which a reduction needs: colltopo convert FILE --to text -o FILE makes it";
  return unfit_for(Properties{file.proof.in_place, file.proof.keeps_rank_order, file.proof.same_on_all_ranks}, request);
}

bool Selector::declines_all() const {
  return std::ranges::all_of(declined_, [](bool declined) { return declined; });
}

void Selector::decline_once(Collective collective, const std::string& line) {
  bool& said = said_[index_of(collective)];
  if (!said) voice_.say_once(0, fmt::format("{}: {}; using {}", name(collective), line, voice_.previous()));
  said = true;
}

// What a rank finds without its peers is agreed on in one go. Places that ranks must tell each other come after that:
// whether to ask for them is itself a setting.
bool Selector::settle(const colltopo_callbacks& callbacks, std::string* fault) {
  node_of_.assign(static_cast<std::size_t>(ranks_), 0);
  const auto agreed = [&](const Findings& findings, std::optional<std::size_t> length_at, std::size_t* length) {
    Agreement::Result result = agreement_.agree(findings);
    if (!result.good) {
      if (result.different == k_settings) {
        const Agreement::Result each = agreement_.agree(each_setting(settings_));
        if (!each.different.empty()) result = each;
      }
      decline_all();
      *fault = std::move(result.fault);
    }
    if (result.good && length_at) *length = static_cast<std::size_t>(result.largest(*length_at));
    return result.good;
  };
  // Facts are as many on every rank, whatever one of them cannot find out.
  const auto found_out = [](Findings& findings, const auto& look) {
    try {
      return look();
    } catch (const std::exception& error) {
      findings.fault(error.what());
      return 0LL;
    }
  };
  const auto places = [&](Findings& findings) {
    findings.same("different places in the network", found_out(findings, [&] {
                    if (!find_places(callbacks)) findings.fault("cannot find out which ranks share a node");
                    if (!settings_.topology.empty() || !settings_.schedules.empty())
                      filed_.place(settings_, rank_, ranks_, callbacks);
                    return checksum_of(node_of_) ^ checksum_of(filed_.placement_text());
                  }));
  };
  Findings own;
  if (!fault->empty()) own.fault(std::exchange(*fault, ""));
  own.same("different builds of colltopo", build_checksum());
  own.same(k_settings, checksum_of(settings_.canonical));
  own.same("different kinds of processors", static_cast<long long>(callbacks.architecture >> 2));
  const long long network = found_out(own, [&] { return machine_checksum(settings_.topology); });
  own.same("different topologies under ", network, settings_.topology);
  own.same("different lists of hosts", checksum_of(fmt::format("{}", fmt::join(settings_.hosts, ","))));
  own.same("different sides of the network", checksum_of(settings_.dimensions));
  const long long rules = found_out(own, [&] {
    if (!settings_.rules.empty()) rules_ = Rules::read(settings_.rules);
    return rules_ ? rules_->checksum() : 0LL;
  });
  own.same("different rules under ", rules, settings_.rules);
  // What rank 0 remembers goes to all, if it is anything: how much of it costs no message to say.
  std::string remembered, unread;
  std::optional<std::size_t> length_at;
  std::size_t length = 0;
  const auto place_all = [&](Findings& findings) {
    places(findings);
    kind_ = kind_of_communicator(node_of_, settings_.canonical, network);
    if (rank_ == 0) remembered = own_memory(callbacks, &unread);
    length_at = findings.largest(static_cast<long long>(remembered.size()));
  };
  if (callbacks.places_are_local != 0) place_all(own);
  if (!agreed(own, length_at, &length)) return false;
  if (declines_all()) return false;
  if (callbacks.places_are_local == 0) {
    Findings found;
    place_all(found);
    if (!agreed(found, length_at, &length)) return false;
  }
  if (!unread.empty()) voice_.say(0, unread);
  take_memory(agreement_.text_of_rank_0(remembered, length));
  if (settings_.group.size == 0 && settings_.group.level != COLLTOPO_NODE && callbacks.locality != nullptr) {
    std::vector<int> group_of(node_of_);
    Findings found;
    if (callbacks.locality(callbacks.context, settings_.group.level, group_of.data()) != 0)
      found.fault("cannot find out which ranks share a place of the setting group");
    number_from_0(group_of);
    found.same("different groups", checksum_of(group_of));
    if (!agreed(found, {}, nullptr)) return false;
    options_.groups = grouped(group_of);
  }
  fit_topology();
  if (rules_) rules_fingerprint_ = filed_.fingerprint();
  chooser_ = shared_chooser(ranks_, Placement{node_of_, dimensions_, network_of_nodes()}, machine_, options_,
                            settings_.values);
  return true;
}

// Null where it is unknown, or where prices by all links would take long.
std::shared_ptr<const NodeNetwork> Selector::network_of_nodes() const {
  const RankPlaces& places = filed_.places();
  const int nodes = Placement{node_of_, {}}.nodes();
  if (places.empty() || nodes < 2 || ranks_ > k_most_ranks_by_link) return nullptr;
  std::vector<NodeId> host_of(static_cast<std::size_t>(nodes), 0);
  for (std::size_t host = 0, place = 0; host < places.ranks_on.size(); ++host) {
    for (int i = 0; i < places.ranks_on[host]; ++i, ++place) {
      const auto rank = static_cast<std::size_t>(places.rank_at[place]);
      host_of[static_cast<std::size_t>(node_of_[rank])] = static_cast<NodeId>(host);
    }
  }
  return node_network(machine_network(settings_.topology), host_of);
}

void Selector::replace_by(Selector&& other) {
  write_decisions();
  static_cast<SelectorState&>(*this) = std::move(static_cast<SelectorState&>(other));
}

std::string Selector::stamp() const {
  std::string stamp;
  if (const std::size_t end = end_of_file_name(settings_.topology); end > 0)
    stamp += stamp_of_file(settings_.topology.substr(0, end));
  if (!settings_.rules.empty()) stamp += stamp_of_file(settings_.rules);
  if (!filed_.looks()) return stamp;
  std::istringstream folders(filed_.folders());
  for (std::string folder; std::getline(folders, folder, ':');)
    if (!folder.empty()) stamp += stamp_of_folder(folder);
  return stamp;
}

bool Selector::find_places(const colltopo_callbacks& callbacks) {
  options_ = {};
  bool good = true;
  if (callbacks.locality != nullptr) {
    good = callbacks.locality(callbacks.context, COLLTOPO_NODE, node_of_.data()) == 0;
    number_from_0(node_of_);
  }
  if (settings_.group.size > 0)
    options_.values.set("group", settings_.group.size);
  else
    options_.groups = grouped(node_of_);
  return good;
}

void Selector::fit_topology() {
  const RankPlaces& places = filed_.places();
  if (!places.empty() && std::ranges::all_of(places.ranks_on, [](int count) { return count > 0; })) {
    // Nodes by their hosts' numbers: that is how the sides count.
    for (std::size_t host = 0, place = 0; host < places.ranks_on.size(); ++host)
      for (int i = 0; i < places.ranks_on[host]; ++i, ++place)
        node_of_[static_cast<std::size_t>(places.rank_at[place])] = static_cast<int>(host);
    if (settings_.group.size == 0 && settings_.group.level == COLLTOPO_NODE) options_.groups = grouped(node_of_);
  }
  dimensions_ = settings_.dimensions;
  std::size_t product = 1;
  for (const int side : dimensions_) product *= static_cast<std::size_t>(side);
  const auto nodes = static_cast<std::size_t>(Placement{node_of_, {}}.nodes());
  if (!dimensions_.empty() && product != nodes) {
    // A communicator on part of the machine has no such shape; its own nodes count as a crossbar.
    voice_.say_once(1, fmt::format("topology {} has {} nodes, this communicator {}; taken as a crossbar",
                                   settings_.topology, product, nodes));
    dimensions_.clear();
  }
  // With one rank per node the ranks form the torus themselves.
  if (nodes != static_cast<std::size_t>(ranks_)) return;
  if (places.empty() || places.in_order)
    options_.dimensions = dimensions_;
  else if (!dimensions_.empty())
    voice_.say_once(1, fmt::format("ranks are not in the order of the hosts of {}; closed forms take them as a ring",
                                   settings_.topology));
}

const Rule* Selector::matching_rule(const Request& request) const {
  if (!rules_) return nullptr;
  return rules_->match({request.collective, ranks_, chooser_->ranks_per_node() == 1, chooser_->nodes() == 1,
                        settings_.topology, request.bytes, rules_fingerprint_, filed_.lanes()});
}

const Decision& Selector::decide(const Request& request) {
  const Rule* const rule = matching_rule(request);
  const bool filed = filed_.looks();
  const int properties = reduces(request.collective) ? op_properties(request) : 0;
  auto& all = kept_[index_of(request.collective)];
  const auto found = std::ranges::find_if(all, [&](const auto& kept) {
    return kept->rule == rule && kept->filed == filed && kept->fallback_allowed == request.fallback_allowed &&
           kept->op_properties == properties && (kept->root < 0 || kept->root == request.root) &&
           kept->from <= request.bytes && request.bytes < kept->to && kept->previous == request.previous;
  });
  if (found != all.end()) return (*found)->decision;
  auto kept = std::make_unique<Kept>(decided(request, rule, filed));
  kept->rule = rule;
  kept->filed = filed;
  kept->key = key_of(request);
  kept->fallback_allowed = request.fallback_allowed;
  kept->op_properties = properties;
  kept->previous = request.previous;
  if (all.size() >= k_most_kept) all.erase(all.begin());
  return all.emplace_back(std::move(kept))->decision;
}

// A parameter goes before a rule, a rule before what was measured, that before schedules of folders, those before the
// model.
Selector::Kept Selector::decided(const Request& request, const Rule* rule, bool filed) {
  Kept kept;
  const Rank root = rooted(request.collective) ? request.root : -1;
  const auto by = [&](const Forced& choice, const std::string& source) {
    if (choice.kind == Forced::Kind::file) kept.root = root;
    kept.decision = decided_by(choice, source, request);
    return std::move(kept);
  };
  const Forced& forced = settings_.forced[index_of(request.collective)];
  if (forced.kind != Forced::Kind::automatic) return by(forced, "parameter");
  if (rule != nullptr && rule->choice.kind != Forced::Kind::automatic) return by(rule->choice, rule->place);
  const Outcome* const outcome = is_sized(request) ? decisions_.find(key_of(request)) : nullptr;
  if (outcome != nullptr || may_try(request)) {
    const SizeClass sizes = size_class_of(request.bytes);
    kept.from = sizes.from;
    kept.to = sizes.to;
  }
  if (outcome != nullptr && outcome->winner != k_by_schedules) {
    if (auto decision = decided_by_outcome(*outcome, request)) {
      kept.decision = *std::move(decision);
      return kept;
    }
  }
  kept.decision.open = outcome == nullptr && may_try(request);
  if (filed) {
    const FiledSchedules::Found found = found_in_folders(request);
    if (!found.any_root) kept.root = root;
    kept.from = std::max(kept.from, found.from);
    kept.to = std::min(kept.to, found.to);
    if (auto decision = decided_by_folder(found.choice, request)) {
      decision->open = kept.decision.open;
      kept.decision = *std::move(decision);
      return kept;
    }
  }
  if (!is_sized(request)) {
    kept.decision = default_of_messages(request);
    return kept;
  }
  if (settings_.choosing == Choosing::off && request.fallback_allowed) {
    say_decision(request, "fallback", "choice is off");
    kept.decision = {nullptr, nullptr, {}, "fallback"};
    return kept;
  }
  const Choice& chosen = chooser_->choose(for_model(settings_, request));
  say_prediction(request, chosen, kept.decision.open ? "model, until measured" : "model", true);
  kept.from = std::max(kept.from, chosen.from);
  kept.to = std::min(kept.to, chosen.to);
  kept.decision = {chosen.algorithm, nullptr, chosen.options, chosen.name, kept.decision.open};
  return kept;
}

Decision Selector::decided_by(const Forced& choice, const std::string& source, const Request& request) {
  if (choice.kind == Forced::Kind::file) return decided_by_file(choice.path, source, request);
  if (choice.kind == Forced::Kind::fallback) {
    say_decision(request, "fallback", source);
    return {nullptr, nullptr, {}, "fallback"};
  }
  std::string excluded;
  if (auto decision = decided_by_algorithm(choice, source, request, &excluded)) return *std::move(decision);
  // An operation's properties may differ from call to call, what the shape refuses does not.
  decline_once(request.collective, fmt::format("{} {}", choice.algorithm->name, excluded));
  return {nullptr, nullptr, {}, std::string(choice.algorithm->name)};
}

std::optional<Decision> Selector::decided_by_algorithm(const Forced& choice, const std::string& source,
                                                       const Request& request, std::string* excluded) {
  const Choice& chosen = chooser_->price(*choice.algorithm, choice.over(options_), of_schedules(request));
  if (!chosen.excluded.empty()) {
    if (excluded != nullptr) *excluded = chosen.excluded;
    return std::nullopt;
  }
  say_prediction(request, chosen, source);
  return Decision{chosen.algorithm, nullptr, chosen.options, chosen.name};
}

Decision Selector::decided_by_file(const std::string& path, const std::string& source, const Request& request) {
  std::string fault;
  Decision decision{nullptr,
                    files_.load(path, {scheduled(request.collective), rank_, ranks_, {}}, agreement_, &fault),
                    {},
                    "file:" + path};
  if (decision.file == nullptr) {
    if (!fault.empty())
      voice_.say(0, fmt::format("{}: {}; using {}", name(request.collective), fault, voice_.previous()));
    decline(request.collective);
    return decision;
  }
  const Rank root = decision.file->program->shape().root;
  const std::string unfit = rooted(request.collective) && root != request.root
                                ? fmt::format("has root {}, the call {}", root, request.root)
                                : unfit_for(*decision.file, request);
  if (!unfit.empty()) {
    decline_once(request.collective, fmt::format("{} {}", path, unfit));
    decision.file = nullptr;
    return decision;
  }
  say_decision(request, decision.name, source);
  return decision;
}

// Segments of the size that a rule or the setting says; where nobody says one, as the steps of a file ask for. The
// algorithms of the table fill their channels in every step and are not cut by themselves.
Manner Selector::manner_of(const Decision& decision, const Request& request) const {
  Manner manner;
  const Machine& machine = machine_;
  manner.window = static_cast<std::uint32_t>(machine.window);
  const bool stepped = decision.file == nullptr ? decision.algorithm->paced_by_steps : false;
  const bool may_step = decision.file == nullptr || decision.file->proof.stepped;
  if (stepped || (settings_.pace == Pace::steps && may_step)) manner.pace = Pace::steps;
  if (decision.file != nullptr && !decision.file->pattern.in_order) manner.order = SegmentOrder::op_by_op;
  const Rule* const rule = matching_rule(request);
  const std::optional<std::size_t> segment =
      rule != nullptr && rule->segment_bytes > 0 ? rule->segment_bytes : settings_.segment_bytes;
  if (!is_sized(request)) return manner;
  if (segment) {
    const Shape shape{scheduled(request.collective), ranks_, 1, request.root};
    const std::size_t whole = request.bytes / static_cast<std::size_t>(shape.parts());
    if (*segment > 0)
      manner.segments =
          static_cast<int>(std::clamp<std::size_t>((whole + *segment - 1) / *segment, 1, k_most_segments));
  } else if (decision.file != nullptr && settings_.pace == Pace::free) {
    const Port port{machine.overhead, nodes() == 1 ? machine.bandwidth_node : machine.bandwidth_network};
    manner.segments =
        segments_for(decision.file->pattern, decision.file->program->shape(), static_cast<double>(request.bytes), port);
  }
  return manner;
}

// What a block adds to the messages of others against what a message of its own costs both ends.
std::size_t Selector::aggregation_limit(const Decision& decision) const {
  if (settings_.aggregate_bytes) return *settings_.aggregate_bytes;
  const Machine& machine = machine_;
  const Shape shape{Collective::alltoall, ranks_, 1, 0};
  const Counted counted = decision.algorithm->counted(shape, decision.options);
  const double hops = (counted.shards_within + counted.shards_between) / std::max(1, ranks_ - 1);
  const double bandwidth = nodes() == 1 ? machine.bandwidth_node : machine.bandwidth_network;
  return colltopo::aggregation_limit(2 * machine.overhead, 1 / bandwidth, 1 / machine.bandwidth_copy, hops);
}

// Sizes decide nothing where only two ranks know each.
Decision Selector::default_of_messages(const Request& request) const {
  if (!request.fallback_allowed) {
    say_decision(request, "linear", "libnbc takes the blocks of two directions for each other");
    return straight();
  }
  say_decision(request, "fallback", "what is never behind");
  return {nullptr, nullptr, {}, "fallback"};
}

Decision Selector::straight() { return {algorithm_named("linear"), nullptr, {}, "linear"}; }

void Selector::say_decision(const Request& request, const std::string& what, const std::string& source) const {
  if (!voice_.heard(1)) return;
  if (!is_sized(request))
    return voice_.say(
        1, fmt::format("{} on {} ranks, {} nodes: {} ({})", name(request.collective), ranks_, nodes(), what, source));
  voice_.say(1, fmt::format("{} of {} bytes on {} ranks, {} nodes: {} ({})", name(request.collective), request.bytes,
                            ranks_, nodes(), what, source));
}

void Selector::say_prediction(const Request& request, const Choice& chosen, const std::string& source,
                              bool with_next) const {
  if (!voice_.heard(1)) return;
  std::string next;
  if (with_next)
    for (const Candidate& other : chooser_->leading(of_schedules(request), 3))
      if (other.name != chosen.name) next += fmt::format(", {} {:.3g} us", other.name, other.seconds * 1e6);
  say_decision(request, chosen.name,
               fmt::format("{}, predicted {:.3g} us{}{}", source, chosen.seconds * 1e6, next.empty() ? "" : "; beside",
                           next.empty() ? "" : next.substr(1)));
}

std::size_t Selector::memory_bytes() const {
  std::size_t bytes = node_of_.capacity() * sizeof(int);
  for (const auto& kept : kept_) bytes += kept.size() * sizeof(Kept);
  return bytes;
}

}  // namespace colltopo
