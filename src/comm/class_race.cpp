#include "comm/class_race.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace colltopo {

namespace {

constexpr double k_in_numbers = 1e9;   // seconds and logarithms, as ranks add them up
constexpr double k_least_left = 0.05;  // of a call's time, that is the call itself and not the meeting before it

long long number_of(double value) { return std::llround(value * k_in_numbers); }
double value_of(long long number) { return static_cast<double>(number) / k_in_numbers; }

// A block of calls of which each holds a meeting: the noise of what is left is as large.
Block without_meeting(const Block& block, const Block& meeting) {
  const double left = std::max(block.seconds - meeting.seconds, k_least_left * block.seconds);
  const double share = block.seconds / left;
  return {left, block.scatter * share * share};
}

}  // namespace

ClassRace::ClassRace(const Agreement& agreement, Rank rank, Rank ranks, std::vector<Belief> beliefs,
                     std::size_t serving, bool ends)
    : agreement_(agreement),
      rank_(rank),
      ranks_(ranks),
      beliefs_(std::move(beliefs)),
      calls_of_(beliefs_.size()),
      ends_(ends) {
  plan_.best = serving;
  if (rank_ == 0) race_.emplace(beliefs_, serving);
}

void ClassRace::begin(std::size_t calls, Tick began, Tick now) {
  calls_ = static_cast<double>(calls);
  ticks_of_call_ = std::max(1.0, static_cast<double>(now - began) / std::max(1.0, calls_));
  tell(now);
}

void ClassRace::end_round(Tick now, const std::optional<Block>& meeting, double agreement_seconds) {
  std::vector<Block> blocks = rounds_.blocks();
  if (meeting) blocks.push_back(*meeting);
  std::vector<long long> sums;
  for (const Block& block : blocks) {
    sums.push_back(number_of(block.seconds));
    sums.push_back(number_of(block.scatter));
  }
  agreement_.add_up(sums);
  const double calls = static_cast<double>(rounds_.place());
  calls_ += calls;
  ticks_of_call_ = std::max(1.0, static_cast<double>(now - began_) / calls);
  ++rounds_ended_;
  for (const std::size_t contestant : plan_.order) calls_of_[contestant] += plan_.block_calls - 1;
  if (race_) {
    for (std::size_t i = 0; i < blocks.size(); ++i)
      blocks[i] = {value_of(sums[2 * i]) / ranks_, value_of(sums[2 * i + 1]) / ranks_};
    if (meeting) {
      const Block of_meeting = blocks.back();
      blocks.pop_back();
      for (Block& block : blocks) block = without_meeting(block, of_meeting);
    }
    race_->ended(plan_, blocks, agreement_seconds);
  }
  tell(now);
}

// Rank 0's plan and beliefs.
void ClassRace::tell(Tick now) {
  const std::size_t contestants = beliefs_.size();
  enum : std::size_t { wait, block_calls, best, order_length, order };
  std::vector<long long> numbers(order + 3 * contestants);
  long long* const beliefs = &numbers[order + contestants];
  if (race_) {
    const Race::Plan plan = race_->plan(static_cast<std::size_t>(calls_));
    const bool never = plan.order.empty() || (ends_ && plan.wait_calls > 0);
    const double ticks = static_cast<double>(plan.wait_calls) * ticks_of_call_;
    numbers[wait] = never || ticks >= static_cast<double>(k_never / 2) ? k_never / 2 : std::llround(ticks);
    numbers[block_calls] = static_cast<long long>(plan.block_calls);
    numbers[best] = static_cast<long long>(plan.best);
    numbers[order_length] = static_cast<long long>(plan.order.size());
    std::ranges::copy(plan.order, numbers.begin() + order);
    for (std::size_t c = 0; c < contestants; ++c) {
      const Belief belief = race_->belief(c);
      beliefs[2 * c] = number_of(belief.log_seconds);
      beliefs[2 * c + 1] = number_of(belief.variance);
    }
  }
  agreement_.add_up(numbers);
  plan_.block_calls = static_cast<std::size_t>(numbers[block_calls]);
  plan_.best = static_cast<std::size_t>(numbers[best]);
  plan_.order.assign(numbers.begin() + order, numbers.begin() + order + numbers[order_length]);
  for (std::size_t c = 0; c < contestants; ++c) beliefs_[c] = {value_of(beliefs[2 * c]), value_of(beliefs[2 * c + 1])};
  began_ = now;
  is_waiting_ = numbers[wait] > 0;
  wakes_at_ = numbers[wait] >= k_never / 2 ? k_never : now + numbers[wait];
  if (!is_waiting_) begin_round(now);
}

void ClassRace::wake(Tick now) {
  calls_ += static_cast<double>(now - began_) / ticks_of_call_;
  begin_round(now);
}

void ClassRace::begin_round(Tick now) {
  is_waiting_ = false;
  wakes_at_ = k_never;
  began_ = now;
  rounds_.begin(plan_);
}

}  // namespace colltopo
