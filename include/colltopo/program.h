// What one rank does: a sequential list of ops over runs of chunks.
//
// A program means what it does when its ops run one at a time, sends being buffered. Everything else (which ops may
// overlap, which send meets which receive, bytes, segments) is derived; see docs/schedule.md.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "colltopo/error.h"
#include "colltopo/shape.h"

namespace colltopo {

enum class Buffer : std::uint8_t { input, output, scratch };
std::string_view name(Buffer buffer);

/// `count` consecutive chunks of a buffer, starting at `first`.
struct Run {
  Buffer buffer = Buffer::input;
  Chunk first = 0;
  Chunk count = 0;

  friend bool operator==(const Run&, const Run&) = default;
};
using Runs = std::vector<Run>;

enum class Action : std::uint8_t { send, recv, copy, reduce };
std::string_view name(Action action);
constexpr bool is_message(Action action) { return action == Action::send || action == Action::recv; }

/// send reads source; recv writes target; copy sets target = source; reduce sets target = source (op) target, as
/// MPI_Reduce_local does.
struct Op {
  Action action = Action::send;
  Rank peer = 0;  // send and recv only
  Lane lane = 0;  // send and recv only
  Step step = 0;
  std::span<const Run> source;  // empty for recv
  std::span<const Run> target;  // empty for send

  friend bool operator==(const Op& a, const Op& b);
};

Chunk chunks_in(std::span<const Run> runs);

/// Made by ProgramBuilder alone. Movable and copyable; the spans of its ops point into it.
class Program {
 public:
  Program() = default;

  const Shape& shape() const { return shape_; }
  Rank rank() const { return rank_; }
  /// Slots of scratch; see Shape::classes() for which value fits which slot.
  Chunk scratch() const { return scratch_; }
  std::size_t size() const { return ops_.size(); }
  Op op(std::size_t index) const;
  /// The largest step of any op (0 for an empty program).
  Step last_step() const;

  friend bool operator==(const Program& a, const Program& b);

 private:
  friend class ProgramBuilder;
  struct Stored {
    Action action;
    Rank peer;
    Lane lane;
    Step step;
    std::uint32_t source, source_count;  // into runs_
    std::uint32_t target, target_count;
  };
  Shape shape_;
  Rank rank_ = 0;
  Chunk scratch_ = 0;
  std::vector<Stored> ops_;
  std::vector<Run> runs_;
};

/// Runs as an argument: a vector or span of them, or braces around a few. Does not own them.
class RunList {
 public:
  RunList() = default;
  RunList(std::initializer_list<Run> runs) : runs_(runs.begin(), runs.size()) {}
  RunList(const Runs& runs) : runs_(runs) {}
  RunList(std::span<const Run> runs) : runs_(runs) {}

  operator std::span<const Run>() const { return runs_; }

 private:
  std::span<const Run> runs_;
};

/// The only way to make a Program. Every op is checked as it is added: buffers' bounds, peers, equal lengths and equal
/// size classes of what is copied or reduced; a fault throws Error naming the rank and the op.
///
/// Adjacent runs are joined (output:3+1 output:4+1 becomes output:3+2). Ops of no chunks are left out: a send and its
/// receive have the same length, so both ends leave the same message out.
class ProgramBuilder {
 public:
  ProgramBuilder(const Shape& shape, Rank rank);

  const Shape& shape() const { return shape_; }
  Rank rank() const { return program_.rank_; }

  /// Ops added from now on belong to this step (steps are global: both ends of a message must give it the same step).
  ProgramBuilder& step(Step step);

  ProgramBuilder& send(RunList source, Rank peer, Lane lane = 0);
  ProgramBuilder& recv(RunList target, Rank peer, Lane lane = 0);
  ProgramBuilder& copy(RunList source, RunList target);
  ProgramBuilder& reduce(RunList source, RunList target);
  /// Any of the four: `like` gives action, peer, lane and step; its own runs are not looked at. Runs that the action
  /// does not have must be empty.
  ProgramBuilder& add(const Op& like, RunList source, RunList target);

  /// Makes room, for generators that know how much they are about to add.
  ProgramBuilder& reserve(std::size_t ops, std::size_t runs);

  Program build() &&;

 private:
  using View = std::span<const Run>;

  void add(Action action, Rank peer, Lane lane, View source, View target);
  Chunk check(Action action, View runs, bool written) const;
  void check_peer(Action action, Rank peer, Lane lane) const;
  void check_pair(Action action, View source, View target) const;
  std::uint32_t append(View runs);
  Error fault(Action action, const std::string& what) const;

  Shape shape_;
  Program program_;
  Step step_ = 0;
  std::array<Chunk, 3> limits_{};  // [Buffer] chunks
};

/// The size class of a chunk of a rank's buffer (Shape::classes()).
Chunk size_class(const Shape& shape, Rank rank, Buffer buffer, Chunk chunk);

}  // namespace colltopo
