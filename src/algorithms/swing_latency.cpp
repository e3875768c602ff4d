// Swing, latency-optimal (De Sensi et al. 2024, 3.1.2 and 4): an allreduce that exchanges and reduces the whole vector
// in every step; each port does so with its own part of the vector.
//
// What two ranks exchange must have no contribution in common, which holds only when all sides are powers of two. Other
// sides fold first (2.3.2): the odd coordinates of neighbour pairs give their vector to the even ones, dimension by
// dimension, and get the result last; in between Swing runs on the places that are left. Two steps per such dimension.
//
// Operands are taken in the order of coordinates as the port sees them. That gives the same expression on every rank as
// long as no side has more than four places; from eight places on it cannot, because the sets of ranks that have been
// reduced overlap without being equal: where equal bits are asked for, use the bandwidth-optimal version.

#include <algorithm>

#include "algorithms/table.h"
#include "algorithms/torus.h"

namespace colltopo {

namespace {

constexpr Chunk k_banks = 3;  // of scratch: what arrives next need not wait for the reduction of what arrived before

// A message in each direction, or in one.
struct Meeting {
  Step step = 1;
  Rank peer = 0;
  bool sends = false, receives = false;
  bool peer_first = false;  // what arrives is the left operand
};

// What a rank does for one port, in order of steps.
struct Course {
  std::vector<Meeting> reducing;   // what arrives is reduced
  std::vector<Meeting> spreading;  // what moves is the result
};

// Swing among the ranks that are folded in no dimension, seen from `rank`, for a plain or mirrored port.
Course course_of(const Torus& torus, Rank rank, int first, bool is_mirrored) {
  const int dimensions = torus.dimensions();
  const auto seen = [&](int d, Rank coordinate) {
    return is_mirrored ? mirror(torus.side(d), coordinate) : coordinate;
  };
  const auto peer_at = [&](int d, Rank coordinate) { return torus.moved(rank, d, seen(d, coordinate)); };

  std::vector<int> folding, doublings;
  for (int i = 0; i < dimensions; ++i) {
    if (Fold(torus.side((first + i) % dimensions)).pairs() > 0) folding.push_back((first + i) % dimensions);
  }
  for (int d = 0; d < dimensions; ++d) doublings.push_back(log2_ceiling(Fold(torus.side(d)).places()));
  const std::vector<Turn> turns = alternating_turns(doublings, first);
  const auto folds = static_cast<Step>(folding.size());
  const Step last = 2 * folds + static_cast<Step>(turns.size());

  Course course;
  bool folded = false;
  for (Step step = 1; step <= folds && !folded; ++step) {
    const int d = folding[static_cast<std::size_t>(step - 1)];
    const Fold fold(torus.side(d));
    const Rank coordinate = seen(d, torus.coordinate(rank, d));
    if (!fold.paired(coordinate)) continue;
    folded = fold.folded(coordinate);
    const Rank peer = peer_at(d, fold.partner(coordinate));
    course.reducing.push_back({step, peer, folded, !folded, false});
    course.spreading.push_back({last + 1 - step, peer, !folded, folded, false});
  }
  std::reverse(course.spreading.begin(), course.spreading.end());
  if (folded) return course;
  for (const Turn& turn : turns) {
    const int d = turn.dimension;
    const Fold fold(torus.side(d));
    const Rank place = fold.place_of(seen(d, torus.coordinate(rank, d)));
    const Rank peer = swing_peer(fold.places(), place, turn.ring_step);
    course.reducing.push_back({folds + turn.step, peer_at(d, fold.coordinate_at(peer)), true, true, peer < place});
  }
  return course;
}

// Reduces what arrives into a value that moves between input, scratch and output, so that operands are in rank order
// and nothing is copied in vain.
class Accumulator {
 public:
  Accumulator(ProgramBuilder& program, Course course, Lane lane, Chunk first, Chunk count)
      : program_(program), course_(std::move(course)), lane_(lane), first_(first), count_(count) {
    for (std::size_t i = 0; i < course_.reducing.size(); ++i) {
      if (course_.reducing[i].receives && !course_.reducing[i].peer_first) last_moving_ = i;
      ends_here_ = ends_here_ && course_.reducing[i].receives;
    }
    if (ends_here_ && last_moving_ == k_never) move_to({Buffer::output, first_, count_});
  }

  void take(Step step) {
    program_.step(step);
    if (next_ < course_.reducing.size() && course_.reducing[next_].step == step) reduce(course_.reducing[next_++]);
    // The result must be where the user wants it before it is passed on; nobody waits for the copy otherwise.
    if (next_ == course_.reducing.size() && ends_here_ && at_.buffer != Buffer::output) {
      move_to({Buffer::output, first_, count_});
    }
    while (spread_ < course_.spreading.size() && course_.spreading[spread_].step == step) {
      const Meeting& meeting = course_.spreading[spread_++];
      const Run result{Buffer::output, first_, count_};
      if (meeting.sends)
        program_.send({result}, meeting.peer, lane_);
      else
        program_.recv({result}, meeting.peer, lane_);
    }
  }

  Step last_step() const {
    const Step reducing = course_.reducing.empty() ? 0 : course_.reducing.back().step;
    return course_.spreading.empty() ? reducing : std::max(reducing, course_.spreading.back().step);
  }

 private:
  static constexpr std::size_t k_never = ~std::size_t{0};

  void reduce(const Meeting& meeting) {
    if (meeting.sends) program_.send({at_}, meeting.peer, lane_);
    if (!meeting.receives) return;
    const bool moving_last = next_ - 1 == last_moving_ && ends_here_ && at_.buffer == Buffer::scratch;
    const Run arrived = moving_last ? Run{Buffer::output, first_, count_} : free_bank();
    program_.recv({arrived}, meeting.peer, lane_);
    if (!meeting.peer_first) {
      program_.reduce({at_}, {arrived});
      at_ = arrived;
    } else {
      if (at_.buffer == Buffer::input) move_to(free_bank());
      program_.reduce({arrived}, {at_});
    }
  }

  void move_to(const Run& place) {
    program_.copy({at_}, {place});
    at_ = place;
  }

  Run free_bank() {
    const Chunk vector = program_.shape().ranks * program_.shape().chunks;
    Run bank;
    do {
      bank = {Buffer::scratch, bank_ * vector + first_, count_};
      bank_ = (bank_ + 1) % k_banks;
    } while (bank == at_);
    return bank;
  }

  ProgramBuilder& program_;
  Course course_;
  Lane lane_;
  Chunk first_, count_;
  Run at_{Buffer::input, first_, count_};
  Chunk bank_ = 0;
  std::size_t next_ = 0, spread_ = 0;
  std::size_t last_moving_ = k_never;  // the last reduction whose result is where the other operand arrived
  bool ends_here_ = true;              // the rank is not folded: its own value becomes the result
};

Program swing_latency(const Shape& shape, Rank rank, const AlgorithmOptions& options) {
  const Torus torus(shape, options);
  ProgramBuilder program(shape, rank);
  std::vector<Accumulator> ports;
  Step last = 0;
  for (Lane lane = 0; lane < shape.chunks; ++lane) {
    const int dimensions = std::max(1, torus.dimensions());
    Course course = course_of(torus, rank, lane % dimensions, lane >= dimensions);
    ports.emplace_back(program, std::move(course), lane, lane * shape.ranks, shape.ranks);
    last = std::max(last, ports.back().last_step());
  }
  for (Step step = 1; step <= last; ++step) {
    for (Accumulator& port : ports) port.take(step);
  }
  return std::move(program).build();
}

Step swing_latency_steps(const Shape& shape, const AlgorithmOptions& options) {
  const Torus torus(shape, options);
  Step steps = 0;
  for (int d = 0; d < torus.dimensions(); ++d) steps += Fold(torus.side(d)).steps();
  return steps;
}

Properties properties_of(const Shape& shape, const AlgorithmOptions& options) {
  const Torus torus(shape, options);
  const int dimensions = torus.dimensions();
  bool few_places = true;
  for (int d = 0; d < dimensions; ++d) few_places = few_places && Fold(torus.side(d)).places() <= 4;
  const bool mirrors = torus.ports(all_ports(options)) > 1 && shape.ranks > 2;
  return {
      .in_place = true, .keeps_rank_order = few_places && dimensions <= 1 && !mirrors, .same_on_all_ranks = few_places};
}

}  // namespace

Algorithm swing_latency_algorithm() {
  Algorithm row;
  row.name = "swing-latency";
  row.about = "Swing on a torus, latency-optimal; sides that are no powers of two fold (De Sensi et al. 2024)";
  row.collectives = {Collective::allreduce};
  row.options = {multiport_option()};
  row.refusal = torus_refusal;
  row.chunks = chunks_for_ports;
  row.program = swing_latency;
  row.steps = swing_latency_steps;
  row.describe = torus_description;
  row.properties = properties_of;
  row.variants = variants_by_ports;
  return row;
}

}  // namespace colltopo
