#include <cmath>
#include <utility>

#include "choice/policy.h"
#include "choice/race.h"

namespace colltopo::replay {

namespace {

std::vector<Belief> beliefs_of(const Start& start) {
  std::vector<Belief> beliefs;
  for (const std::optional<double>& expected : start.expected)
    beliefs.push_back(expected ? Belief{std::log(*expected), start.tune_error * start.tune_error} : Belief{});
  return beliefs;
}

class RacePolicy : public Policy {
 public:
  RacePolicy(const Start& start, const RaceRules& rules)
      : race_(beliefs_of(start), start.expected.size() - 1, rules), plan_(race_.plan(0)) {}

  Call next() override {
    if (waited_ < plan_.wait_calls) return {race_.best(), false, std::exchange(agreed_, false)};
    return {plan_.order[block_], true, std::exchange(agreed_, false)};
  }
  void took(double seconds) override {
    ++calls_;
    if (waited_ < plan_.wait_calls) {
      ++waited_;
      return;
    }
    if (in_block_ > 0) times_.push_back(seconds);
    if (++in_block_ < plan_.block_calls) return;
    in_block_ = 0;
    blocks_.push_back(colltopo::block_of(times_));
    times_.clear();
    if (++block_ < plan_.order.size()) return;
    race_.ended(plan_, blocks_);
    blocks_.clear();
    block_ = 0;
    waited_ = 0;
    agreed_ = true;
    plan_ = race_.plan(calls_);
  }
  std::size_t best() const override { return race_.best(); }

 private:
  Race race_;
  Race::Plan plan_;
  std::size_t calls_ = 0, waited_ = 0, block_ = 0, in_block_ = 0;
  bool agreed_ = false;
  std::vector<double> times_;
  std::vector<Block> blocks_;
};

}  // namespace

std::unique_ptr<Policy> race_policy(const Start& start, const RaceRules& rules) {
  return std::make_unique<RacePolicy>(start, rules);
}

}  // namespace colltopo::replay
