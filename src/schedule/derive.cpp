// Reversal: sends of an allgather become receive-and-reduce, its receives become sends of the partial result.
//
// The partial result of vector chunk x is kept in scratch slot x (bank 0) until it is sent; the rank's own result is
// kept in output, where it belongs. What arrives first goes to bank 0, the own chunk's too so that a message stays one
// run, and then to banks 2 and 1 in turn, so that a second receive of the same chunk can be posted while the first is
// being reduced.

#include "colltopo/derive.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "colltopo/error.h"

namespace colltopo {

namespace {

// Where the runs of an allgather or bcast program lie in the vector: input i and output x are the same values.
class VectorPlaces {
 public:
  explicit VectorPlaces(const Program& program)
      : rank_(program.rank()), offset_(program.shape().in_place_offset(program.rank())) {}

  Run operator()(const Run& run) const {
    if (run.buffer == Buffer::scratch)
      throw Error(fmt::format("rank {}: cannot reverse a program that uses scratch", rank_));
    return {Buffer::output, run.first + (run.buffer == Buffer::input ? offset_ : 0), run.count};
  }

 private:
  Rank rank_;
  Chunk offset_;
};

// Writes the reversed half of `forward` into `program`, whose vector has `total` chunks, `own_first`..+`own_count` of
// which are reduced to this rank and kept at output chunk 0 (reduce_scatter, reduce) or at their place (allreduce).
class Reversal {
 public:
  Reversal(const Program& forward, ProgramBuilder& program, Chunk total, Run own, Chunk own_target)
      : forward_(forward),
        program_(program),
        in_vector_(forward),
        total_(total),
        own_(own),
        own_target_(own_target),
        arrivals_(static_cast<std::size_t>(total), 0) {}

  void run(Step steps) {
    if (own_.count > 0)
      program_.step(0).copy({{Buffer::input, own_.first, own_.count}}, {{Buffer::output, own_target_, own_.count}});
    for (std::size_t i = forward_.size(); i-- > 0;) {
      const Op op = forward_.op(i);
      if (op.action == Action::copy) continue;
      if (op.action == Action::reduce) throw Error("cannot reverse a program that reduces");
      program_.step(steps - op.step + 1);
      if (op.action == Action::send)
        receive_and_reduce(op);
      else
        send_partial(op);
    }
  }

 private:
  bool is_own(Chunk x) const { return x >= own_.first && x < own_.first + own_.count; }

  // The end of the chunks from `first` on, before `stop`, for which `holds` is true.
  template <class Holds>
  Chunk stretch_end(Chunk first, Chunk stop, const Holds& holds) const {
    const int* const arrivals = arrivals_.data();
    while (++first < stop && holds(arrivals[first])) {
    }
    return first;
  }
  void mark(Chunk first, Chunk end, int arrivals) {
    std::fill(arrivals_.begin() + first, arrivals_.begin() + end, arrivals);
  }

  void send_partial(const Op& op) {
    Runs& source = moved_;
    source.clear();
    const auto refuse = [&](Chunk c) {
      throw Error(fmt::format("rank {}: cannot reverse a program that receives chunk {} twice, or its own",
                              forward_.rank(), c));
    };
    for (const Run& target : op.target) {
      const Run x = in_vector_(target);
      const Chunk stop = x.first + x.count, own = std::max(x.first, own_.first);
      if (own < std::min(stop, own_.first + own_.count)) refuse(own);
      for (Chunk first = x.first, end = first; first < stop; first = end) {
        const int before = arrivals_[static_cast<std::size_t>(first)];
        if (before < 0) refuse(first);
        end = before > 0 ? stretch_end(first, stop, [](int arrivals) { return arrivals > 0; })
                         : stretch_end(first, stop, [](int arrivals) { return arrivals == 0; });
        source.push_back({before > 0 ? Buffer::scratch : Buffer::input, first, end - first});
        mark(first, end, -1);
      }
    }
    program_.send(source, op.peer, op.lane);
  }

  void receive_and_reduce(const Op& op) {
    std::vector<Part>& parts = parts_;
    Runs& arriving = moved_;
    parts.clear();
    arriving.clear();
    for (const Run& sent : op.source) {
      const Run x = in_vector_(sent);
      const Chunk stop = x.first + x.count;
      for (Chunk first = x.first, end = first; first < stop; first = end) {
        const int before = arrivals_[static_cast<std::size_t>(first)];
        if (before < 0)
          throw Error(fmt::format("rank {}: chunk {} is sent before it has arrived", forward_.rank(), first));
        const bool own = is_own(first), fresh = before == 0 && !own;
        const Chunk border = own ? own_.first + own_.count : first < own_.first ? own_.first : stop;
        end = stretch_end(first, std::min(stop, border), [&](int arrivals) { return arrivals == before; });
        const Chunk slot = before == 0 ? first : first + total_ * (1 + before % 2);
        parts.push_back({first, end - first, slot, fresh, own});
        arriving.push_back({Buffer::scratch, slot, end - first});
        mark(first, end, before + 1);
      }
    }
    program_.recv(arriving, op.peer, op.lane);

    // One op for each kind of place, however scattered the chunks are.
    auto& [into_own, into_fresh, into_partial] = reductions_;
    for (Reduction& reduction : reductions_) reduction.source.clear(), reduction.target.clear();
    for (const Part& part : parts) {
      const Run arrived{Buffer::scratch, part.slot, part.count};
      if (part.own) {
        into_own.source.push_back(arrived);
        into_own.target.push_back({Buffer::output, own_target_ + part.first - own_.first, part.count});
      } else if (part.fresh) {
        into_fresh.source.push_back({Buffer::input, part.first, part.count});
        into_fresh.target.push_back(arrived);
      } else {
        into_partial.source.push_back(arrived);
        into_partial.target.push_back({Buffer::scratch, part.first, part.count});
      }
    }
    for (const Reduction& reduction : reductions_) program_.reduce(reduction.source, reduction.target);
  }

  struct Part {
    Chunk first, count, slot;
    bool fresh, own;
  };
  struct Reduction {
    Runs source, target;
  };

  const Program& forward_;
  ProgramBuilder& program_;
  const VectorPlaces in_vector_;
  const Chunk total_;
  const Run own_;
  const Chunk own_target_;
  std::vector<int> arrivals_;  // [vector chunk] contributions received; -1 once the partial result has been sent
  // Of the op at hand.
  std::vector<Part> parts_;
  Runs moved_;
  std::array<Reduction, 3> reductions_;
};

/// Runs of a vector whose chunks are moved to other places, in the order of those.
class Relabelling {
 public:
  explicit Relabelling(std::span<const Chunk> place) : place_(place), at_(place.size()) {}

  Runs operator()(std::span<const Run> runs) {
    const auto total = static_cast<Chunk>(place_.size());
    moved_.clear();
    for (const Run& run : runs) {
      for (Chunk c = run.first, x = run.first % total; c < run.first + run.count; ++c, x = x + 1 < total ? x + 1 : 0)
        moved_.push_back({place_[static_cast<std::size_t>(x)], run.buffer, c - x});
    }
    Runs sorted;
    const auto append = [&](const Moved& chunk) {
      const Chunk first = chunk.bank + chunk.place;
      if (!sorted.empty() && sorted.back().buffer == chunk.buffer && sorted.back().first + sorted.back().count == first)
        ++sorted.back().count;
      else
        sorted.push_back({chunk.buffer, first, 1});
    };
    if (moved_.size() * 16 < place_.size()) {
      std::ranges::sort(moved_, {}, &Moved::place);
      std::ranges::for_each(moved_, append);
      return sorted;
    }
    for (std::uint32_t i = 0; i < moved_.size(); ++i) at_[static_cast<std::size_t>(moved_[i].place)] = i + 1;
    for (std::uint32_t& number : at_) {
      if (number > 0) append(moved_[number - 1]);
      number = 0;
    }
    return sorted;
  }

 private:
  struct Moved {
    Chunk place;
    Buffer buffer;
    Chunk bank;  // first slot of the vector that the chunk lies in
  };
  std::span<const Chunk> place_;
  std::vector<Moved> moved_;
  std::vector<std::uint32_t> at_;  // [place] number of the chunk, and one; 0 between calls
};

void require(const Program& program, Collective collective) {
  if (program.shape().collective != collective) {
    throw Error(fmt::format("expected a program of {}, not of {}", name(collective), name(program.shape().collective)));
  }
}

/// `own`: chunks of the vector that are reduced to this rank, and spread from it.
Program both_halves(const Program& backward, const Program& forward, const Run& own, Step steps) {
  const Shape from = forward.shape();
  const Rank rank = forward.rank();
  if (backward.shape() != from || backward.rank() != rank)
    throw Error(
        fmt::format("rank {}: both halves of an allreduce must have its shape; one is of rank {}, {} ranks and "
                    "{} chunks, the other of {} ranks and {} chunks",
                    rank, backward.rank(), backward.shape().ranks, backward.shape().chunks, from.ranks, from.chunks));
  const Shape shape{Collective::allreduce, from.ranks, from.chunks, 0};
  ProgramBuilder program(shape, rank);
  Reversal(backward, program, from.ranks * from.chunks, own, own.first).run(steps);
  const VectorPlaces in_vector(forward);
  for (std::size_t i = 0; i < forward.size(); ++i) {
    const Op op = forward.op(i);
    if (op.action == Action::copy) continue;
    Runs runs;
    for (const Run& run : op.action == Action::send ? op.source : op.target) runs.push_back(in_vector(run));
    program.step(steps + op.step);
    if (op.action == Action::send)
      program.send(runs, op.peer, op.lane);
    else
      program.recv(runs, op.peer, op.lane);
  }
  return std::move(program).build();
}

}  // namespace

Program reduce_scatter_from(const Program& allgather, Step steps) {
  require(allgather, Collective::allgather);
  const Shape from = allgather.shape();
  const Shape shape{Collective::reduce_scatter, from.ranks, from.chunks, 0};
  ProgramBuilder program(shape, allgather.rank());
  const Run own{Buffer::output, allgather.rank() * from.chunks, from.chunks};
  Reversal(allgather, program, from.ranks * from.chunks, own, 0).run(steps);
  return std::move(program).build();
}

Program allreduce_from(const Program& allgather, Step steps) { return allreduce_from(allgather, allgather, steps); }

Program allreduce_from(const Program& backward, const Program& forward, Step steps) {
  require(backward, Collective::allgather);
  require(forward, Collective::allgather);
  const Chunk chunks = forward.shape().chunks;
  return both_halves(backward, forward, {Buffer::output, forward.rank() * chunks, chunks}, steps);
}

Program allreduce_from(const Program& backward, const Program& forward, const Run& own, Step steps) {
  require(backward, Collective::allreduce);
  require(forward, Collective::allreduce);
  return both_halves(backward, forward, own, steps);
}

Program relabelled(const Program& allreduce, std::span<const Chunk> place) {
  require(allreduce, Collective::allreduce);
  const Chunk total = allreduce.shape().ranks * allreduce.shape().chunks;
  if (place.size() != static_cast<std::size_t>(total)) {
    throw Error(fmt::format("{} places given for a vector of {} chunks", place.size(), total));
  }
  Relabelling moved(place);
  ProgramBuilder program(allreduce.shape(), allreduce.rank());
  for (std::size_t i = 0; i < allreduce.size(); ++i) {
    const Op op = allreduce.op(i);
    Runs source = moved(op.source), target = moved(op.target);
    // A value keeps its place in all buffers, so both are sorted alike.
    program.add(op, source, target);
  }
  return std::move(program).build();
}

Program reduce_from(const Program& bcast, Step steps) {
  require(bcast, Collective::bcast);
  const Shape from = bcast.shape();
  const Shape shape{Collective::reduce, from.ranks, from.chunks, from.root};
  ProgramBuilder program(shape, bcast.rank());
  const Run own{Buffer::output, 0, bcast.rank() == from.root ? from.chunks : 0};
  Reversal(bcast, program, from.chunks, own, 0).run(steps);
  return std::move(program).build();
}

Program gather_from(const Program& scatter, Step steps) {
  require(scatter, Collective::scatter);
  const Shape from = scatter.shape();
  ProgramBuilder program({Collective::gather, from.ranks, from.chunks, from.root}, scatter.rank());
  const auto turned = [](std::span<const Run> runs) {
    Runs result(runs.begin(), runs.end());
    for (Run& run : result)
      run.buffer = run.buffer == Buffer::input    ? Buffer::output
                   : run.buffer == Buffer::output ? Buffer::input
                                                  : Buffer::scratch;
    return result;
  };
  for (std::size_t i = scatter.size(); i-- > 0;) {
    const Op op = scatter.op(i);
    program.step(op.step == 0 ? steps : steps + 1 - op.step);
    if (op.action == Action::send)
      program.recv(turned(op.source), op.peer, op.lane);
    else if (op.action == Action::recv)
      program.send(turned(op.target), op.peer, op.lane);
    else
      program.copy(turned(op.target), turned(op.source));
  }
  return std::move(program).build();
}

Program bcast_from(const Program& allgather, Rank root) {
  require(allgather, Collective::allgather);
  const Shape from = allgather.shape();
  const Rank rank = allgather.rank();
  const Shape shape{Collective::bcast, from.ranks, from.chunks, root};
  ProgramBuilder program(shape, rank);
  const VectorPlaces in_vector(allgather);
  const Chunk first = root * from.chunks, end = first + from.chunks;
  for (std::size_t i = 0; i < allgather.size(); ++i) {
    const Op op = allgather.op(i);
    if (op.action == Action::copy) continue;
    Runs runs;
    for (const Run& run : op.action == Action::send ? op.source : op.target) {
      const Run x = in_vector(run);
      const Chunk begin = std::max(x.first, first), stop = std::min(x.first + x.count, end);
      if (begin < stop) runs.push_back({rank == root ? Buffer::input : Buffer::output, begin - first, stop - begin});
    }
    program.step(op.step);
    if (op.action == Action::send)
      program.send(runs, op.peer, op.lane);
    else
      program.recv(runs, op.peer, op.lane);
  }
  return std::move(program).build();
}

Program from_allgathers(Collective collective, Rank root, const Program* forwards, const Program* backwards,
                        Step steps) {
  const CollectiveRow& row = colltopo::row(collective);
  if (row.combines && row.spreads) return allreduce_from(*backwards, *forwards, steps);
  if (row.combines)
    return row.rooted() ? reduce_from(bcast_from(*backwards, root), steps) : reduce_scatter_from(*backwards, steps);
  if (row.spreads) return row.rooted() ? bcast_from(*forwards, root) : *forwards;
  throw Error(fmt::format("an allgather does not make {}; expected a collective that spreads or combines", row.name));
}

}  // namespace colltopo
