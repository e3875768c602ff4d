// What trials decided, as far as the selector has to do with it.

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "colltopo/error.h"
#include "comm/selector.h"

namespace colltopo {

DecisionKey Selector::key_of(const Request& request) {
  const SizeClass sizes = size_class_of(request.bytes);
  int operation = request.fallback_allowed ? 0 : 4;
  if (reduces(request.collective)) operation |= (request.commutative ? 1 : 0) | (request.associative_bits ? 2 : 0);
  return {request.collective, sizes.from, sizes.to, operation, std::string(request.previous)};
}

// Bits that change from call to call are no answer to how long a call takes.
bool Selector::may_try(const Request& request) const {
  return is_sized(request) && settings_.choosing == Choosing::measured &&
         (!reduces(request.collective) || request.associative_bits || !settings_.decisions.empty());
}

std::vector<Decision> Selector::leading(const Request& request, std::size_t most) {
  std::vector<Decision> all;
  for (const Candidate& candidate : chooser_->leading(of_schedules(request), most))
    all.push_back({candidate.algorithm, nullptr, candidate.options, candidate.name});
  return all;
}

std::optional<Decision> Selector::decided_by_outcome(const Outcome& outcome, const Request& request) {
  const Forced choice = forced_from("decision", request.collective, outcome.winner);
  if (choice.kind == Forced::Kind::fallback) {
    say_decision(request, "fallback", "measured");
    return Decision{nullptr, nullptr, {}, "fallback"};
  }
  if (choice.kind != Forced::Kind::algorithm) return std::nullopt;
  const Choice& chosen = chooser_->price(*choice.algorithm, choice.over(options_), of_schedules(request));
  if (!chosen.excluded.empty()) return std::nullopt;
  say_prediction(request, chosen, "measured");
  return Decision{chosen.algorithm, nullptr, chosen.options, chosen.name};
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

// `fault`: why the file is of no use.
std::string Selector::own_decisions(std::string* fault) const {
  if (settings_.choosing == Choosing::off || (settings_.choosing == Choosing::model && settings_.decisions.empty()))
    return "";
  try {
    return DecisionBook::of_process().known(settings_.decisions, kind_).text();
  } catch (const Error& error) {
    *fault = fmt::format("{}; nothing is known of earlier jobs", error.what());
    return "";
  }
}

void Selector::take_decisions(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    decisions_.add(Decisions::outcome_from(line, "rank 0's decisions"));
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
