#include "prepare/plan.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "choice/previous.h"
#include "choice/variants.h"

namespace colltopo::prepare {

namespace {

// A schedule that serves the smaller sizes stays as long as no other is this much faster: fewer crossovers to explain.
constexpr double k_stays = 1.03;

enum class Tables { none, installed };

const Priced& price_of(const Offer& offer, Tables tables) {
  return tables == Tables::installed && offer.with_tables ? *offer.with_tables : *offer.as_is;
}

/// Prices of what others would run: closed forms by name, each priced once.
class Others {
 public:
  Others(const Ground& ground, Collective collective)
      : ground_(ground), collective_(collective), chooser_(ground.ranks(), ground.placement(), ground.prices, {}) {}

  struct Choice {
    std::string name;
    double seconds = -1;
  };

  /// What coll/topo would take by its model, priced on this network.
  Choice model(std::size_t bytes) {
    Request request;
    request.collective = collective_;
    request.bytes = bytes;
    const colltopo::Choice& chosen = chooser_.choose(request);
    if (chosen.algorithm == nullptr) return previous(bytes);
    return {chosen.name, priced(*chosen.algorithm, chosen.options).seconds(static_cast<double>(bytes))};
  }

  /// What Open MPI's tuned would take.
  Choice previous(std::size_t bytes) {
    const std::vector<Part> parts =
        parts_of_previous("tuned", collective_, ground_.ranks(), chooser_.nodes(), chooser_.ranks_per_node(), bytes);
    Choice choice;
    for (const Part& part : parts) {
      if (part.collective != collective_) return {};
      const Algorithm& algorithm = *algorithm_named(part.algorithm);
      AlgorithmOptions options = chooser_.options();
      options.values = part.values;
      if (!algorithm.refusal({collective_, ground_.ranks(), 1, 0}, options).empty()) return {};
      choice.name += (choice.name.empty() ? "" : " + ") + std::string(part.algorithm);
      choice.seconds = std::max(0.0, choice.seconds) + priced(algorithm, options).seconds(part.bytes);
    }
    return choice;
  }

 private:
  const Priced& priced(const Algorithm& algorithm, const AlgorithmOptions& options) {
    const Variant variant = variant_of(algorithm, collective_, options, ground_.ranks());
    const auto found = priced_.find(variant.name);
    if (found != priced_.end()) return found->second;
    Offer offer;
    offer.collective = collective_;
    offer.algorithm = &algorithm;
    offer.options = options;
    return priced_
        .emplace(variant.name,
                 Priced(schedule_of(offer, ground_), ground_.network, ground_.node_of, ground_.prices, Cut::whole))
        .first->second;
  }

  const Ground& ground_;
  Collective collective_;
  Chooser chooser_;
  std::map<std::string, Priced> priced_;
};

class Decider {
 public:
  Decider(const CollectivePlan& plan, Others& others, Tables tables) : plan_(plan), others_(others), tables_(tables) {}

  /// The fastest, but `before` as long as it is nearly so.
  const Offer* best(std::size_t bytes, const Offer* before = nullptr) const {
    const auto seconds = [&](const Offer& offer) {
      return price_of(offer, tables_).seconds(static_cast<double>(bytes));
    };
    const Offer* best = nullptr;
    double least = 0;
    for (const Offer& offer : plan_.offers) {
      const double one = seconds(offer);
      if (best != nullptr && one >= least) continue;
      best = &offer;
      least = one;
    }
    return before != nullptr && seconds(*before) <= k_stays * least ? before : best;
  }

  /// The best, or nothing where the model does as well.
  const Offer* worth_a_rule(std::size_t bytes, const Offer* before) const {
    const Offer* const offer = best(bytes, before);
    if (offer == nullptr) return nullptr;
    const double model = others_.model(bytes).seconds;
    const bool ahead = model >= 0 && price_of(*offer, tables_).seconds(static_cast<double>(bytes)) < k_lead * model;
    return ahead ? offer : nullptr;
  }

  std::vector<Interval> intervals(const std::vector<std::size_t>& sizes) const {
    std::vector<Interval> all;
    const Offer* before = nullptr;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const Offer* const offer = worth_a_rule(sizes[i], before);
      if (all.empty()) {
        all.push_back({0, std::numeric_limits<std::size_t>::max(), offer});
      } else if (offer != all.back().offer) {
        const std::size_t from = crossover(sizes[i - 1], sizes[i], before, all.back().offer);
        all.back().most = from - 1;
        all.push_back({from, std::numeric_limits<std::size_t>::max(), offer});
      }
      before = offer;
    }
    return all;
  }

 private:
  /// The first size above `low`, about, at which `kept` is no longer decided for; at most `high`.
  std::size_t crossover(std::size_t low, std::size_t high, const Offer* before, const Offer* kept) const {
    constexpr int k_halvings = 7;
    for (int i = 0; i < k_halvings && high - low > 1; ++i) {
      const auto middle = static_cast<std::size_t>(
          std::sqrt(static_cast<double>(std::max<std::size_t>(low, 1)) * static_cast<double>(high)));
      if (middle <= low || middle >= high) break;
      (worth_a_rule(middle, before) == kept ? low : high) = middle;
    }
    return high;
  }

  const CollectivePlan& plan_;
  Others& others_;
  Tables tables_;
};

bool same(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  return std::ranges::equal(
      a, b, [](const Interval& x, const Interval& y) { return x.offer == y.offer && x.least == y.least; });
}

}  // namespace

std::vector<const Offer*> CollectivePlan::winners() const {
  std::vector<const Offer*> all;
  for (const auto* const intervals : {&as_is, &with_tables})
    for (const Interval& interval : *intervals)
      if (interval.offer != nullptr && std::ranges::find(all, interval.offer) == all.end())
        all.push_back(interval.offer);
  return all;
}

void decide(CollectivePlan& plan, const Ground& ground, const std::vector<std::size_t>& sizes) {
  Others others(ground, plan.collective);
  const Decider as_is(plan, others, Tables::none), with_tables(plan, others, Tables::installed);
  plan.as_is = as_is.intervals(sizes);
  plan.with_tables = with_tables.intervals(sizes);
  if (same(plan.as_is, plan.with_tables)) plan.with_tables.clear();
  for (const std::size_t bytes : sizes) {
    SizeRow row;
    row.bytes = bytes;
    const Others::Choice model = others.model(bytes), previous = others.previous(bytes);
    row.model = model.name;
    row.model_s = model.seconds;
    row.previous = previous.name;
    row.previous_s = previous.seconds;
    row.bound_s = static_cast<double>(bytes) * plan.bound.seconds_per_byte;
    row.as_is = as_is.best(bytes);
    row.with_tables = with_tables.best(bytes);
    if (row.as_is != nullptr) row.as_is_s = price_of(*row.as_is, Tables::none).seconds(static_cast<double>(bytes));
    if (row.with_tables != nullptr)
      row.with_tables_s = price_of(*row.with_tables, Tables::installed).seconds(static_cast<double>(bytes));
    plan.sizes.push_back(row);
  }
}

}  // namespace colltopo::prepare
