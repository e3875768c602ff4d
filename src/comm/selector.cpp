// Decisions of one communicator. Everything that decides is equal on all ranks: settings and files (agreed on once),
// the placement of ranks, and of a call only bytes, root and the operation's properties.

#include "comm/selector.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "colltopo/aggregation.h"

namespace colltopo {

namespace {

constexpr std::size_t k_most_segments = 64;
constexpr std::size_t k_most_kept = 1024;                  // decisions of a collective
constexpr std::size_t k_most_room = std::size_t{1} << 27;  // bytes for blocks that go by way of others, each way

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
  // What a reduction may serve depends on all programs.
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

void Selector::replace_by(Selector&& other) {
  write_decisions();
  static_cast<SelectorState&>(*this) = std::move(static_cast<SelectorState&>(other));
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
           (!kept->by_time || kept->in_place == request.in_place) && kept->op_properties == properties &&
           (kept->root < 0 || kept->root == request.root) && kept->from <= request.bytes && request.bytes < kept->to &&
           kept->previous == request.previous;
  });
  if (found != all.end()) return (*found)->decision;
  auto kept = std::make_unique<Kept>(decided(request, rule, filed));
  kept->rule = rule;
  kept->filed = filed;
  kept->key = key_of(request);
  kept->fallback_allowed = request.fallback_allowed;
  kept->in_place = request.in_place;
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
    kept.decision = decided_by(choice, source, request, &kept);
    return std::move(kept);
  };
  const Forced& forced = settings_.forced[index_of(request.collective)];
  if (forced.kind != Forced::Kind::automatic) return by(forced, "parameter");
  if (rule != nullptr && rule->choice.kind != Forced::Kind::automatic) return by(rule->choice, rule->place);
  kept.by_time = true;
  const Outcome* const outcome = decisions_.find(key_of(request));
  if (outcome != nullptr || is_tried(request)) {
    const SizeClass sizes = size_class_of(request.bytes);
    kept.from = sizes.from;
    kept.to = sizes.to;
  }
  if (outcome != nullptr && outcome->winner != k_by_schedules) {
    if (auto decision = decided_by_outcome(*outcome, request, &kept)) {
      kept.decision = *std::move(decision);
      return kept;
    }
  }
  kept.decision.open = outcome == nullptr && is_tried(request);
  if (filed) {
    const FiledSchedules::Found found = found_in_folders(request);
    if (!found.any_root) kept.root = root;
    kept.from = std::max(kept.from, found.from);
    kept.to = std::min(kept.to, found.to);
    if (auto decision = decided_by_folder(found.choice, request, &kept)) {
      decision->open = kept.decision.open;
      kept.decision = *std::move(decision);
      return kept;
    }
  }
  if (!is_sized(request)) {
    kept.decision = default_of_messages(request, kept.decision.open);
    return kept;
  }
  if (settings_.choosing == Choosing::off && request.fallback_allowed) {
    say_decision(request, "fallback", "choice is off");
    kept.decision = {nullptr, nullptr, {}, "fallback"};
    return kept;
  }
  const Choice& chosen = chooser_->choose(for_model(settings_, *chooser_, request));
  say_unmade();
  say_prediction(request, chosen, kept.decision.open ? "model, until measured" : "model", true);
  kept.from = std::max(kept.from, chosen.from);
  kept.to = std::min(kept.to, chosen.to);
  kept.decision = {chosen.algorithm, nullptr, chosen.options, chosen.name, kept.decision.open};
  return kept;
}

Decision Selector::decided_by(const Forced& choice, const std::string& source, const Request& request, Kept* kept) {
  if (choice.kind == Forced::Kind::file) return decided_by_file(choice.path, source, request);
  if (choice.kind == Forced::Kind::fallback) {
    if (!request.fallback_allowed && !is_sized(request)) return default_of_messages(request, false);
    say_decision(request, "fallback", source);
    return {nullptr, nullptr, {}, "fallback"};
  }
  std::string excluded;
  if (auto decision = decided_by_algorithm(choice, source, request, kept, &excluded)) return *std::move(decision);
  // An operation's properties may differ from call to call, what the shape refuses does not.
  decline_once(request.collective, fmt::format("{} {}", choice.algorithm->name, excluded));
  return {nullptr, nullptr, {}, std::string(choice.algorithm->name)};
}

// Of its variants the one that is cheapest at this size, kept for the sizes of which that is known.
std::optional<Decision> Selector::decided_by_algorithm(const Forced& choice, const std::string& source,
                                                       const Request& request, Kept* kept, std::string* excluded) {
  const Choice& chosen = chooser_->price(*choice.algorithm, choice.over(options_), of_schedules(request));
  if (is_sized(request)) {
    const bool as_asked = chosen.from <= request.bytes && request.bytes < chosen.to;  // not what stands for 0 bytes
    kept->from = std::max(kept->from, as_asked ? chosen.from : request.bytes);
    kept->to = std::min(kept->to, as_asked ? chosen.to : request.bytes + 1);
  }
  if (!chosen.excluded.empty()) {
    if (excluded != nullptr) *excluded = chosen.excluded;
    return std::nullopt;
  }
  say_prediction(request, chosen, source);
  return Decision{chosen.algorithm, nullptr, chosen.options, chosen.name};
}

Decision Selector::decided_by_file(const std::string& path, const std::string& source, const Request& request) {
  std::string fault;
  Decision decision{
      nullptr,
      files_.load(path, {scheduled(request.collective), rank_, ranks_, {}, settings_.prove}, agreement_, &fault),
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
  const bool filed = decision.file != nullptr && !decision.file->made;
  if (filed) manner.window = window_for(decision.file->pattern, decision.file->proof.independent, manner.window);
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

// What a block adds to the messages of others against what a message of its own costs both ends; less where a rank may
// have a block for each of so many others that the room for all would be much.
std::size_t Selector::aggregation_limit(const Decision& decision) const {
  if (settings_.aggregate_bytes) return *settings_.aggregate_bytes;
  const Machine& machine = machine_;
  const Shape shape{Collective::alltoall, ranks_, 1, 0};
  const Counted counted = decision.algorithm->counted(shape, decision.options);
  const double hops = (counted.shards_within + counted.shards_between) / std::max(1, ranks_ - 1);
  const double bandwidth = nodes() == 1 ? machine.bandwidth_node : machine.bandwidth_network;
  return std::min(colltopo::aggregation_limit(2 * machine.overhead, 1 / bandwidth, 1 / machine.bandwidth_copy, hops),
                  k_most_room / static_cast<std::size_t>(ranks_));
}

// Sizes decide nothing where only two ranks know each, unless a trial has learned their mean.
Decision Selector::default_of_messages(const Request& request, bool open) const {
  const bool is_first = request.bytes == 0;  // that it is said of
  if (!request.fallback_allowed) {
    if (is_first) say_decision(request, "linear", fmt::format("{} would be wrong", voice_.previous()));
    return {algorithm_named("linear"), nullptr, {}, "linear", open};
  }
  if (is_first) say_decision(request, "fallback", open ? "until measured" : "what is never behind");
  return {nullptr, nullptr, {}, "fallback", open};
}

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

void Selector::say_unmade() {
  if (!voice_.heard(1)) return;
  const std::vector<std::string> lines = chooser_->unmade();
  for (; said_unmade_ < lines.size(); ++said_unmade_) voice_.say(1, lines[said_unmade_]);
}

std::size_t Selector::memory_bytes() const {
  std::size_t bytes = node_of_.capacity() * sizeof(int);
  for (const auto& kept : kept_) bytes += kept.size() * sizeof(Kept);
  return bytes;
}

}  // namespace colltopo
