// Such programs have no hazards: nobody writes what he reads, and every chunk of output is written once. So an op waits
// for nothing but its own partner, messages of a pair start in their order, and neither deadlock nor order has to be
// searched for: that both ends of every pair name the same messages is the proof.
//
// In place it is never right on two ranks or more. Say that a's input chunk x for b and b's for a share memory with
// what they get: receiving at a waits until a has sent x, which waits until b receives, which waits until b has sent,
// which waits until a receives; or a receives first, and then sends what it got.
#include "analysis/direct_exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "analysis/route_checks.h"
#include "base/index.h"
#include "base/parallel.h"

namespace colltopo::direct_exchange {

namespace {

constexpr std::size_t k_most_of_a_rank = 3;

/// A run of a message.
struct Piece {
  Rank peer;
  Lane lane;
  Step step;
  Chunk first, count;  // of input where it is sent, of output where it is received
  std::uint32_t op;
};
using Pieces = std::vector<Piece>;  // by peer; those of a peer in the order of the program

struct Ends {
  Pieces sent, received;
  bool is_direct = true;
  std::vector<Violation> violations;
};

/// The own shard, chunk by chunk onto itself.
bool copies_own_shard(const Op& op, const Shape& shape, Rank rank) {
  if (op.source.size() != 1 || op.target.size() != 1) return false;
  const Run &from = op.source.front(), &to = op.target.front();
  return from.buffer == Buffer::input && to.buffer == Buffer::output && from.first == to.first &&
         from.first >= rank * shape.chunks && from.first + from.count <= (rank + 1) * shape.chunks;
}

/// Marks a run of output; false when some of it is written twice.
bool mark(const Run& run, std::vector<bool>& written) {
  for (Chunk chunk = run.first; chunk < run.first + run.count; ++chunk) {
    if (written[index(chunk)]) return false;
    written[index(chunk)] = true;
  }
  return true;
}

bool add_message(const Op& op, std::span<const Run> runs, Buffer buffer, std::uint32_t number, Pieces& pieces) {
  for (const Run& run : runs) {
    if (run.buffer != buffer) return false;
    pieces.push_back({op.peer, op.lane, op.step, run.first, run.count, number});
  }
  return true;
}

/// By peer. Steps that decrease between two messages of a pair could hold each other up step by step.
bool sorted_by_peer(Pieces& pieces) {
  std::ranges::stable_sort(pieces, {}, &Piece::peer);
  for (std::size_t i = 1; i < pieces.size(); ++i)
    if (pieces[i].peer == pieces[i - 1].peer && pieces[i].step < pieces[i - 1].step) return false;
  return true;
}

Ends ends_of(const Program& program) {
  const Shape& shape = program.shape();
  Ends ends;
  std::vector<bool> written(index(shape.ranks * shape.chunks), false);
  for (std::size_t i = 0; i < program.size() && ends.is_direct; ++i) {
    const Op op = program.op(i);
    const auto number = static_cast<std::uint32_t>(i);
    if (op.action == Action::send)
      ends.is_direct = add_message(op, op.source, Buffer::input, number, ends.sent);
    else if (op.action == Action::recv)
      ends.is_direct = add_message(op, op.target, Buffer::output, number, ends.received);
    else
      ends.is_direct = op.action == Action::copy && copies_own_shard(op, shape, program.rank());
    for (const Run& run : op.target) ends.is_direct = ends.is_direct && mark(run, written);
  }
  if (!ends.is_direct || !sorted_by_peer(ends.sent) || !sorted_by_peer(ends.received)) return {{}, {}, false, {}};
  for (Chunk chunk = 0; chunk < shape.ranks * shape.chunks && ends.violations.size() < k_most_of_a_rank; ++chunk)
    if (!written[index(chunk)])
      ends.violations.push_back(
          {program.rank(), -1,
           fmt::format("output:{} ends with nothing, not chunk {} of rank {}", chunk,
                       program.rank() * shape.chunks + chunk % shape.chunks, chunk / shape.chunks)});
  ends.sent.shrink_to_fit();
  ends.received.shrink_to_fit();
  return ends;
}

std::span<const Piece> of_peer(const Pieces& pieces, Rank peer) {
  const auto [begin, end] = std::ranges::equal_range(pieces, peer, {}, &Piece::peer);
  return {begin, end};
}

/// The pieces of the message that comes first, which are taken away.
std::span<const Piece> first_message(std::span<const Piece>& pieces) {
  std::size_t count = 1;
  while (count < pieces.size() && pieces[count].op == pieces.front().op) ++count;
  const auto message = pieces.first(count);
  pieces = pieces.subspan(count);
  return message;
}

Chunk chunks_in(std::span<const Piece> message) {
  Chunk chunks = 0;
  for (const Piece& piece : message) chunks += piece.count;
  return chunks;
}

/// What is wrong with a message from `source` to `target`; "" if nothing.
std::string fault_of(std::span<const Piece> sent, std::span<const Piece> received, const Shape& shape, Rank source,
                     Rank target) {
  const Piece &from = sent.front(), &to = received.front();
  if (chunks_in(sent) != chunks_in(received))
    return fmt::format("receives {} chunks from {}, which sends {} (op {})", chunks_in(received), source,
                       chunks_in(sent), from.op);
  if (from.step != to.step || from.lane != to.lane)
    return fmt::format(
        "receives in step {} on lane {} what {} sends in step {} on lane {} (op {}); both ends must "
        "agree",
        to.step, to.lane, source, from.step, from.lane, from.op);
  // Chunk x of the shard is input target * C + x of the source and output source * C + x of the target.
  std::size_t s = 0, r = 0;
  for (Chunk in_s = 0, in_r = 0; s < sent.size();) {
    const Chunk count = std::min(sent[s].count - in_s, received[r].count - in_r);
    const Chunk input = sent[s].first + in_s, output = received[r].first + in_r;
    const Chunk x = output - source * shape.chunks;
    if (x < 0 || x + count > shape.chunks || input - target * shape.chunks != x)
      return fmt::format("output:{} ends with chunk {} of rank {}, not chunk {} of rank {}", output, input, source,
                         target * shape.chunks + output % shape.chunks, output / shape.chunks);
    in_s += count;
    in_r += count;
    if (in_s == sent[s].count) ++s, in_s = 0;
    if (in_r == received[r].count) ++r, in_r = 0;
  }
  return "";
}

void compare_pair(const Ends& source_ends, Rank source, Ends& target_ends, Rank target, const Shape& shape) {
  std::span<const Piece> sent = of_peer(source_ends.sent, target), received = of_peer(target_ends.received, source);
  const auto add = [&](Rank rank, std::uint32_t op, std::string what) {
    if (target_ends.violations.size() < k_most_of_a_rank)
      target_ends.violations.push_back({rank, static_cast<int>(op), std::move(what)});
  };
  while (!sent.empty() && !received.empty()) {
    const std::uint32_t op = received.front().op;
    const auto out = first_message(sent), in = first_message(received);
    if (std::string fault = fault_of(out, in, shape, source, target); !fault.empty()) add(target, op, std::move(fault));
  }
  if (!sent.empty()) add(source, sent.front().op, fmt::format("sends a message that {} never receives", target));
  if (!received.empty()) add(target, received.front().op, fmt::format("waits for ever for a message from {}", source));
}

}  // namespace

std::optional<Verdict> verified(const SectionedSchedule& schedule) {
  const Shape& shape = schedule.facts.shape;
  if (shape.collective != Collective::alltoall || shape.ranks < 2) return {};
  std::vector<Ends> ends(index(shape.ranks));
  std::atomic<bool> is_direct{true};
  for_each_index(ends.size(), schedule.threads, [&](std::size_t rank, unsigned) {
    if (!is_direct) return;
    ends[rank] = ends_of(schedule.program(static_cast<Rank>(rank)));
    if (!ends[rank].is_direct) is_direct = false;
  });
  if (!is_direct) return {};
  for_each_index(ends.size(), schedule.threads, [&](std::size_t target, unsigned) {
    for (Rank source = 0; source < shape.ranks; ++source)
      if (index(source) != target)
        compare_pair(ends[index(source)], source, ends[target], static_cast<Rank>(target), shape);
  });
  Verdict verdict;
  for (const Ends& end : ends)
    for (const Violation& violation : end.violations)
      if (verdict.violations.size() < analysis::Violations::k_most) verdict.violations.push_back(violation);
  verdict.stepped = verdict.independent = verdict.valid();
  return verdict;
}

}  // namespace colltopo::direct_exchange
