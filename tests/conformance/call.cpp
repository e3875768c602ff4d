// What all calls have in common: blocks laid out in buffers, starts, and looks at every byte.
#include "call.h"

#include <algorithm>

namespace conformance {

namespace {

std::string name_in_mpi(const Operation& operation) {
  std::string name = row_of(operation.kind).name;
  if (operation.kind == Kind::messages) return "MPI_Isend and MPI_Irecv";
  if (operation.form == Form::nonblocking) return "MPI_I" + name;
  name[0] = static_cast<char>(name[0] - 'a' + 'A');
  return "MPI_" + name + (operation.form == Form::persistent ? "_init" : "");
}

int divisor_of(Dice& dice, int unit) {
  std::vector<int> all;
  for (int i = 1; i <= unit; ++i)
    if (unit % i == 0) all.push_back(i);
  return dice.one_of(all);
}

}  // namespace

Call::Call(const Operation& operation, std::shared_ptr<Place> place, const Limits& limits)
    : operation_(operation),
      place_(std::move(place)),
      limits_(limits),
      row_(row_of(operation.kind)),
      key_(hash_of(operation.key, place_->key)),
      about_(name_in_mpi(operation)),
      root_(row_.rooted ? static_cast<int>(operation.key / 32 % static_cast<unsigned>(place_->ranks)) : 0),
      sent_("send buffer", hash_of(key_, static_cast<std::uint64_t>(place_->rank), 11)),
      received_("receive buffer", hash_of(key_, static_cast<std::uint64_t>(place_->rank), 12)) {
  about_ += " on " + place_->about + " (" + std::to_string(place_->ranks) + " ranks)";
  if (row_.rooted) about_ += ", root " + std::to_string(root_);
  if (operation_.in_place) about_ += ", in place";
  if (operation_.early_free) about_ += ", handles freed early";
  if (operation_.kind == Kind::messages) {
    make_messages();
  } else if (row_.neighbourhood) {
    make_neighbourhood();
  } else if (row_.reduces) {
    operation_.inexact ? make_inexact() : make_reduction();
  } else {
    make_moves();
  }
}

Call::~Call() { free_handles(); }

void Call::free_handles() {
  for (const LayoutOwner& layout : handles_) layout->free_type();
  handles_.clear();
  if (owns_op_) MPI_Op_free(&op_);
  owns_op_ = false;
}

/// Of blocks with sizes of their own a quarter has no data.
std::size_t Call::units_between(int from, int to, int number) const {
  if (row_.blocks == KindRow::one || row_.blocks == KindRow::even || operation_.kind == Kind::messages) {
    return operation_.elements;
  }
  if (operation_.in_place && from > to) std::swap(from, to);  // both ways as much
  const std::uint64_t thrown = hash_of(key_, static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to),
                                       static_cast<std::uint64_t>(number), 21);
  return thrown % 4 == 0 ? 0 : thrown / 4 % (2 * operation_.elements + 1);
}

Call::Flow Call::flow(int from, int to, int number) const {
  return {hash_of(key_, static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to),
                  static_cast<std::uint64_t>(number), 22),
          units_between(from, to, number), "the block of rank " + std::to_string(from)};
}

Values Call::values_of(const Flow& flow) const {
  return bytes_of(flow.key, basics()[static_cast<std::size_t>(operation_.basic)]);
}

/// Datatypes and counts of a side's blocks; the datatypes are this rank's own choice.
void Call::arrange(Arguments& side, const std::vector<Flow>& flows, KindRow::Blocks blocks, const char* name,
                   bool several) {
  Dice dice(hash_of(key_, static_cast<std::uint64_t>(place_->rank), hash_of_name(name), 31));
  side.counts.clear();
  side.types.clear();
  place_blocks(side, flows, blocks, dice, several);
  for (const LayoutOwner& layout : side.layouts) {
    side.types.push_back(layout->type);
    handles_.push_back(layout);
  }
  // Of no blocks the arrays have addresses all the same.
  if (side.counts.empty() && limits_.leaves("edgeless-zero")) {
    side.layouts.clear();
    side.types.clear();
    side.counts = {static_cast<int>(operation_.elements) * operation_.unit};
  }
  if (side.counts.empty()) side.counts.push_back(0);
  if (side.starts.empty()) side.starts.push_back(0);
  if (side.far.empty()) side.far.push_back(0);
  if (side.types.empty()) side.types.push_back(basics()[static_cast<std::size_t>(operation_.basic)].type);
  describe(side, name);
}

void Call::place_blocks(Arguments& side, const std::vector<Flow>& flows, KindRow::Blocks blocks, Dice& dice,
                        bool several) {
  const Basic& basic = basics()[static_cast<std::size_t>(operation_.basic)];
  const bool mixed = !limits_.leaves("mixed-types") && !limits_.leaves(std::string("mixed-") + row_.name);
  const bool nothing = std::all_of(flows.begin(), flows.end(), [](const Flow& flow) { return flow.units == 0; });
  const bool may_be_empty = mixed && !limits_.leaves("empty-types", operation_.form);
  const bool empty = nothing && may_be_empty && several && dice.one_in(2);
  const int per_element = mixed ? divisor_of(dice, operation_.unit) : 1;
  const auto count_of = [&](const Flow& flow, int divisor) {
    return static_cast<int>(flow.units) * (operation_.unit / divisor);
  };
  const auto layout_for = [&](int divisor, int elements) {
    return mixed ? any_layout(dice, basic, divisor, elements) : plain_layout(basic);
  };
  if (blocks == KindRow::each) {
    std::ptrdiff_t at = 0;
    for (const Flow& flow : flows) {
      const int divisor = mixed ? divisor_of(dice, operation_.unit) : 1, count = count_of(flow, divisor);
      const bool none = count == 0 && may_be_empty && dice.one_in(3);
      LayoutOwner layout = none ? empty_layout(dice, basic) : layout_for(divisor, count);
      const std::ptrdiff_t span = none ? 0 : std::max(count - 1, 0) * layout->extent + layout->most();
      const std::ptrdiff_t before = none ? 0 : std::max<std::ptrdiff_t>(-layout->least(), 0);
      at += (before + 15) / 16 * 16;
      side.counts.push_back(none ? dice.between(1, 3) : count);
      side.offsets.push_back(at);
      side.layouts.push_back(std::move(layout));
      at += (span + 15) / 16 * 16 + 16 * dice.below(2);
    }
  } else {
    int elements = 0;  // of the buffer, gaps too
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < flows.size(); ++i) order.push_back(i);
    side.starts.resize(flows.size());
    side.counts.resize(flows.size());
    if (blocks == KindRow::uneven) dice.shuffle(order);
    for (const std::size_t i : order) {
      side.counts[i] = empty ? (blocks == KindRow::uneven ? dice.below(3) : 2) : count_of(flows[i], per_element);
      side.starts[i] = elements;
      elements += side.counts[i] + (blocks == KindRow::uneven ? dice.below(3) : 0);
    }
    side.layouts.push_back(empty ? empty_layout(dice, basic) : layout_for(per_element, elements));
    for (const int start : side.starts) side.offsets.push_back(start * side.layouts[0]->extent);
  }
  for (const std::ptrdiff_t offset : side.offsets) {
    side.bytes.push_back(static_cast<int>(offset));
    side.far.push_back(offset);
  }
}

void Call::describe(const Arguments& side, const char* name) {
  about_ += std::string("; ") + name + " " + std::to_string(side.counts[0]);
  const std::size_t shown = std::min<std::size_t>(side.counts.size(), 6);
  const bool same =
      std::all_of(side.counts.begin(), side.counts.end(), [&](int count) { return count == side.counts[0]; });
  for (std::size_t i = 1; i < shown && !same; ++i) about_ += "," + std::to_string(side.counts[i]);
  if (shown < side.counts.size() && !same) about_ += ",...";
  if (!side.layouts.empty()) about_ += " x " + side.layouts[0]->about;
}

/// The arguments once the memory is there: its address, or addresses in the datatypes.
void Call::from_memory(Side& side, Arguments& arguments, bool may_be_bottom, std::uint64_t salt) {
  side.lay_out();
  side.fill(0);
  arguments.buffer = side.origin();
  Dice dice(hash_of(key_, static_cast<std::uint64_t>(place_->rank), salt, 41));
  const bool empty = std::any_of(arguments.layouts.begin(), arguments.layouts.end(),
                                 [](const LayoutOwner& layout) { return layout->places.empty(); });
  if (!may_be_bottom || empty || arguments.layouts.empty() || limits_.leaves("bottom") || !dice.one_in(6)) return;
  for (std::size_t i = 0; i < arguments.layouts.size(); ++i) {
    const LayoutOwner from = from_bottom(*arguments.layouts[i], side.origin());
    arguments.types[i] = from->type;
    handles_.push_back(from);
  }
  arguments.buffer = MPI_BOTTOM;
  about_ += salt == 1 ? "; sends from MPI_BOTTOM" : "; receives from MPI_BOTTOM";
}

void Call::start() {
  const bool again = round_ > 0;
  if (again) {
    sent_.fill(static_cast<std::uint64_t>(round_));
    received_.fill(static_cast<std::uint64_t>(round_));
  }
  const bool before = operation_.early_free && operation_.key / 8 % 2 == 0;
  if (!again) {
    if (operation_.form != Form::blocking && operation_.kind != Kind::messages) requests_.assign(1, MPI_REQUEST_NULL);
    must(operation_.kind == Kind::messages ? exchange_messages()
         : row_.neighbourhood              ? invoke_neighbourhood()
         : row_.reduces                    ? invoke_reduction()
                                           : invoke(),
         *this, "the call");
    if (before || (operation_.early_free && operation_.form == Form::nonblocking)) free_handles();
  }
  if (operation_.form == Form::persistent) {
    must(MPI_Start(requests_.data()), *this, "MPI_Start");
    if (operation_.early_free) free_handles();
  }
}

bool Call::check() {
  for (const Side* side : {&received_, &sent_}) {
    const auto wrong = side->wrong(static_cast<std::uint64_t>(round_));
    if (wrong) differs(*this, *wrong + (round_ > 0 ? ", in start " + std::to_string(round_ + 1) : ""));
  }
  if (operation_.inexact) compare_bits();
  if (++round_ < operation_.rounds) return true;
  if (operation_.form == Form::persistent) must(MPI_Request_free(requests_.data()), *this, "MPI_Request_free");
  return false;
}

}  // namespace conformance
