// A communicator in one process: every rank is a thread, messages go through queues, and the C API runs on top.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "colltopo/colltopo.h"

namespace colltopo {

/// The wires, and what the callbacks of all ranks share.
class Ranks {
 public:
  explicit Ranks(int ranks) : ranks_(ranks), contexts_(static_cast<std::size_t>(ranks)) {
    for (int r = 0; r < ranks; ++r) contexts_[static_cast<std::size_t>(r)] = {this, r};
  }

  std::vector<int> node_of;             // [rank]; empty: one node
  std::vector<std::string> host_names;  // [rank]; empty: not known
  int fail_message = -1;                // the n-th send of the process returns 77
  std::vector<std::string> said;        // "level: line", in no particular order of ranks
  const char* previous = "the next component";
  bool can_wait = false;  // whether there is a callback that waits
  int other_tags = 0;
  std::vector<int>
      kind_of;  // [rank] of what it runs: alike those of its kind, -1 has no colltopo; empty: all are alike

  /// Runs `body(rank, comm)` on a thread per rank.
  void run(const std::function<void(int, colltopo_comm*)>& body) {
    std::vector<std::thread> threads;
    for (int r = 0; r < ranks_; ++r) {
      threads.emplace_back([this, r, &body] {
        const colltopo_callbacks callbacks = this->callbacks(r);
        colltopo_comm* const comm = colltopo_comm_create(r, ranks_, &callbacks);
        body(r, comm);
        colltopo_comm_free(comm);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  int sends() const { return sends_; }
  /// How many ranks were told that files were replaced.
  int replacements() const { return replacements_; }
  /// While ranks run.
  bool has_said(const std::string& text) { return times_said(text) > 0; }
  std::ptrdiff_t times_said(const std::string& text) {
    const std::lock_guard lock(mutex_);
    return std::ranges::count_if(said, [&](const std::string& line) { return line.find(text) != std::string::npos; });
  }
  int waits() const { return waits_; }
  /// Messages that went from a rank to one that is not alike, and receives that waited for one.
  int astray() const { return astray_; }
  /// Whether a message had the tag of `collective`.
  bool has_sent(int collective) {
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(wires_, [&](const auto& wire) { return std::get<2>(wire.first) == collective; });
  }
  colltopo_callbacks callbacks_of(int rank) { return callbacks(rank); }
  /// Messages whose ends gave different lengths.
  int unequal_lengths() const { return unequal_lengths_; }

 private:
  struct Context {
    Ranks* ranks = nullptr;
    int rank = 0;
  };
  struct Pending {
    std::vector<std::byte> data;
    void* target = nullptr;
    std::size_t room = 0;
    bool done = false;
  };
  struct Wire {
    std::deque<std::shared_ptr<Pending>> sent, wanted;
  };

  static Context& of(void* context) { return *static_cast<Context*>(context); }

  bool alike(int rank, int other) const {
    return kind_of.empty() || kind_of[static_cast<std::size_t>(rank)] == kind_of[static_cast<std::size_t>(other)];
  }
  void note_astray(int rank, int peer) { astray_ += alike(rank, peer) ? 0 : 1; }

  void match(Wire& wire) {
    while (!wire.sent.empty() && !wire.wanted.empty()) {
      if (wire.sent.front()->data.size() != wire.wanted.front()->room) {
        ++unequal_lengths_;
        wire.sent.front()->data.resize(std::min(wire.sent.front()->data.size(), wire.wanted.front()->room));
      }
      std::copy(wire.sent.front()->data.begin(), wire.sent.front()->data.end(),
                static_cast<std::byte*>(wire.wanted.front()->target));
      wire.wanted.front()->done = true;
      wire.sent.pop_front();
      wire.wanted.pop_front();
    }
  }

  colltopo_callbacks callbacks(int rank) {
    colltopo_callbacks c{};
    c.context = &contexts_[static_cast<std::size_t>(rank)];
    c.other_tags = other_tags;
    c.send = [](void* context, const void* data, size_t bytes, int peer, int, int collective, void** request) {
      Ranks& all = *of(context).ranks;
      const std::lock_guard lock(all.mutex_);
      if (++all.sends_ == all.fail_message) return 77;
      all.note_astray(of(context).rank, peer);
      auto message = std::make_shared<Pending>();
      const auto* first = static_cast<const std::byte*>(data);
      message->data.assign(first, first + bytes);
      Wire& wire = all.wires_[{of(context).rank, peer, collective}];
      wire.sent.push_back(std::move(message));
      all.match(wire);
      *request = nullptr;
      return 0;
    };
    c.recv = [](void* context, void* data, size_t bytes, int peer, int, int collective, void** request) {
      Ranks& all = *of(context).ranks;
      const std::lock_guard lock(all.mutex_);
      all.note_astray(of(context).rank, peer);
      auto wanted = std::make_shared<Pending>();
      wanted->target = data;
      wanted->room = bytes;
      all.open_[wanted.get()] = wanted;
      *request = wanted.get();
      Wire& wire = all.wires_[{peer, of(context).rank, collective}];
      wire.wanted.push_back(std::move(wanted));
      all.match(wire);
      return 0;
    };
    c.test = [](void* context, void** request) {
      Ranks& all = *of(context).ranks;
      const std::lock_guard lock(all.mutex_);
      if (static_cast<Pending*>(*request)->done) {
        all.open_.erase(static_cast<Pending*>(*request));
        *request = nullptr;
      }
      return 0;
    };
    c.abandon = [](void*, void** request) { *request = nullptr; };
    c.progress = [](void*) { std::this_thread::yield(); };
    c.locality = [](void* context, int, int* group_of) {
      const Ranks& all = *of(context).ranks;
      for (std::size_t r = 0; r < all.contexts_.size(); ++r) group_of[r] = all.node_of.empty() ? 0 : all.node_of[r];
      return 0;
    };
    if (!host_names.empty())
      c.host_names = [](void* context, size_t size, char* names) {
        const Ranks& all = *of(context).ranks;
        for (std::size_t r = 0; r < all.contexts_.size(); ++r) {
          const std::size_t bytes = all.host_names[r].copy(names + r * size, size - 1);
          names[r * size + bytes] = '\0';
        }
        return 0;
      };
    c.previous = previous;
    if (!kind_of.empty())
      c.peer = [](void* context, int peer, colltopo_peer* found) {
        const Ranks& all = *of(context).ranks;
        found->kind = all.kind_of[static_cast<std::size_t>(peer)] < 0 ? COLLTOPO_PEER_ABSENT
                      : all.alike(of(context).rank, peer)             ? COLLTOPO_PEER_ALIKE
                                                                      : COLLTOPO_PEER_DIFFERENT;
        const std::string text = "rank " + std::to_string(peer) + " does not have colltopo";
        found->difference[text.copy(found->difference, sizeof(found->difference) - 1)] = '\0';
        return 0;
      };
    c.replaced = [](void* context) { ++of(context).ranks->replacements_; };
    if (can_wait) {
      c.wait = [](void* context, void** request) {
        ++of(context).ranks->waits_;
        for (;;) {
          {
            const std::lock_guard lock(of(context).ranks->mutex_);
            if (static_cast<Pending*>(*request)->done) {
              of(context).ranks->open_.erase(static_cast<Pending*>(*request));
              *request = nullptr;
              return 0;
            }
          }
          std::this_thread::yield();
        }
      };
    }
    c.say = [](void* context, int level, const char* line) {
      Ranks& all = *of(context).ranks;
      const std::lock_guard lock(all.mutex_);
      all.said.push_back(std::to_string(level) + ": " + line);
    };
    return c;
  }

  int ranks_;
  std::vector<Context> contexts_;
  std::mutex mutex_;
  std::map<std::tuple<int, int, int>, Wire> wires_;  // (from, to, collective)
  std::map<Pending*, std::shared_ptr<Pending>> open_;
  int sends_ = 0, unequal_lengths_ = 0, astray_ = 0;
  std::atomic<int> waits_{0}, replacements_{0};
};

}  // namespace colltopo
