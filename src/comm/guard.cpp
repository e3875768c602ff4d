#include "comm/guard.h"

#include <fmt/format.h>

#include <algorithm>

#include "comm/decisions.h"

namespace colltopo {

namespace {

constexpr std::size_t k_ours = 4;  // the standing decision among them, and the model's best
constexpr const char* k_previous = "fallback";
constexpr std::size_t k_first_look = 64, k_last_look = 1024;  // calls between looks at the mean block
constexpr double k_long_call_seconds = 1e-3;                  // by tune
constexpr std::size_t k_fewer = 4;                            // times, the first calls that are so long
constexpr std::size_t k_far_off = 4;                          // times the mean that was decided by

bool root_gives(const Request& request) { return row(request.collective).input.holders == Holders::root; }

std::string time_text(const Outcome::Time& time) {
  return time.seconds < 0 ? fmt::format("{} never", time.name)
                          : fmt::format("{} {:.3g} us", time.name, time.seconds * 1e6);
}

}  // namespace

Guard::Class& Guard::class_of(const Request& request) {
  DecisionKey key = Selector::key_of(request);
  auto& all = classes_[index_of(request.collective)];
  const auto found = std::ranges::find_if(all, [&](const auto& one) { return one->key == key; });
  if (found != all.end()) return **found;
  auto made = std::make_unique<Class>();
  made->key = std::move(key);
  return *all.emplace_back(std::move(made));
}

const Decision* Guard::look(const Request& request, const Decision& standing, std::size_t own_bytes) {
  Class& one = class_of(request);
  const Now before = now_;
  now_ = {};
  if (one.calls >= settings_.trial_after && learns_size(request.collective) && request.bytes == 0)
    return look_by_mean(one, request, own_bytes);
  if (one.trial == nullptr && one.calls >= first_calls(one, request, standing) &&
      !begin_trial(one, request, standing)) {
    selector_.close(request);
    return &selector_.decide(request);
  }
  if (one.trial != nullptr && one.trial->must_agree() && agree(one, request)) return &selector_.decide(request);
  now_.of = &one;
  now_.begun = before.of == &one && before.begun;
  now_.since = before.since;
  now_.own_bytes = own_bytes;
  if (one.trial == nullptr) return &standing;
  const Trial::Turn turn = one.trial->turn();
  const Contestant& contestant = one.contestants[turn.contestant];
  now_.contestant = turn.contestant;
  now_.counts = turn.counts;
  now_.leaves = contestant.text == k_previous;
  if (one.meets && turn.counts && !now_.begun) {
    // Ranks that take end when they have what they take; those that give end when they like, early or with the root.
    if (one.briefly || root_gives(request)) begins();
    meet(request, one.briefly);
  }
  return contestant.standing ? &standing : &contestant.decision;
}

std::size_t Guard::agreed_mean(unsigned long long own_bytes, std::size_t calls) const {
  std::array<long long, 2> sums = {static_cast<long long>(own_bytes), static_cast<long long>(calls)};
  agreement_.add_up(sums);
  return static_cast<std::size_t>(std::max(1LL, sums[0] / std::max(1LL, sums[1])));
}

void Guard::set_mean(Collective collective, std::size_t mean) {
  followed_[index_of(collective)] = {mean, 0, 0, k_first_look};
}

bool Guard::follows(Collective collective, std::size_t own_bytes) noexcept {
  Followed& followed = followed_[index_of(collective)];
  if (followed.mean == 0) return false;
  ++followed.calls;
  followed.own_bytes += own_bytes;
  return followed.calls >= followed.until_look;
}

void Guard::look_at_mean(Collective collective) {
  Followed& followed = followed_[index_of(collective)];
  const std::size_t mean = agreed_mean(followed.own_bytes, followed.calls);
  if (mean > k_far_off * followed.mean || followed.mean > k_far_off * mean) return set_mean(collective, mean);
  followed = {followed.mean, 0, 0, std::min(2 * followed.until_look, k_last_look)};
}

// What makes a job's first calls unlike later ones, connections and memory that nobody has touched, is little of a long
// call; and where tune has measured the standing choice, few of them are enough.
std::size_t Guard::first_calls(Class& one, const Request& request, const Decision& standing) const {
  if (!one.first_calls) {
    const bool are_long = selector_.expected_seconds(standing, request).value_or(0) >= k_long_call_seconds;
    one.first_calls = settings_.trial_after / (are_long ? k_fewer : 1);
  }
  return *one.first_calls;
}

// The calls so far, with the one at hand, count for the class that they turn out to be of.
const Decision* Guard::look_by_mean(const Class& one, Request request, std::size_t own_bytes) {
  request.bytes = agreed_mean(one.own_bytes + own_bytes, one.calls + 1);
  set_mean(request.collective, request.bytes);
  const Decision& standing = selector_.decide(request);
  if (!standing.open) return &standing;
  class_of(request).calls = settings_.trial_after;
  return look(request, standing, own_bytes);
}

// False: there is nothing to choose between.
bool Guard::begin_trial(Class& one, const Request& request, const Decision& standing) {
  one.meets = rooted(request.collective);
  one.briefly = selector_.trying(request) == Trying::briefly;
  const bool with_previous = request.fallback_allowed && !selector_.is_previous_hopeless(request);
  const std::size_t most = !one.briefly ? k_ours : request.fallback_allowed ? 1 : 2;
  const auto add = [&](const Decision& decision, bool stands) {
    std::string text = decision.file != nullptr ? k_by_schedules
                       : decision.serves()      ? text_of(*decision.algorithm, decision.options.values)
                                                : k_previous;
    if (std::ranges::find(one.contestants, text, &Contestant::text) == one.contestants.end())
      one.contestants.push_back({decision, std::move(text), stands});
  };
  if (standing.serves()) add(standing, true);
  for (const Decision& decision : selector_.worth_trying(request, most))
    if (one.contestants.size() < most) add(decision, false);
  if (with_previous) add(Decision{}, false);
  if (one.contestants.size() < 2) return false;
  const TrialKind kind = one.briefly ? TrialKind::brief : one.meets ? TrialKind::together : TrialKind::as_they_come;
  std::vector<std::optional<double>> expected;
  for (const Contestant& contestant : one.contestants)
    expected.push_back(selector_.expected_seconds(contestant.decision, request));
  one.trial = std::make_unique<Trial>(std::move(expected), with_previous, kind);
  return true;
}

// Who may run ahead waits for the others: a root that gives, or all the others of one that takes. `all`: so do the
// others, for what is hardly longer than such a wait is seen to take what ranks do that have not come back from it.
void Guard::meet(const Request& request, bool all) const {
  const bool gives = root_gives(request);
  if (gives || all) agreement_.wait_at_root(request.root);
  if (!gives || all) agreement_.wait_for_root(request.root);
}

bool Guard::agree(Class& one, const Request& request) {
  std::vector<long long> times = one.trial->times();
  agreement_.add_up(times);
  one.trial->narrow(times, ranks_);
  if (!one.trial->winner()) return false;
  Outcome outcome;
  outcome.key = one.key;
  outcome.winner = one.contestants[*one.trial->winner()].text;
  for (std::size_t c = 0; c < one.contestants.size(); ++c)
    outcome.times.push_back({one.contestants[c].text, one.trial->seconds(c, ranks_)});
  counts_.trials.increase();
  if (outcome.winner == k_previous) counts_.for_previous.increase();
  say(request, outcome);
  for (Now& waiting : waiting_)
    if (waiting.of == &one) waiting = {};
  std::erase_if(classes_[index_of(request.collective)], [&](const auto& kept) { return kept.get() == &one; });
  selector_.remember(std::move(outcome));
  return true;
}

void Guard::say(const Request& request, const Outcome& outcome) const {
  if (!voice_.heard(1)) return;
  std::string times;
  for (const Outcome::Time& time : outcome.times) times += (times.empty() ? "" : ", ") + time_text(time);
  voice_.say(1, fmt::format("{}{} of {} to {} bytes{} on {} ranks: {} (measured: {})", name(request.collective),
                            request.in_place ? " in place" : "", outcome.key.from, outcome.key.to - 1,
                            is_sized(request) ? "" : " a block, on average,", ranks_, outcome.winner, times));
}

void Guard::advance() {
  ++now_.of->calls;
  now_.of->own_bytes += now_.own_bytes;
  if (now_.of->trial == nullptr) return;
  now_.of->trial->advance();
  counts_.calls.increase();
}

void Guard::leave() {
  if (now_.of == nullptr) return;
  Now& waiting = waiting_[index_of(now_.of->key.collective)];
  waiting = now_;
  waiting.counts = now_.counts && now_.leaves;
  left_ |= 1u << index_of(now_.of->key.collective);
  advance();
  forget();
  if (!waiting.begun) waiting.since = Clock::now();
}

void Guard::done(Collective collective) {
  Now& waiting = waiting_[index_of(collective)];
  left_ &= ~(1u << index_of(collective));
  if (waiting.of != nullptr && waiting.counts)
    waiting.of->trial->add(waiting.contestant, std::chrono::duration<double>(Clock::now() - waiting.since).count());
  waiting = {};
}

void Guard::reset() noexcept {
  for (auto& all : classes_) all.clear();
  followed_ = {};
  now_ = {};
  waiting_ = {};
}

void Guard::begins() noexcept {
  if (now_.of == nullptr || now_.begun) return;
  now_.begun = true;
  now_.since = Clock::now();
}

void Guard::ran() {
  if (now_.of == nullptr) return;
  if (now_.counts)
    now_.of->trial->add(now_.contestant, std::chrono::duration<double>(Clock::now() - now_.since).count());
  advance();
  forget();
}

}  // namespace colltopo
