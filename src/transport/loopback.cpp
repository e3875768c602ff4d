// The loopback: messages wait in queues per (from, to); a random pair delivers its oldest one.

#include "colltopo/loopback.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "colltopo/error.h"

namespace colltopo {

struct Loopback::State {
  struct Pending {
    std::byte* data = nullptr;    // where to, or where from under rendezvous
    std::vector<std::byte> copy;  // eager sends
    std::size_t bytes = 0;
    bool done = false, abandoned = false;
  };
  struct Pair {
    std::deque<Pending*> sends, recvs;
    bool listed = false;  // in State::deliverable
  };

  class Endpoint final : public Transport {
   public:
    Endpoint(State& state, Rank rank) : state_(state), rank_(rank) {}

    int send(const std::byte* data, std::size_t bytes, Rank peer, Lane, Request* request) noexcept override {
      Pending* pending = state_.add();
      pending->bytes = bytes;
      if (state_.protocol == Protocol::eager) {
        pending->copy.assign(data, data + bytes);
        *request = nullptr;
      } else {
        pending->data = const_cast<std::byte*>(data);
        *request = pending;
      }
      Pair& pair = state_.pairs[{rank_, peer}];
      pair.sends.push_back(pending);
      state_.list(pair);
      return 0;
    }
    int recv(std::byte* data, std::size_t bytes, Rank peer, Lane, Request* request) noexcept override {
      Pending* pending = state_.add();
      pending->data = data;
      pending->bytes = bytes;
      *request = pending;
      Pair& pair = state_.pairs[{peer, rank_}];
      pair.recvs.push_back(pending);
      state_.list(pair);
      return 0;
    }
    int test(Request* request) noexcept override {
      if (static_cast<Pending*>(*request)->done) *request = nullptr;
      return 0;
    }
    void abandon(Request* request) noexcept override {
      static_cast<Pending*>(*request)->abandoned = true;
      *request = nullptr;
    }
    void progress() noexcept override {}

   private:
    State& state_;
    Rank rank_;
  };

  Pending* add() {
    all.push_back(std::make_unique<Pending>());
    return all.back().get();
  }

  // Keeps the pairs that can deliver, so that a delivery takes no search.
  void list(Pair& pair) {
    if (pair.listed || pair.sends.empty() || pair.recvs.empty()) return;
    pair.listed = true;
    deliverable.push_back(&pair);
  }

  std::mt19937_64 random;
  Protocol protocol = Protocol::eager;
  Lengths lengths = Lengths::equal;
  std::vector<std::unique_ptr<Endpoint>> endpoints;
  std::map<std::pair<Rank, Rank>, Pair> pairs;
  std::vector<Pair*> deliverable;
  std::vector<std::unique_ptr<Pending>> all;
};

Loopback::Loopback(Rank ranks, std::uint64_t seed, Protocol protocol, Lengths lengths)
    : state_(std::make_unique<State>()) {
  state_->random.seed(seed);
  state_->protocol = protocol;
  state_->lengths = lengths;
  for (Rank rank = 0; rank < ranks; ++rank) {
    state_->endpoints.push_back(std::make_unique<State::Endpoint>(*state_, rank));
  }
}

Loopback::~Loopback() = default;

Transport& Loopback::endpoint(Rank rank) { return *state_->endpoints[static_cast<std::size_t>(rank)]; }

bool Loopback::step() {
  std::vector<State::Pair*>& deliverable = state_->deliverable;
  if (deliverable.empty()) return false;
  std::swap(deliverable[state_->random() % deliverable.size()], deliverable.back());
  State::Pair& pair = *deliverable.back();
  State::Pending& sent = *pair.sends.front();
  State::Pending& received = *pair.recvs.front();
  if (sent.bytes > received.bytes || (sent.bytes < received.bytes && state_->lengths == Lengths::equal)) {
    throw Error(fmt::format("a message of {} bytes meets a receive of {}", sent.bytes, received.bytes));
  }
  if (sent.bytes > 0) std::memcpy(received.data, sent.copy.empty() ? sent.data : sent.copy.data(), sent.bytes);
  sent.done = received.done = true;
  pair.sends.pop_front();
  pair.recvs.pop_front();
  if (pair.sends.empty() || pair.recvs.empty()) {
    pair.listed = false;
    deliverable.pop_back();
  }
  return true;
}

namespace {

constexpr int k_looks = 1000;  // more than a rank has messages under way, in looks at some of them

std::string waiting_ranks(const std::vector<bool>& done) {
  std::string ranks;
  for (std::size_t r = 0; r < done.size(); ++r) {
    if (!done[r]) ranks += (ranks.empty() ? "" : ", ") + std::to_string(r);
  }
  return ranks;
}

}  // namespace

std::vector<std::vector<std::byte>> run_loopback(const Schedule& schedule, const LoopbackRun& run,
                                                 const std::vector<std::vector<std::byte>>& inputs) {
  const Shape& shape = schedule.shape;
  const auto ranks = static_cast<std::size_t>(shape.ranks);
  const Layout layout =
      run.counts.empty() ? Layout(shape, run.count, run.element_size) : Layout(shape, run.counts, run.element_size);
  Loopback wires(shape.ranks, run.seed, run.protocol);
  std::vector<std::unique_ptr<Bound>> bounds;
  std::vector<std::unique_ptr<Execution>> executions;
  std::vector<std::vector<std::byte>> arenas;
  std::vector<std::vector<std::byte>> outputs(ranks);
  std::vector<std::ptrdiff_t> before_output(ranks, 0);  // in place, where output lies in input
  for (Rank rank = 0; rank < shape.ranks; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    bounds.push_back(std::make_unique<Bound>(
        std::make_shared<const Plan>(schedule.programs[r], PlanOptions{run.in_place, run.compact}),
        Binding{run.count, run.element_size, run.counts, run.segments, run.order, run.pace, run.window, run.independent,
                k_stretch, run.part}));
    arenas.emplace_back(bounds[r]->arena_bytes());
    executions.push_back(std::make_unique<Execution>());
    executions[r]->prepare(*bounds[r]);
    outputs[r].assign(layout.output_bytes(rank), std::byte{0xA5});
    Call call{inputs[r].data(), outputs[r].data(), run.reduce, run.reduce_context};
    if (run.in_place) {
      const std::ptrdiff_t offset = layout.in_place_bytes(rank);
      const std::ptrdiff_t input = std::max<std::ptrdiff_t>(offset, 0);
      before_output[r] = std::max<std::ptrdiff_t>(-offset, 0);
      outputs[r].resize(std::max(static_cast<std::size_t>(before_output[r]) + outputs[r].size(),
                                 static_cast<std::size_t>(input) + inputs[r].size()),
                        std::byte{0xA5});
      std::ranges::copy(inputs[r], outputs[r].begin() + input);
      call.output = outputs[r].data() + before_output[r];
      call.input = outputs[r].data() + input;
    }
    executions[r]->start(*bounds[r], wires.endpoint(rank), arenas[r].data(), call);
  }

  std::mt19937_64 random(run.seed * 7919 + 1);
  std::vector<bool> done(ranks, false);
  std::size_t left = ranks;
  while (left > 0) {
    bool moved = false;
    for (std::size_t turn = 0; turn < ranks; ++turn) {  // a random rank at a time, each at least once in expectation
      const std::size_t r = random() % ranks;
      if (!done[r] && executions[r]->progress()) {
        done[r] = true;
        --left;
        moved = true;
      }
    }
    const std::size_t deliveries = 1 + random() % ranks;
    for (std::size_t i = 0; i < deliveries; ++i) moved = wires.step() || moved;
    if (moved) continue;
    // Nobody moved by chance: let everybody try before calling it a deadlock. One look does not test every message.
    for (int look = 0; look < k_looks && !moved; ++look) {
      for (std::size_t r = 0; r < ranks; ++r) {
        if (!done[r] && executions[r]->progress()) {
          done[r] = true;
          --left;
          moved = true;
        }
      }
      moved = wires.step() || moved;
    }
    if (!moved && left > 0) throw Error(schedule.name + ": deadlock; ranks " + waiting_ranks(done) + " wait for ever");
  }
  for (std::size_t r = 0; r < ranks; ++r) {
    if (executions[r]->status() != 0)
      throw Error(fmt::format("rank {} ended with code {}", r, executions[r]->status()));
    outputs[r].erase(outputs[r].begin(), outputs[r].begin() + before_output[r]);
    outputs[r].resize(layout.output_bytes(static_cast<Rank>(r)));
  }
  return outputs;
}

}  // namespace colltopo
