// The plan of the 3D transform, run without MPI and without FFTW: every point must arrive where its name says.
#include "fft3d/plan.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <complex>
#include <ostream>
#include <stdexcept>
#include <vector>

#include "fft3d/box_copy.h"

namespace colltopo::fft3d {
namespace {

using Complex = std::complex<double>;
using Array = std::vector<Complex>;

// Which ranks exchange with `rank`, in the order of their blocks.
std::vector<int> peers_of(const Plan& plan, const Exchange& exchange, int rank) {
  const int columns = plan.processes.columns;
  std::vector<int> peers;
  for (int peer = 0; peer < static_cast<int>(exchange.sent.size()); ++peer)
    peers.push_back(exchange.group == Group::row ? rank / columns * columns + peer : peer * columns + rank % columns);
  return peers;
}

// All ranks in one process: pack, hand over, unpack.
void exchange_all(const std::vector<Plan>& plans, const std::vector<Exchange>& exchanges, std::vector<Array>& local) {
  std::vector<Array> packed;
  for (std::size_t rank = 0; rank < plans.size(); ++rank) {
    const Exchange& exchange = exchanges[rank];
    Array& blocks = packed.emplace_back(plans[rank].storage);
    for (const Part& part : exchange.sent)
      copy_box(part.copy, local[rank].data() + part.local, blocks.data() + part.block);
  }
  for (std::size_t rank = 0; rank < plans.size(); ++rank) {
    const Exchange& exchange = exchanges[rank];
    const auto peers = peers_of(plans[rank], exchange, static_cast<int>(rank));
    for (std::size_t from = 0; from < peers.size(); ++from) {
      const auto sender = static_cast<std::size_t>(peers[from]);
      const auto senders_peers = peers_of(plans[sender], exchanges[sender], peers[from]);
      const auto mine = static_cast<std::size_t>(
          std::find(senders_peers.begin(), senders_peers.end(), static_cast<int>(rank)) - senders_peers.begin());
      const Part &sent = exchanges[sender].sent[mine], &received = exchange.received[from];
      ASSERT_EQ(sent.size, received.size);
      copy_box(received.copy, packed[sender].data() + sent.block, local[rank].data() + received.local);
    }
  }
}

Complex name_of(std::size_t x, std::size_t y, std::size_t z) {
  return {static_cast<double>(x * 1000 + y), static_cast<double>(z)};
}

Array field_of(const Plan& plan) {
  Array local(plan.storage, Complex{-1, -1});
  for (std::size_t x = 0; x < plan.extents[0]; ++x)
    for (std::size_t y = 0; y < plan.extents[1]; ++y)
      for (std::size_t z = 0; z < plan.line_length; ++z)
        local[(x * plan.extents[1] + y) * plan.line_length + z] = name_of(plan.first[0] + x, plan.first[1] + y, z);
  return local;
}

struct Size {
  Grid grid;
  Decomposition decomposition;
  Transform transform;
  ProcessGrid processes;
  Exchanging exchanging = Exchanging::alltoall;
};

void PrintTo(const Size& size, std::ostream* out) {
  const Grid& grid = size.grid;
  *out << grid.nx << "x" << grid.ny << "x" << grid.nz
       << (size.decomposition == Decomposition::slab ? " slab" : " pencil")
       << (size.transform == Transform::c2c ? " c2c " : " r2c ") << size.processes.rows << "x" << size.processes.columns
       << (size.exchanging == Exchanging::alltoall ? "" : " alltoallv");
}

class EveryPoint : public testing::TestWithParam<Size> {};

TEST_P(EveryPoint, arrives_where_its_name_says_and_comes_back) {
  const auto& [grid, decomposition, transform, processes, exchanging] = GetParam();
  std::vector<Plan> plans;
  std::vector<Array> local;
  for (int rank = 0; rank < processes.rows * processes.columns; ++rank) {
    plans.push_back(plan_for(grid, transform, decomposition, processes, exchanging, rank));
    local.push_back(field_of(plans.back()));
  }
  const std::vector<Array> before = local;
  const auto exchange_stages = [&](bool forward) {
    const std::size_t stages = plans.front().stages.size();
    for (std::size_t i = 0; i < stages; ++i) {
      const std::size_t at = forward ? i : stages - 1 - i;
      if (plans.front().stages[at].action != Stage::Action::exchange) continue;
      std::vector<Exchange> exchanges;
      for (const Plan& plan : plans)
        exchanges.push_back(forward ? plan.stages[at].exchange : reversed(plan.stages[at].exchange));
      exchange_all(plans, exchanges, local);
    }
  };

  exchange_stages(true);
  for (std::size_t rank = 0; rank < plans.size(); ++rank) {
    const Plan& plan = plans[rank];
    std::size_t i = 0;
    for (std::size_t y = 0; y < plan.spectrum_extents[0]; ++y)
      for (std::size_t z = 0; z < plan.spectrum_extents[1]; ++z)
        for (std::size_t x = 0; x < plan.spectrum_extents[2]; ++x, ++i)
          ASSERT_EQ(local[rank][i],
                    name_of(plan.spectrum_first[2] + x, plan.spectrum_first[0] + y, plan.spectrum_first[1] + z))
              << "rank " << rank << " y " << y << " z " << z << " x " << x;
    EXPECT_LE(i, plan.storage);
  }
  exchange_stages(false);
  for (std::size_t rank = 0; rank < plans.size(); ++rank) {
    const auto points =
        static_cast<std::ptrdiff_t>(plans[rank].extents[0] * plans[rank].extents[1] * plans[rank].line_length);
    EXPECT_TRUE(std::equal(local[rank].begin(), local[rank].begin() + points, before[rank].begin())) << "rank " << rank;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Plans, EveryPoint,
    testing::Values(Size{{6, 6, 5}, Decomposition::slab, Transform::c2c, {3, 1}},
                    Size{{8, 4, 7}, Decomposition::slab, Transform::r2c, {4, 1}},
                    Size{{40, 20, 33}, Decomposition::slab, Transform::c2c, {2, 1}},
                    Size{{6, 12, 8}, Decomposition::pencil, Transform::c2c, {2, 4}},
                    Size{{6, 12, 8}, Decomposition::pencil, Transform::r2c, {3, 2}},
                    Size{{5, 4, 9}, Decomposition::pencil, Transform::r2c, {1, 4}},
                    Size{{4, 4, 3}, Decomposition::pencil, Transform::c2c, {4, 1}},
                    Size{{7, 5, 6}, Decomposition::slab, Transform::c2c, {4, 1}, Exchanging::alltoallv},
                    Size{{16, 16, 16}, Decomposition::slab, Transform::r2c, {5, 1}, Exchanging::alltoallv},
                    Size{{7, 11, 9}, Decomposition::pencil, Transform::c2c, {2, 4}, Exchanging::alltoallv},
                    Size{{9, 10, 7}, Decomposition::pencil, Transform::r2c, {3, 3}, Exchanging::alltoallv}));

TEST(ProcessGrid, is_the_nearest_to_a_square_that_divides) {
  const ProcessGrid eight = process_grid({64, 64, 64}, Decomposition::pencil, 8, {}, Exchanging::alltoall);
  EXPECT_EQ(eight.rows, 2);
  EXPECT_EQ(eight.columns, 4);
  const ProcessGrid odd = process_grid({5, 64, 64}, Decomposition::pencil, 4, {}, Exchanging::alltoall);
  EXPECT_EQ(odd.rows, 1);
  EXPECT_EQ(odd.columns, 4);
}

TEST(ProcessGrid, says_which_side_is_not_divided) {
  try {
    process_grid({64, 30, 64}, Decomposition::slab, 8, {}, Exchanging::alltoall);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "grid 64x30x64: y = 30 points do not divide by 8 ranks");
  }
  EXPECT_EQ(process_grid({7, 7, 7}, Decomposition::pencil, 4, {}, Exchanging::alltoallv).rows, 2);
  EXPECT_THROW(process_grid({7, 3, 7}, Decomposition::slab, 4, {}, Exchanging::alltoallv), std::invalid_argument);
  EXPECT_THROW(process_grid({7, 7, 7}, Decomposition::pencil, 4, {}, Exchanging::alltoall), std::invalid_argument);
  EXPECT_THROW(process_grid({8, 8, 8}, Decomposition::pencil, 4, {3, 2}, Exchanging::alltoall), std::invalid_argument);
}

}  // namespace
}  // namespace colltopo::fft3d
