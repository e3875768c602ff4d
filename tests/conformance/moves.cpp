// Who has what for whom: the definitions of MPI's calls that move data, and of its reductions.
#include "call.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace conformance {

namespace {

/// Not significant, so anything: here what nobody can read.
void leave_out(Arguments& arguments) {
  arguments.buffer = nullptr;
  arguments.counts = {-1};
  arguments.types = {MPI_DATATYPE_NULL};
}

const Basic& doubles() {
  static const Basic k_double = {"MPI_DOUBLE", MPI_DOUBLE, 8, 8};
  return k_double;
}

double inexact_value(std::uint64_t key, int rank, std::size_t i) {
  const std::uint64_t bits = hash_of(key, static_cast<std::uint64_t>(rank), i, 61);
  return std::ldexp(static_cast<double>(bits % (1U << 30)) - (1 << 29), static_cast<int>(bits >> 58) - 32);
}

}  // namespace

void Call::make_moves() {
  const int own = place_->rank, ranks = place_->ranks;
  const bool is_root = own == root_, is_bcast = operation_.kind == Kind::bcast;
  const bool gathers = operation_.kind == Kind::gather || operation_.kind == Kind::gatherv;
  const bool scatters = operation_.kind == Kind::scatter || operation_.kind == Kind::scatterv;
  const bool all_to_all = operation_.kind >= Kind::alltoall && operation_.kind <= Kind::alltoallw;
  if (operation_.kind == Kind::barrier) return;
  std::vector<Flow> out, in;
  for (int peer = 0; peer < ranks; ++peer) {
    // Who gathers gets as much of a rank whoever asks, so what it has for one is what it has for all.
    if (all_to_all) out.push_back(flow(own, peer));
    if (scatters && is_root) out.push_back(flow(root_, peer));
    if (all_to_all) in.push_back(flow(peer, own));
    if ((gathers && is_root) || operation_.kind == Kind::allgather || operation_.kind == Kind::allgatherv) {
      in.push_back(flow(peer, 0));
    }
  }
  if (is_bcast || scatters) in = {flow(root_, is_bcast ? 0 : own)};
  if (!all_to_all && !scatters && !is_bcast) out = {flow(own, 0)};
  const bool in_place = operation_.in_place && (is_root || !row_.rooted);
  const bool receives = !gathers || is_root, sends = !is_bcast && (!scatters || is_root);
  if (sends)
    arrange(send_, out, out.size() == 1 && !all_to_all && !scatters ? KindRow::one : row_.blocks, "send", true);
  if (receives) arrange(receive_, in, is_bcast || scatters ? KindRow::one : row_.blocks, "receive", true);
  const auto layout_of = [](const Arguments& side, std::size_t block) {
    return side.layouts[side.layouts.size() == 1 ? 0 : block];
  };
  const auto own_block = static_cast<std::size_t>(own);
  for (std::size_t i = 0; i < out.size() && sends && !(in_place && !scatters); ++i)
    sent_.before(send_.offsets[i], send_.counts[i], layout_of(send_, i), values_of(out[i]),
                 "what rank " + std::to_string(own) + " has for others");
  for (std::size_t i = 0; i < in.size() && receives && !(in_place && scatters); ++i) {
    const auto layout = layout_of(receive_, i);
    if (in_place && (all_to_all || i == own_block)) {
      received_.before(receive_.offsets[i], receive_.counts[i], layout, values_of(all_to_all ? out[i] : in[i]),
                       in[i].what);
    }
    is_bcast&& is_root ? received_.before(receive_.offsets[i], receive_.counts[i], layout, values_of(in[i]), in[i].what)
                       : received_.after(receive_.offsets[i], receive_.counts[i], layout, values_of(in[i]), in[i].what);
  }
  if (sends) from_memory(sent_, send_, true, 1);
  if (receives) from_memory(received_, receive_, true, 2);
  if (!sends) leave_out(send_);
  if (!receives) leave_out(receive_);
  if (!in_place) return;
  (scatters ? receive_ : send_).buffer = MPI_IN_PLACE;
  // Not significant: ranks may well differ.
  Arguments& ignored = scatters ? receive_ : send_;
  if (!all_to_all && !limits_.leaves("in-place-counts")) ignored.counts = {own % 3};
}

void Call::make_neighbourhood() {
  const bool gathers = operation_.kind == Kind::neighbor_allgather || operation_.kind == Kind::neighbor_allgatherv;
  const int own = place_->rank;
  std::vector<Flow> out, in;
  if (gathers) out.push_back(flow(own, 0));
  for (const Edge& edge : place_->to)
    if (!gathers)
      out.push_back(edge.peer == MPI_PROC_NULL ? flow(own, own, -1 - edge.number) : flow(own, edge.peer, edge.number));
  for (const Edge& edge : place_->from) {
    const bool nobody = edge.peer == MPI_PROC_NULL;
    in.push_back(nobody    ? flow(own, own, -100 - edge.number)
                 : gathers ? flow(edge.peer, 0)
                           : flow(edge.peer, own, edge.number));
  }
  arrange(send_, out, gathers ? KindRow::one : row_.blocks, "send", true);
  arrange(receive_, in, row_.blocks, "receive", true);
  for (std::size_t i = 0; i < out.size(); ++i)
    sent_.before(send_.offsets[i], send_.counts[i], send_.layouts[send_.layouts.size() == 1 ? 0 : i], values_of(out[i]),
                 "what this rank has for others");
  for (std::size_t i = 0; i < in.size(); ++i) {
    const auto& layout = receive_.layouts[receive_.layouts.size() == 1 ? 0 : i];
    place_->from[i].peer == MPI_PROC_NULL
        ? received_.before(receive_.offsets[i], receive_.counts[i], layout, values_of(in[i]), "the block of nobody")
        : received_.after(receive_.offsets[i], receive_.counts[i], layout, values_of(in[i]), in[i].what);
  }
  from_memory(sent_, send_, true, 1);
  from_memory(received_, receive_, true, 2);
}

void Call::make_reduction() {
  const Reducer& reducer = reducers()[static_cast<std::size_t>(operation_.basic)];
  const int own = place_->rank, ranks = place_->ranks;
  const bool scatters = operation_.kind == Kind::reduce_scatter || operation_.kind == Kind::reduce_scatter_block;
  int total = 0, first = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    counts_.push_back(static_cast<int>(units_between(rank, 0)));
    if (rank < own) first += counts_.back();
    total += counts_.back();
  }
  if (!scatters) total = counts_[0];
  const int result = scatters ? counts_[static_cast<std::size_t>(own)] : total;
  Dice dice(hash_of(key_, 51));  // MPI asks for the same datatype on all ranks
  // MPICH 4.0's own writes behind its memory there.
  const bool wrong =
      limits_.leaves("stock-mpich") && operation_.kind == Kind::reduce_scatter_block && !reducer.commutes;
  const bool derived = reducer.function != nullptr && !limits_.leaves("mixed-types") && !wrong;
  const auto draw = [&] {
    return derived ? any_layout(dice, *reducer.basic, operation_.unit, total) : plain_layout(*reducer.basic);
  };
  LayoutOwner layout = draw();
  while (limits_.leaves("shifted-reductions", operation_.form) &&
         (layout->least() != 0 || layout->extent < layout->most()))
    layout = draw();
  if (layout->owned) name_layout(*layout);
  const auto basics_each = layout->places.size();
  about_ += "; " + std::to_string(total) + " x " + layout->about + ", " + reducer.name;
  const bool is_root = own == root_, receives = !row_.rooted || is_root;
  const bool in_place = operation_.in_place && receives;
  const std::string mine = "the contribution of rank " + std::to_string(own);
  (in_place ? received_ : sent_).before(0, total, layout, contribution(reducer, key_, own), mine);
  const bool nothing = operation_.kind == Kind::exscan && own == 0;
  const int over = operation_.kind == Kind::scan ? own + 1 : operation_.kind == Kind::exscan ? own : ranks;
  if (receives && in_place) received_.anything_after(0, total, layout);
  if (receives && nothing) received_.anything_after(0, result, layout);
  if (receives && !nothing) {
    received_.after(0, result, layout,
                    reduced(reducer, key_, over, static_cast<std::size_t>(scatters ? first : 0) * basics_each),
                    "the result");
  }
  send_.counts = {scatters && operation_.kind == Kind::reduce_scatter_block ? result : total};
  send_.types = {layout->type};
  handles_.push_back(layout);
  sent_.lay_out();
  sent_.fill(0);
  received_.lay_out();
  received_.fill(0);
  send_.buffer = in_place ? MPI_IN_PLACE : sent_.origin();
  receive_.buffer = receives ? received_.origin() : nullptr;
  op_ = reducer.op;
  if (reducer.function != nullptr) {
    MPI_Op_create(reducer.function, reducer.commutes ? 1 : 0, &op_);
    owns_op_ = true;
  }
}

/// Sums whose bits depend on the order: near to the sum, and the same on all ranks.
void Call::make_inexact() {
  const LayoutOwner layout = plain_layout(doubles());
  const auto count = static_cast<int>(std::min<std::size_t>(operation_.elements, 20000));
  const auto values = [key = key_, own = place_->rank](std::uint64_t round, std::size_t i, unsigned char* to) {
    const double value = inexact_value(key + round, own, i);
    std::memcpy(to, &value, sizeof value);
  };
  operation_.in_place = false;
  sent_.before(0, count, layout, values, "this rank's numbers");
  received_.anything_after(0, count, layout);
  send_.counts = {count};
  send_.types = {MPI_DOUBLE};
  sent_.lay_out();
  sent_.fill(0);
  received_.lay_out();
  received_.fill(0);
  send_.buffer = sent_.origin();
  receive_.buffer = received_.origin();
  op_ = MPI_SUM;
  about_ += "; " + std::to_string(count) + " x MPI_DOUBLE, MPI_SUM of numbers that are rounded";
}

void Call::compare_bits() {
  const auto* sums = static_cast<const double*>(received_.origin());
  const auto count = static_cast<std::size_t>(send_.counts[0]);
  std::uint64_t bits = hash_of(count);
  for (std::size_t i = 0; i < count; ++i) {
    long double sum = 0, size = 0;
    for (int rank = 0; rank < place_->ranks; ++rank) {
      const double value = inexact_value(key_ + static_cast<std::uint64_t>(round_), rank, i);
      sum += value;
      size += std::fabs(value);
    }
    if (std::fabs(static_cast<double>(sum - sums[i])) > 1e-13 * static_cast<double>(size)) {
      differs(*this, "element " + std::to_string(i) + " is " + std::to_string(sums[i]) + "; expected " +
                         std::to_string(static_cast<double>(sum)));
    }
    std::uint64_t own = 0;
    std::memcpy(&own, &sums[i], sizeof own);
    bits = hash_of(bits, own);
  }
  const int tag = 30000 + operation_.number % 1000;
  if (place_->rank != 0) {
    MPI_Send(&bits, 1, MPI_UINT64_T, 0, tag, place_->comm);
    return;
  }
  for (int rank = 1; rank < place_->ranks; ++rank) {
    std::uint64_t theirs = 0;
    MPI_Recv(&theirs, 1, MPI_UINT64_T, rank, tag, place_->comm, MPI_STATUS_IGNORE);
    if (theirs != bits) differs(*this, "rank " + std::to_string(rank) + " has other bits than rank 0");
  }
}

/// To a few ranks ahead; the receiver may leave open who sends.
void Call::make_messages() {
  const int own = place_->rank, ranks = place_->ranks;
  std::vector<Flow> out, in;
  Dice dice(hash_of(key_, 71));
  const int shifts = dice.between(1, 3);
  for (int shift = 0; shift < shifts; ++shift) {
    const int by = dice.below(ranks);
    send_.starts.push_back((own + by) % ranks);
    receive_.starts.push_back((own + ranks - by) % ranks);
    out.push_back(flow(own, send_.starts.back(), shift));
    in.push_back(flow(receive_.starts.back(), own, shift));
  }
  const std::vector<int> to = send_.starts, from = receive_.starts;
  arrange(send_, out, KindRow::each, "send", true);
  arrange(receive_, in, KindRow::each, "receive", true);
  send_.starts = to;
  receive_.starts = from;
  for (std::size_t i = 0; i < out.size(); ++i) {
    sent_.before(send_.offsets[i], send_.counts[i], send_.layouts[i], values_of(out[i]), "a message");
    received_.after(receive_.offsets[i], receive_.counts[i], receive_.layouts[i], values_of(in[i]), in[i].what);
  }
  from_memory(sent_, send_, false, 1);
  from_memory(received_, receive_, false, 2);
}

}  // namespace conformance
