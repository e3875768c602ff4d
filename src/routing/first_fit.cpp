// Layers as stages of a pipeline: what a layer refuses stays in order, so the next one needs no more than that.
#include "routing/first_fit.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

#include "base/parallel.h"
#include "routing/closed_layer.h"

namespace colltopo {

namespace {

// Networks of more get layers that search: at this number a layer has 32 MiB.
constexpr std::size_t k_most_links_closed = 1 << 14;
constexpr std::size_t k_block = 4096;                              // routes that go from layer to layer at once
constexpr std::size_t k_most_closed_bytes = std::size_t{1} << 30;  // of layers at work at the same time

using Block = std::vector<RouteId>;

/// What one layer has for the next.
class Refused {
 public:
  void push(Block block) {
    const std::lock_guard lock(mutex_);
    blocks_.push_back(std::move(block));
    changed_.notify_one();
  }
  /// There is no more to come.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_one();
  }
  /// Waits for it; nothing: that was all.
  std::optional<Block> pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || !blocks_.empty(); });
    if (blocks_.empty()) return std::nullopt;
    Block block = std::move(blocks_.front());
    blocks_.pop_front();
    return block;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Block> blocks_;
  bool closed_ = false;
};

class Pipeline {
 public:
  Pipeline(const Dependencies& dependencies, RouteLinks routes, std::vector<std::vector<std::int32_t>> orders)
      : dependencies_(dependencies),
        routes_(routes),
        orders_(std::move(orders)),
        filled_{std::vector<std::int32_t>(routes.size(), 0), {}} {}

  Filled run(const std::vector<RouteId>& order, int threads) {
    Refused& all = stages_.emplace_back();
    for (std::size_t first = 0; first < order.size(); first += k_block) {
      const auto begin = order.begin() + static_cast<std::ptrdiff_t>(first);
      all.push({begin, begin + static_cast<std::ptrdiff_t>(std::min(k_block, order.size() - first))});
    }
    all.close();
    const std::size_t links = dependencies_.links();
    const std::size_t room =
        links <= k_most_links_closed ? k_most_closed_bytes / (links * links / 8 + 1) : order.size();
    const unsigned workers = worker_count(threads, std::min(order.size() / k_block, std::max<std::size_t>(room, 1)));
    for_each_index(workers, static_cast<int>(workers), [&](std::size_t, unsigned) { work(); });
    return std::move(filled_);
  }

 private:
  /// One layer after the other that nobody has begun, until there is nothing left for one.
  void work() {
    for (;;) {
      const auto [layer, in, out] = next_stage();
      struct Closing {  // also when memory runs out: who waits for this layer must not wait for ever
        Refused& stage;
        ~Closing() { stage.close(); }
      } const closing{*out};
      std::optional<Block> first = in->pop();
      if (!first) return;
      fill(layer, std::move(*first), *in, *out);
    }
  }

  struct Stage {
    std::int32_t layer = 0;
    Refused* in = nullptr;
    Refused* out = nullptr;
  };
  Stage next_stage() {
    const std::lock_guard lock(mutex_);
    Refused& out = stages_.emplace_back();
    Refused& in = stages_[static_cast<std::size_t>(begun_)];
    return {begun_++, &in, &out};
  }

  void fill(std::int32_t layer, Block first, Refused& in, Refused& out) {
    if (dependencies_.links() <= k_most_links_closed) {
      ClosedLayer closed(dependencies_.links());
      pass(layer, std::move(first), in, out, [&](std::span<const LinkId> links) { return closed.take(links); });
      return;
    }
    const auto at = static_cast<std::size_t>(layer);
    AcyclicLayer searched(dependencies_, at < orders_.size() ? std::move(orders_[at]) : std::vector<std::int32_t>());
    std::vector<DependencyId> between;
    pass(layer, std::move(first), in, out, [&](std::span<const LinkId> links) {
      dependencies_.along(links, between);
      return searched.take(links, between);
    });
    const std::lock_guard lock(mutex_);
    if (filled_.orders.size() <= at) filled_.orders.resize(at + 1);
    filled_.orders[at] = searched.order();
  }

  template <typename Takes>
  void pass(std::int32_t layer, Block first, Refused& in, Refused& out, const Takes& takes) {
    for (std::optional<Block> block = std::move(first); block; block = in.pop()) {
      std::erase_if(*block, [&](RouteId route) {
        const bool taken = takes(routes_[route]);
        if (taken) filled_.layer_of[route] = layer;
        return taken;
      });
      if (!block->empty()) out.push(std::move(*block));
    }
  }

  const Dependencies& dependencies_;
  RouteLinks routes_;
  std::vector<std::vector<std::int32_t>> orders_;
  Filled filled_;
  std::mutex mutex_;            // of what follows, and of filled_.orders
  std::deque<Refused> stages_;  // [layer] what comes to it
  std::int32_t begun_ = 0;      // layers
};

}  // namespace

Filled first_fit(const Dependencies& dependencies, RouteLinks routes, const std::vector<RouteId>& order, int threads,
                 std::vector<std::vector<std::int32_t>> orders) {
  return Pipeline(dependencies, routes, std::move(orders)).run(order, threads);
}

}  // namespace colltopo
