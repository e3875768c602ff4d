// An op is a byte that says what of it is as foreseen, and then the rest as numbers. Foreseen are: the step of the op
// before, lane 0, the next rank upwards to send to and downwards to receive from, and the whole shard of that rank. A
// route is foreseen to lead to the next rank, on lane 0, in the layer of the route before; it begins with as many links
// of that one as they have in common.
#include "text/packed.h"

#include <fmt/format.h>

#include <algorithm>

#include "colltopo/error.h"
#include "text/limits.h"
#include "text/section.h"
#include "text/varint.h"

namespace colltopo::text {

namespace {

constexpr unsigned k_same_step = 4, k_lane_0 = 8, k_next_peer = 16, k_whole_shard = 32;  // above the action's two bits
constexpr unsigned k_next_target = 1, k_route_lane_0 = 2, k_same_layer = 4;
constexpr std::size_t k_most_at_once = 1 << 20;  // of memory that a number asks for before there is anything to put in
constexpr std::uint64_t k_most = (std::uint64_t{1} << 31) - 1;

/// What is foreseen of the next op.
class Foreseen {
 public:
  Foreseen(const Shape& shape, Rank rank) : shape_(shape), rank_(rank), sent_(rank), received_(rank) {}

  Step step = 0;
  Rank peer(Action action) const {
    return action == Action::send ? (sent_ + 1) % shape_.ranks : (received_ + shape_.ranks - 1) % shape_.ranks;
  }
  void had(Action action, Rank peer) { (action == Action::send ? sent_ : received_) = peer; }
  Run shard(Action action, Rank peer) const {
    return {action == Action::recv ? Buffer::output : Buffer::input,
            (is_message(action) ? peer : rank_) * shape_.chunks, shape_.chunks};
  }

 private:
  const Shape& shape_;
  Rank rank_, sent_, received_;
};

bool is_whole_shard(const Op& op, const Foreseen& foreseen) {
  const Run shard = foreseen.shard(op.action, op.peer);
  const auto is = [](std::span<const Run> runs, const Run& run) { return runs.size() == 1 && runs.front() == run; };
  switch (op.action) {
    case Action::send:
      return is(op.source, shard);
    case Action::recv:
      return is(op.target, shard);
    case Action::copy:
      return is(op.source, shard) && is(op.target, {Buffer::output, shard.first, shard.count});
    case Action::reduce:
      break;
  }
  return false;
}

void put_runs(std::string& bytes, std::span<const Run> runs) {
  put(bytes, runs.size());
  for (const Run& run : runs) {
    put(bytes, static_cast<std::uint64_t>(run.first) << 2 | static_cast<std::uint64_t>(run.buffer));
    put(bytes, static_cast<std::uint64_t>(run.count));
  }
}

/// Numbers with a name, so that what is wrong can be said.
class Numbers {
 public:
  explicit Numbers(std::string_view bytes) : bytes_(bytes) {}
  std::uint64_t number(std::string_view what, std::uint64_t most = k_most) {
    std::uint64_t value = 0;
    if (!bytes_.take(value)) throw Error(fmt::format("the section ends within {}, expected all of it", what));
    if (value > most) throw Error(fmt::format("{} is {}, expected a number in 0..{}", what, value, most));
    return value;
  }
  std::int32_t small(std::string_view what, std::uint64_t most = k_most) {
    return static_cast<std::int32_t>(number(what, most));
  }
  /// How many of something of which each takes a byte at least, so that no number asks for more memory than there is.
  std::size_t count(std::string_view what) {
    const std::uint64_t value = number(what);
    if (value > bytes_.left())
      throw Error(fmt::format("{} {} in {} bytes, expected no more than that", value, what, bytes_.left()));
    return value;
  }
  void end() const {
    if (!bytes_.done()) throw Error(fmt::format("{} bytes after the section's end, expected none", bytes_.left()));
  }

 private:
  Bytes bytes_;
};

void take_runs(Numbers& numbers, Runs& runs) {
  runs.clear();
  for (std::size_t left = numbers.count("runs"); left > 0; --left) {
    constexpr std::uint64_t k_most_first = (std::uint64_t{1} << 32) - 1;
    const std::uint64_t first = numbers.number("a run's buffer and first chunk", k_most_first);
    if ((first & 3) > 2) throw Error("a run of buffer 3, expected 0 to 2: input, output, scratch");
    const auto buffer = static_cast<Buffer>(first & 3);
    runs.push_back({buffer, static_cast<Chunk>(first >> 2), numbers.small("a run's chunks")});
  }
}

}  // namespace

std::string packed(const Program& program) {
  const Shape& shape = program.shape();
  std::string bytes;
  bytes.reserve(program.size() + 16);
  put(bytes, program.size());
  put(bytes, static_cast<std::uint64_t>(program.scratch()));
  Foreseen foreseen(shape, program.rank());
  for (std::size_t i = 0; i < program.size(); ++i) {
    const Op op = program.op(i);
    const bool message = is_message(op.action), whole = is_whole_shard(op, foreseen);
    const bool next = message && op.peer == foreseen.peer(op.action);
    unsigned code = static_cast<unsigned>(op.action);
    if (op.step == foreseen.step) code |= k_same_step;
    if (op.lane == 0) code |= k_lane_0;
    if (next) code |= k_next_peer;
    if (whole) code |= k_whole_shard;
    bytes.push_back(static_cast<char>(code));
    if (op.step != foreseen.step) put(bytes, static_cast<std::uint64_t>(foreseen.step = op.step));
    if (op.lane != 0) put(bytes, static_cast<std::uint64_t>(op.lane));
    if (message && !next) put(bytes, static_cast<std::uint64_t>(op.peer));
    if (message) foreseen.had(op.action, op.peer);
    if (whole) continue;
    if (op.action != Action::recv) put_runs(bytes, op.source);
    if (op.action != Action::send) put_runs(bytes, op.target);
  }
  return bytes;
}

Program unpacked_program(std::string_view bytes, const Shape& shape, Rank rank, Step last_step) {
  Numbers numbers(bytes);
  const std::size_t ops = numbers.count("ops");
  if (ops > most_ops(shape))
    throw Error(fmt::format("ops {}, expected at most {} of {} ranks and {} chunks", ops, most_ops(shape), shape.ranks,
                            shape.chunks));
  const Chunk scratch = numbers.small("scratch");
  ProgramBuilder program(shape, rank);
  program.reserve(std::min(ops, k_most_at_once), std::min(ops, k_most_at_once));
  Foreseen foreseen(shape, rank);
  Runs source, target;
  for (std::size_t i = 0; i < ops; ++i) {
    const std::uint64_t code = numbers.number("an op", 127);
    Op op;
    op.action = static_cast<Action>(code & 3);
    const bool message = is_message(op.action);
    if (code >= 64 || (!message && (code & k_next_peer) != 0))
      throw Error(fmt::format("op {} begins with {}, which is no op, expected one", i, code));
    if ((code & k_same_step) == 0) foreseen.step = numbers.small("a step", static_cast<std::uint64_t>(last_step));
    op.step = foreseen.step;
    if ((code & k_lane_0) == 0) op.lane = numbers.small("a lane");
    if (message) {
      op.peer = (code & k_next_peer) != 0 ? foreseen.peer(op.action) : numbers.small("a peer");
      if (op.peer >= shape.ranks)
        throw Error(fmt::format("op {}: peer {} is not in 0..{}", i, op.peer, shape.ranks - 1));
      foreseen.had(op.action, op.peer);
    }
    source.clear();
    target.clear();
    if ((code & k_whole_shard) != 0) {
      const Run shard = foreseen.shard(op.action, op.peer);
      (op.action == Action::recv ? target : source).push_back(shard);
      if (op.action == Action::copy) target.push_back({Buffer::output, shard.first, shard.count});
    } else {
      if (op.action != Action::recv) take_runs(numbers, source);
      if (op.action != Action::send) take_runs(numbers, target);
    }
    program.add(op, source, target);
  }
  numbers.end();
  Program built = std::move(program).build();
  if (built.scratch() != scratch)
    throw Error(fmt::format("scratch {}, expected the {} slots that its ops use", scratch, built.scratch()));
  return built;
}

std::string packed(const std::vector<Route>& routes, const Shape& shape, Rank source) {
  std::string bytes;
  put(bytes, routes.size());
  const Route* before = nullptr;
  const Route none{source, source, 0, 0, {}};
  for (const Route& route : routes) {
    if (const std::string fault = route_fault(shape, before, route); !fault.empty() || route.source != source)
      throw Error("schedule cannot be written: " + (fault.empty() ? "a route of another source" : fault));
    const Route& last = before != nullptr ? *before : none;
    unsigned code = 0;
    if (route.target == last.target + 1) code |= k_next_target;
    if (route.lane == 0) code |= k_route_lane_0;
    if (route.layer == last.layer) code |= k_same_layer;
    bytes.push_back(static_cast<char>(code));
    if ((code & k_next_target) == 0) put(bytes, static_cast<std::uint64_t>(route.target));
    if (route.lane != 0) put(bytes, static_cast<std::uint64_t>(route.lane));
    if ((code & k_same_layer) == 0) put(bytes, static_cast<std::uint64_t>(route.layer));
    const auto common = std::ranges::mismatch(route.links, last.links).in1 - route.links.begin();
    put(bytes, static_cast<std::uint64_t>(common));
    put(bytes, route.links.size() - static_cast<std::size_t>(common));
    for (auto link = route.links.begin() + common; link != route.links.end(); ++link)
      put(bytes, static_cast<std::uint64_t>(*link));
    before = &route;
  }
  return bytes;
}

std::vector<Route> unpacked_routes(std::string_view bytes, const Shape& shape, Rank source) {
  Numbers numbers(bytes);
  std::vector<Route> routes;
  const std::size_t count = numbers.count("routes");
  routes.reserve(std::min(count, k_most_at_once));
  std::size_t links = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t code = numbers.number("a route", 7);
    const Route* before = routes.empty() ? nullptr : &routes.back();
    Route route{source, before != nullptr ? before->target : source, 0, before != nullptr ? before->layer : 0, {}};
    if ((code & k_next_target) != 0)
      ++route.target;
    else
      route.target = numbers.small("a target");
    if ((code & k_route_lane_0) == 0) route.lane = numbers.small("a lane");
    if ((code & k_same_layer) == 0) route.layer = numbers.small("a layer");
    const std::size_t known = before != nullptr ? before->links.size() : 0;
    const std::uint64_t common = numbers.number("links in common", known);
    // A file that doubles its routes at every turn would need more memory than it has bytes.
    if ((links += common) > Limits::k_most_links)
      throw Error(fmt::format("more than {} links in a section, expected fewer", Limits::k_most_links));
    if (common > 0)
      route.links.assign(before->links.begin(), before->links.begin() + static_cast<std::ptrdiff_t>(common));
    for (std::size_t left = numbers.count("links"); left > 0; --left) route.links.push_back(numbers.small("a link"));
    if (const std::string fault = route_fault(shape, before, route); !fault.empty()) throw Error(fault);
    routes.push_back(std::move(route));
  }
  numbers.end();
  return routes;
}

}  // namespace colltopo::text
