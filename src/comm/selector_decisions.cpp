// What trials decided, as far as the selector has to do with it.

#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "colltopo/error.h"
#include "comm/machine_network.h"
#include "comm/selector.h"

namespace colltopo {

DecisionKey Selector::key_of(const Request& request) {
  const SizeClass sizes = size_class_of(request.bytes);
  int operation = (request.fallback_allowed ? 0 : 4) | (request.in_place ? 8 : 0);
  if (reduces(request.collective)) operation |= (request.commutative ? 1 : 0) | (request.associative_bits ? 2 : 0);
  return {request.collective, sizes.from, sizes.to, operation, std::string(request.previous)};
}

// Bits that change from call to call are no answer to how long a call takes. Shares that follow the traffic are not yet
// right while a trial lasts.
bool may_try(const Settings& settings, const Request& request) {
  const bool learns = learns_size(request.collective) && settings.replan == 0;
  return (is_sized(request) || learns) && settings.choosing == Choosing::measured &&
         (!reduces(request.collective) || request.associative_bits || !settings.decisions.empty());
}

namespace {

// Ranks meet before a call of a trial that counts, and are not quite together then. What takes so many meetings, a
// message along a binomial tree each, is hardly longer or shorter for it. Of shorter calls those of a brief trial begin
// when all have come back; what takes less than the second number would pay too much for that.
constexpr double k_meetings = 6, k_brief_meetings = 1.5;
// Seconds of a call that so few calls tell from others: processors and caches make single ones differ by some 10 us.
constexpr double k_briefest = 50e-6;
// Times the cheapest price: what is predicted to take longer is no contestant, unless there is no other beside the
// cheapest. Prices are off by less but for one in ten.
constexpr double k_close = 1.5;

// Of the previous component's measured time, that one of ours takes at most which a brief trial cannot judge better:
// its few calls hold meetings. With this many standard errors off both ours must still be ahead; where they are not
// known it must be so far ahead.
constexpr double k_far_ahead = 0.85, k_standard_errors = 2, k_known_error = 1, k_very_far_ahead = 0.6;
// Times the measured time of the model's first: a turn of the previous component would cost more than it could tell.
constexpr double k_hopelessly_behind = 3;

// `ours`: what the model chose.
bool is_surely_ahead(Chooser& chooser, const Candidate& ours, const Request& request) {
  if (ours.algorithm == nullptr) return false;
  const auto own = chooser.measured(ours.algorithm, ours.options, request);
  const auto previous = chooser.measured(nullptr, {}, request);
  if (!own || !previous) return false;
  if (std::max(own->error, previous->error) >= k_known_error)
    return own->seconds <= k_very_far_ahead * previous->seconds;
  return own->seconds <= k_far_ahead * previous->seconds &&
         own->seconds * (1 + k_standard_errors * own->error) <
             previous->seconds * (1 - k_standard_errors * previous->error);
}

double meeting_seconds(Chooser& chooser) {
  const Request message{Collective::bcast, 0, 1, true, true};
  return chooser.price(*algorithm_named("binomial"), {}, message).seconds;
}

}  // namespace

Trying trying(const Settings& settings, Chooser& chooser, const Request& request) {
  if (!may_try(settings, request)) return Trying::not_at_all;
  Request same = of_schedules(request);
  if (!rooted(same.collective) || !chooser.has_measured(same)) return Trying::at_length;
  same.tried = true;
  const Choice& first = chooser.choose(same);
  const double call = first.seconds, meeting = meeting_seconds(chooser);
  if (call >= k_meetings * meeting) return Trying::at_length;
  if (call < std::max(k_briefest, k_brief_meetings * meeting)) return Trying::not_at_all;
  return is_surely_ahead(chooser, first, same) ? Trying::not_at_all : Trying::briefly;
}

Trying Selector::trying(const Request& request) { return colltopo::trying(settings_, *chooser_, request); }

bool Selector::is_previous_hopeless(const Request& request) {
  Request same = of_schedules(request);
  same.tried = true;
  const Candidate& first = chooser_->choose(same);
  if (first.algorithm == nullptr) return false;
  const auto own = expected_seconds({first.algorithm, nullptr, first.options, first.name}, request);
  const auto previous = expected_seconds(Decision{}, request);
  return own && previous && *previous >= k_hopelessly_behind * *own;
}

std::optional<double> Selector::expected_seconds(const Decision& decision, const Request& request) const {
  // Another collective's previous implementation is no answer.
  if (decision.file != nullptr || scheduled(request.collective) != request.collective) return std::nullopt;
  const auto measured = chooser_->measured(decision.algorithm, decision.options, request);
  return measured ? std::optional(measured->seconds) : std::nullopt;
}

Request for_model(const Settings& settings, Chooser& chooser, const Request& request) {
  Request same = of_schedules(request);
  same.tried = settings.choosing != Choosing::measured || trying(settings, chooser, request) != Trying::not_at_all;
  return same;
}

std::vector<Decision> Selector::worth_trying(const Request& request, std::size_t most) {
  std::vector<Decision> all;
  double cheapest = 0;
  for (const Candidate& candidate : chooser_->leading(of_schedules(request), most)) {
    if (!serves(*candidate.algorithm, request.collective)) continue;
    if (all.empty()) cheapest = candidate.seconds;
    if (all.size() >= 2 && candidate.seconds > k_close * cheapest) break;
    all.push_back({candidate.algorithm, nullptr, candidate.options, candidate.name});
  }
  return all;
}

std::optional<Decision> Selector::decided_by_outcome(const Outcome& outcome, const Request& request, Kept* kept) {
  const Forced choice = forced_from("decision", request.collective, outcome.winner);
  if (choice.kind == Forced::Kind::fallback) {
    say_decision(request, "fallback", "measured");
    return Decision{nullptr, nullptr, {}, "fallback"};
  }
  if (choice.kind != Forced::Kind::algorithm) return std::nullopt;
  return decided_by_algorithm(choice, "measured", request, kept);
}

void Selector::remember(Outcome outcome) {
  auto& all = kept_[index_of(outcome.key.collective)];
  std::erase_if(all, [&](const auto& kept) { return kept->decision.open && kept->key == outcome.key; });
  DecisionBook::of_process().add(settings_.decisions, kind_, outcome);
  remembered_.add(outcome);
  decisions_.add(std::move(outcome));
}

void Selector::close(const Request& request) {
  const DecisionKey key = key_of(request);
  for (auto& kept : kept_[index_of(request.collective)])
    if (kept->key == key) kept->decision.open = false;
}

// Hosts by name where that asks nobody; else this process's own, which stands for its like.
std::string Selector::own_constants(const colltopo_callbacks& callbacks) const {
  if (!has_constants(settings_)) return "";
  constexpr std::size_t k_size = 256;
  std::vector<char> names(k_size * static_cast<std::size_t>(ranks_));
  std::vector<std::string> hosts;
  if (callbacks.places_are_local != 0 && callbacks.host_names != nullptr &&
      callbacks.host_names(callbacks.context, k_size, names.data()) == 0) {
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks_); ++rank) {
      std::string host = without_domain(&names[rank * k_size]);
      if (hosts.empty() || hosts.back() != host) hosts.push_back(std::move(host));
    }
  } else if (gethostname(names.data(), k_size - 1) == 0) {
    hosts.push_back(without_domain(names.data()));
  }
  return constants_line(settings_, hosts, Placement{node_of_, {}},
                        callbacks.library == nullptr ? "" : callbacks.library);
}

// A line with constants, if there are any, and those of decisions. `fault`: why a file is of no use.
std::string Selector::own_memory(const colltopo_callbacks& callbacks, std::string* fault) const {
  std::string text;
  try {
    text = own_constants(callbacks);
    if (!text.empty()) text += '\n';
  } catch (const Error& error) {
    *fault = fmt::format("{}; the model has its own constants", error.what());
  }
  if (settings_.choosing == Choosing::off || (settings_.choosing == Choosing::model && settings_.decisions.empty()))
    return text;
  try {
    text += DecisionBook::of_process().known(settings_.decisions, kind_).text();
  } catch (const Error& error) {
    *fault = fmt::format("{}; nothing is known of earlier jobs", error.what());
  }
  return text;
}

void Selector::take_memory(const std::string& text) {
  std::istringstream lines(text);
  std::string constants;
  for (std::string line; std::getline(lines, line);) {
    if (is_constants_line(line))
      constants = line;
    else
      decisions_.add(Decisions::outcome_from(line, "rank 0's decisions"));
  }
  std::vector<SourcedConstant> sources;
  const bool has_network = !settings_.topology.empty();
  const LinkConstants links = has_network ? machine_links(settings_.topology) : LinkConstants{};
  machine_ = machine_with(settings_, constants, links, &sources);
  measured_ = measured_rows(constants);
  if ((!constants.empty() || has_network) && voice_.heard(1)) voice_.say(1, text_of(sources));
}

void Selector::write_decisions() noexcept {
  if (rank_ != 0 || settings_.decisions.empty() || remembered_.all().empty()) return;
  try {
    DecisionFile::add(settings_.decisions, kind_, remembered_);
  } catch (const std::exception& error) {
    voice_.say(0, error.what());
  }
}

}  // namespace colltopo
