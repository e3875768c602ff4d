#include "run_target.h"

#include <fmt/format.h>

#include <functional>
#include <sstream>
#include <stdexcept>

#include "colltopo/segments.h"
#include "colltopo/text.h"
#include "colltopo/uneven.h"
#include "colltopo/verify.h"
#include "schedules.h"
#include "uneven.h"

namespace colltopo::fuzz {

namespace {

constexpr Rank k_most_ranks = 16;
constexpr Chunk k_most_chunks = 256;  // of a buffer

struct Done {
  std::uint64_t schedules = 0, runs = 0, in_place = 0, stepped = 0, in_place_and_stepped = 0, windows = 0, segments = 0,
                compact = 0, swapped = 0, digests = 0, uneven = 0;
};
Done done;

void count(const Trial& way) {
  const bool stepped = way.pace == Pace::steps;
  ++done.runs;
  done.in_place += way.in_place ? 1 : 0;
  done.stepped += stepped ? 1 : 0;
  done.in_place_and_stepped += way.in_place && stepped ? 1 : 0;
  done.windows += way.window > 0 ? 1 : 0;
  done.segments += way.segments > 1 ? 1 : 0;
  done.compact += way.compact ? 1 : 0;
  done.swapped += way.reduction == Reduction::affine ? 1 : 0;
  done.digests += way.reduction == Reduction::digest ? 1 : 0;
}

/// What a job may bind by a verdict (Selector::manner_of, Comm::served, Plans::bind), the rest drawn.
class Ways {
 public:
  Ways(const Schedule& schedule, const Verdict& verdict, std::mt19937_64& random)
      : schedule_(schedule), verdict_(verdict), pattern_(step_pattern(schedule)), random_(random) {}

  std::vector<Trial> all() {
    std::vector<Trial> ways;
    for (const bool in_place : {false, true})
      for (const Pace pace : {Pace::free, Pace::steps})
        for (const bool cut : {false, true}) {
          if ((in_place && !verdict_.in_place) || (pace == Pace::steps && !verdict_.stepped)) continue;
          ways.push_back(drawn(in_place, pace, cut));
        }
    return ways;
  }

 private:
  std::size_t below(std::size_t end) { return static_cast<std::size_t>(random_() % end); }

  Trial drawn(bool in_place, Pace pace, bool cut) {
    const Shape& shape = schedule_.shape;
    Trial way;
    way.in_place = in_place;
    way.pace = pace;
    way.segments = cut ? static_cast<int>(2 + below(9)) : 1;
    way.order = pattern_.in_order ? SegmentOrder::slot_by_slot : SegmentOrder::op_by_op;
    way.independent = verdict_.independent;
    way.window = window_for(pattern_, verdict_.independent, static_cast<std::uint32_t>(below(4)));
    way.compact = pattern_.in_order && below(3) == 0;
    way.protocol = below(2) == 0 ? Protocol::eager : Protocol::rendezvous;
    if (below(3) == 0) way.part = (1 + below(3)) * sizeof(Element);
    const auto parts = static_cast<std::size_t>(shape.parts());
    way.count = below(3) == 0 ? parts * (1 + below(3)) : below(4 * parts + 2);
    if (shape.collective == Collective::reduce_scatter && !in_place && below(2) == 0)
      for (Rank rank = 0; rank < shape.ranks; ++rank) way.counts.push_back(below(2 * parts + 1));
    if (reduces(shape.collective) && verdict_.keeps_rank_order && below(2) == 0) way.reduction = Reduction::affine;
    if (shape.collective == Collective::allreduce && verdict_.same_on_all_ranks && below(2) == 0)
      way.reduction = Reduction::digest;
    way.seed = random_();
    return way;
  }

  const Schedule& schedule_;
  const Verdict& verdict_;
  const StepPattern pattern_;
  std::mt19937_64& random_;
};

/// A rank's side of a call whose blocks have sizes of their own, with gaps between them.
struct Side {
  TestBlocks input, output, expected;
  std::vector<unsigned char> own;  // the rank's own block, where a side holds it alone
  UnevenShards shards;
};

/// The call of the schedule's collective with a v, with random sizes.
class UnevenRun {
 public:
  UnevenRun(const Schedule& schedule, const Verdict& verdict, std::mt19937_64& random)
      : schedule_(schedule), verdict_(verdict), random_(static_cast<unsigned>(random())) {}

  /// alltoall: programs that pass nothing on; allgather: those without scratch.
  bool is_possible() const {
    const Collective collective = schedule_.shape.collective;
    if (collective != Collective::alltoall && collective != Collective::allgather) return false;
    const Sizes sizes = collective == Collective::alltoall ? Sizes::of_messages : Sizes::of_ranks;
    return std::ranges::all_of(schedule_.programs, [&](const Program& program) { return serves(program, sizes); });
  }

  std::string fault(bool in_place, Pace pace) {
    const auto ranks = static_cast<std::size_t>(schedule_.shape.ranks);
    const bool gathers = schedule_.shape.collective == Collective::allgather;
    const Traffic all = traffic(schedule_.shape.ranks, Pattern::small, static_cast<unsigned>(random_()));
    const std::size_t whole_below = gathers ? 0 : random_() % 16;
    Binding binding;
    binding.pace = pace;
    binding.independent = verdict_.independent;
    const StepPattern pattern = step_pattern(schedule_);
    binding.order = pattern.in_order ? SegmentOrder::slot_by_slot : SegmentOrder::op_by_op;
    binding.window = window_for(pattern, verdict_.independent, static_cast<std::uint32_t>(random_() % 4));
    if (gathers) binding.segments = static_cast<int>(1 + random_() % 3);
    Loopback wires(schedule_.shape.ranks, random_(), Protocol::rendezvous);
    std::vector<Side> sides;
    sides.reserve(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) sides.push_back(side(all, rank, gathers, in_place, whole_below));
    std::vector<std::unique_ptr<Bound>> bounds;
    std::vector<std::unique_ptr<Execution>> executions;
    std::vector<std::vector<std::byte>> arenas;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      Side& s = sides[rank];
      s.shards.output = {s.output.bytes, s.output.at};
      if (!gathers) s.shards.input = {s.input.bytes, s.input.at};
      binding.shards = s.shards;
      bounds.push_back(std::make_unique<Bound>(
          std::make_shared<const Plan>(schedule_.programs[rank], PlanOptions{in_place, false}), binding));
      arenas.emplace_back(bounds[rank]->arena_bytes());
      executions.push_back(std::make_unique<Execution>());
      executions[rank]->prepare(*bounds[rank]);
      const unsigned char* input = gathers ? s.own.data() : s.input.memory.data();
      if (in_place) input = s.output.memory.data() + s.output.at[rank];
      executions[rank]->start(
          *bounds[rank], wires.endpoint(static_cast<Rank>(rank)), arenas[rank].data(),
          {reinterpret_cast<const std::byte*>(input), reinterpret_cast<std::byte*>(s.output.memory.data())});
    }
    if (!ends(wires, executions)) return "deadlock";
    for (std::size_t rank = 0; rank < ranks; ++rank)
      if (sides[rank].output.memory != sides[rank].expected.memory) return fmt::format("rank {} has other bytes", rank);
    return "";
  }

 private:
  Side side(const Traffic& all, std::size_t rank, bool gathers, bool in_place, std::size_t whole_below) {
    const auto r = static_cast<int>(rank);
    TestBlocks output(Exchange::column(all, gathers ? 0 : r), random_), expected = output;
    for (std::size_t peer = 0; peer < all.size(); ++peer) expected.fill(peer, static_cast<int>(peer), gathers ? 0 : r);
    Side side{TestBlocks(all[rank], random_), std::move(output), std::move(expected), {}, {}};
    side.shards.given = true;
    side.shards.whole_below = whole_below;
    if (!gathers) {
      for (std::size_t peer = 0; peer < all.size(); ++peer) side.input.fill(peer, r, static_cast<int>(peer));
      return side;
    }
    if (in_place) side.output.fill(rank, r, 0);
    side.shards.own = side.output.bytes[rank];
    for (std::size_t i = 0; i < side.shards.own; ++i) side.own.push_back(TestBlocks::value(r, 0, i));
    return side;
  }

  bool ends(Loopback& wires, std::vector<std::unique_ptr<Execution>>& executions) {
    constexpr int k_most_idle = 1000;  // a look does not test every message
    std::vector<bool> over(executions.size(), false);
    for (int idle = 0; idle < k_most_idle;) {
      bool moved = false, all_over = true;
      for (std::size_t rank = 0; rank < executions.size(); ++rank) {
        if (!over[rank] && executions[rank]->progress()) over[rank] = moved = true;
        all_over = all_over && over[rank];
      }
      if (all_over) return true;
      while (wires.step()) {
        moved = true;
        if (random_() % 4 == 0) break;
      }
      idle = moved ? 0 : idle + 1;
    }
    return false;
  }

  const Schedule& schedule_;
  const Verdict& verdict_;
  std::mt19937 random_;
};

void run_uneven(const Schedule& schedule, const Verdict& verdict, std::mt19937_64& random) {
  UnevenRun run(schedule, verdict, random);
  if (!run.is_possible()) return;
  for (const bool in_place : {false, true})
    for (const Pace pace : {Pace::free, Pace::steps}) {
      if ((in_place && !verdict.in_place) || (pace == Pace::steps && !verdict.stepped)) continue;
      ++done.runs;
      ++done.uneven;
      std::string fault;
      try {
        fault = run.fault(in_place, pace);
      } catch (const Error& error) {
        fault = error.what();
      }
      if (!fault.empty())
        throw std::logic_error(fmt::format("blocks of sizes of their own, {} pace{}: {}",
                                           pace == Pace::free ? "free" : "stepped", in_place ? ", in place" : "",
                                           fault));
    }
}

}  // namespace

void run_every_way(const std::string& file) {
  const std::string text = sealed(file);
  std::istringstream in(text);
  const ScheduleHeader header = read_header(in, "FILE");
  const Shape& shape = header.shape;
  if (header.orbits > 0 || shape.ranks > k_most_ranks || shape.ranks * shape.chunks > k_most_chunks) return;
  in.clear();
  in.seekg(0);
  const Schedule schedule = read_schedule(in, "FILE");
  const Verdict verdict = verify(schedule);
  if (!verdict.valid()) return;
  ++done.schedules;
  std::mt19937_64 random(std::hash<std::string>{}(text));
  for (const Trial& way : Ways(schedule, verdict, random).all()) {
    count(way);
    if (const auto result = runs_right(schedule, way); !result) throw std::logic_error(result.message());
  }
  run_uneven(schedule, verdict, random);
}

std::string runs_done() {
  return fmt::format(
      "{} runs of {} schedules without a difference: {} in place, {} step by step, {} both, {} with a window, {} in "
      "segments, {} compact, {} with operands that may not change places, {} compared bit by bit, {} with blocks of "
      "sizes of their own",
      done.runs, done.schedules, done.in_place, done.stepped, done.in_place_and_stepped, done.windows, done.segments,
      done.compact, done.swapped, done.digests, done.uneven);
}

}  // namespace colltopo::fuzz
