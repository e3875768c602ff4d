// What De Sensi et al. 2024 say about steps, bytes, distances, ports and links, counted on the schedules themselves.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "swing_tori.h"

namespace colltopo {
namespace {

// delta(s), 3.1.1
Rank delta(int s) { return static_cast<Rank>(((std::int64_t{2} << s) + (s % 2 == 0 ? 1 : -1)) / 3); }

Rank distance(const TorusMessage& message) { return std::min(message.forward, message.side - message.forward); }

int log2_of(Rank ranks) { return static_cast<int>(std::lround(std::ceil(std::log2(ranks)))); }

TEST(SwingSteps, are_log2_p_with_half_as_much_in_each) {
  for (const Sides& sides : std::vector<Sides>{{2}, {8}, {64}, {4, 4}, {8, 2}, {2, 16}, {4, 4, 4}, {2, 2, 2, 2, 2}}) {
    const Schedule schedule = on_torus("swing", Collective::reduce_scatter, sides);
    SCOPED_TRACE(schedule.name);
    const Rank p = ranks_of(sides);
    EXPECT_EQ(schedule.steps(), log2_of(p));
    EXPECT_EQ(on_torus("swing", Collective::allgather, sides).steps(), log2_of(p));
    EXPECT_EQ(on_torus("swing", Collective::allreduce, sides).steps(), 2 * log2_of(p));
    EXPECT_EQ(on_torus("swing-latency", Collective::allreduce, sides).steps(), log2_of(p));
    std::map<std::tuple<Rank, Lane, Step>, int> sent;
    for (const TorusMessage& message : messages_on(sides, schedule)) {
      EXPECT_EQ(message.chunks, p >> message.step);
      ++sent[{message.source, message.lane, message.step}];
    }
    for (const auto& [place, messages] : sent) EXPECT_EQ(messages, 1);
    EXPECT_EQ(sent.size(), static_cast<std::size_t>(p * schedule.shape.chunks * log2_of(p)));
  }
}

TEST(SwingBytes, are_p_minus_1_shards_per_rank_on_any_torus) {
  for (const char* name : {"swing", "bucket", "hamiltonian"}) {
    for (const Sides& sides : all_tori()) {
      if (!refusal_on(name, sides).empty()) continue;
      const Schedule gather = on_torus(name, Collective::allgather, sides);
      std::vector<Chunk> sent(gather.programs.size()), received(gather.programs.size());
      for (const TorusMessage& message : messages_on(sides, gather)) {
        sent[static_cast<std::size_t>(message.source)] += message.chunks;
        received[static_cast<std::size_t>(message.target)] += message.chunks;
      }
      const Chunk foreign = (ranks_of(sides) - 1) * gather.shape.chunks;
      for (const Chunk chunks : received) EXPECT_EQ(chunks, foreign) << gather.name;
      // Off powers of two some ranks hand on more blocks than others; powers of two share alike.
      const bool powers = std::ranges::all_of(sides, [](int side) { return (side & (side - 1)) == 0; });
      if (std::string(name) == "swing" && !powers) continue;
      for (const Chunk chunks : sent) EXPECT_EQ(chunks, foreign) << gather.name;
    }
  }
}

TEST(SwingDistances, are_the_papers) {
  for (const Sides& sides : std::vector<Sides>{{16}, {128}, {8, 8}, {4, 4, 4}, {16, 16}}) {
    const int dimensions = static_cast<int>(sides.size());
    const auto messages = messages_on(sides, on_torus("swing", Collective::reduce_scatter, sides));
    ASSERT_FALSE(messages.empty());
    for (const TorusMessage& message : messages) {
      const int s = message.step - 1;
      EXPECT_EQ(message.dimension, (s + message.lane) % dimensions) << to_string(sides);
      EXPECT_EQ(distance(message), delta(s / dimensions)) << to_string(sides);
    }
  }
}

TEST(SwingDistances, swing_as_in_figure_1) {
  const std::vector<Rank> expected = {1, 15, 3, 11};  // of rank 0 among 16: 1 up, 1 down, 3 up, 5 down
  std::vector<Rank> peers;
  for (const auto& m : messages_on({16}, on_torus("swing", Collective::reduce_scatter, {16}, false).programs[0])) {
    peers.push_back(m.target);
  }
  EXPECT_EQ(peers, expected);
}

TEST(SwingSteps, on_even_rings_are_the_logarithm_rounded_up) {
  for (Rank p = 6; p <= 200; p += 2) {
    const Schedule gather = on_torus("swing", Collective::allgather, {p}, false);
    EXPECT_EQ(gather.steps(), log2_of(p));
    for (const Program& program : gather.programs) {
      EXPECT_LE(messages_on({p}, program).size(), static_cast<std::size_t>(log2_of(p)));
    }
  }
}

TEST(SwingSteps, on_a_ring_of_seven_are_those_of_figure_3) {
  const Schedule scatter = on_torus("swing", Collective::reduce_scatter, {7}, false);
  std::vector<std::vector<Rank>> met(3);
  for (const TorusMessage& message : messages_on({7}, scatter.programs[6])) {
    EXPECT_EQ(message.chunks, 1);
    met[static_cast<std::size_t>(message.step - 1)].push_back(message.target);
  }
  for (auto& peers : met) std::sort(peers.begin(), peers.end());
  EXPECT_EQ(met, (std::vector<std::vector<Rank>>{{0, 1, 2}, {3, 4}, {5}}));
  for (Rank rank = 0; rank < 6; ++rank) {
    EXPECT_EQ(messages_on({7}, scatter.programs[static_cast<std::size_t>(rank)]).size(), 4u);
  }
}

// (rank, dimension, direction) of the port by which a message leaves on a shortest path.
using PortUse = std::tuple<Rank, int, bool, Step>;

TEST(SwingPorts, all_work_in_every_step_of_a_square_torus) {
  for (const Sides& sides : std::vector<Sides>{{8}, {16}, {4, 4}, {8, 8}, {4, 4, 4}}) {
    for (const char* name : {"swing", "swing-latency"}) {
      const Schedule schedule = on_torus(name, Collective::allreduce, sides);
      std::map<PortUse, int> messages;
      for (const TorusMessage& m : messages_on(sides, schedule)) {
        ++messages[{m.source, m.dimension, 2 * m.forward < m.side, m.step}];
      }
      for (const auto& [port, count] : messages) EXPECT_EQ(count, 1) << schedule.name;
      EXPECT_EQ(messages.size(),
                schedule.programs.size() * 2 * sides.size() * static_cast<std::size_t>(schedule.steps()));
    }
  }
}

TEST(BucketLinks, carry_one_message_of_one_hop_per_step) {
  for (const Sides& sides : all_tori()) {
    const Schedule schedule = on_torus("bucket", Collective::allreduce, sides);
    SCOPED_TRACE(schedule.name);
    int longest = 0, wide = 0;
    for (const int side : sides) longest = std::max(longest, side - 1), wide += side > 1;
    EXPECT_EQ(schedule.steps(), 2 * wide * longest);
    std::map<PortUse, int> messages;
    for (const TorusMessage& m : messages_on(sides, schedule)) {
      EXPECT_EQ(distance(m), 1);
      // Between two neighbours by two links the mirrored collective takes the other one.
      const bool up = m.side == 2 ? (m.lane < wide) == (m.step <= schedule.steps() / 2) : m.forward == 1;
      EXPECT_EQ(++messages[PortUse(m.source, m.dimension, up, m.step)], 1);
    }
  }
}

TEST(HamiltonianLinks, are_all_used_by_two_cycles_that_share_none) {
  int tori = 0;
  for (int rows = 2; rows <= 16; ++rows) {
    for (int columns = 2; columns <= 16; ++columns) {
      const Sides sides = {rows, columns};
      if (!refusal_on("hamiltonian", sides).empty()) continue;
      ++tori;
      SCOPED_TRACE(to_string(sides));
      const Shape shape{Collective::allgather, rows * columns, 4, 0};
      std::map<std::pair<Rank, Rank>, int> on_link;  // unordered ends, of both cycles
      std::map<std::pair<Rank, Rank>, int> links;    // how many links they have
      std::vector<std::vector<Rank>> next(4, std::vector<Rank>(static_cast<std::size_t>(shape.ranks)));
      for (Rank rank = 0; rank < shape.ranks; ++rank) {
        const Program program = family("hamiltonian").program(shape, rank, options_on(sides));
        for (const TorusMessage& m : messages_on(sides, program)) {
          EXPECT_EQ(distance(m), 1);
          if (m.step == 1) next[static_cast<std::size_t>(m.lane)][static_cast<std::size_t>(rank)] = m.target;
          EXPECT_EQ(next[static_cast<std::size_t>(m.lane)][static_cast<std::size_t>(rank)], m.target);
        }
        for (const Rank neighbour : {rank / columns * columns + (rank + 1) % columns, (rank + columns) % shape.ranks}) {
          ++links[std::minmax({rank, neighbour})];
        }
        for (const std::size_t cycle : {0u, 1u}) {
          ++on_link[std::minmax({rank, next[cycle][static_cast<std::size_t>(rank)]})];
        }
      }
      EXPECT_EQ(on_link, links);
      for (std::size_t cycle = 0; cycle < 2; ++cycle) {
        for (Rank rank = 0; rank < shape.ranks; ++rank) {
          EXPECT_EQ(next[cycle + 2][static_cast<std::size_t>(next[cycle][static_cast<std::size_t>(rank)])], rank);
        }
      }
    }
  }
  EXPECT_GE(tori, 40);
}

// The congestion deficiency: the sum over steps of the load of the busiest link, over what a rank must send per port.
// Messages take the shortest way in their one dimension, half each way when both are as short.
double congestion(const std::string& name, const Sides& sides, bool multiport = true) {
  Shape shape = shape_on(sides, Collective::allgather);
  shape.chunks = family(name).chunks(shape, options_on(sides, multiport));
  const std::size_t dimensions = sides.size();
  std::vector<Rank> strides(dimensions, 1);
  for (std::size_t d = dimensions - 1; d-- > 0;) strides[d] = strides[d + 1] * sides[d + 1];

  std::vector<std::vector<double>> loads;  // [step][(rank, dimension, up)]
  const auto cross = [&](const TorusMessage& m, bool up, double chunks) {
    const auto d = static_cast<std::size_t>(m.dimension);
    auto& load = loads[static_cast<std::size_t>(m.step)];
    Rank at = m.source;
    for (Rank hop = 0; hop < (up ? m.forward : m.side - m.forward); ++hop) {
      load[(static_cast<std::size_t>(at) * dimensions + d) * 2 + (up ? 1 : 0)] += chunks;
      const Rank coordinate = at / strides[d] % m.side, moved = (coordinate + (up ? 1 : m.side - 1)) % m.side;
      at += (moved - coordinate) * strides[d];
    }
  };
  for (Rank rank = 0; rank < shape.ranks; ++rank) {
    const Program program = family(name).program(shape, rank, options_on(sides, multiport));
    for (const TorusMessage& m : messages_on(sides, program)) {
      if (loads.size() <= static_cast<std::size_t>(m.step)) {
        loads.resize(static_cast<std::size_t>(m.step) + 1);
        loads.back().resize(static_cast<std::size_t>(shape.ranks) * dimensions * 2);
      }
      auto& load = loads[static_cast<std::size_t>(m.step)];
      if (load.empty()) load.resize(static_cast<std::size_t>(shape.ranks) * dimensions * 2);
      const bool tied = 2 * m.forward == m.side;
      if (tied || 2 * m.forward < m.side) cross(m, true, tied ? m.chunks / 2.0 : m.chunks);
      if (tied || 2 * m.forward > m.side) cross(m, false, tied ? m.chunks / 2.0 : m.chunks);
    }
  }
  double busiest = 0;
  for (const auto& load : loads) busiest += load.empty() ? 0 : *std::max_element(load.begin(), load.end());
  return busiest / shape.ranks;
}

// The sum in 4.1 over the steps of a square torus, times 2D over n: distance(s) / 2^(s+1).
double modelled(int dimensions, int rounds, const std::function<double(int)>& distance_in_round) {
  double sum = 0;
  for (int s = 0; s < dimensions * rounds; ++s) sum += distance_in_round(s / dimensions) / std::exp2(s + 1);
  return sum;
}

TEST(Congestion, of_swing_is_that_of_table_2) {
  EXPECT_NEAR(congestion("swing", {32, 32}), modelled(2, 5, delta), 1e-9);
  EXPECT_NEAR(congestion("swing", {8, 8, 8}), modelled(3, 3, delta), 1e-9);
  EXPECT_NEAR(congestion("swing", {4, 4, 4, 4}), modelled(4, 2, delta), 1e-9);
  // As p grows they tend to the table's values; the first is 1.19 there and 1.2 exactly.
  EXPECT_NEAR(modelled(2, 25, delta), 1.2, 1e-6);
  EXPECT_NEAR(modelled(3, 15, delta), 1.037, 1e-3);
  EXPECT_NEAR(modelled(4, 12, delta), 1.008, 1e-3);
  EXPECT_GT(congestion("swing", {32, 32}), 1.16);
}

TEST(Congestion, of_recursive_doubling_is_that_of_table_2) {
  // Single-port, as there. In the last round of a dimension both ways are as short: half on each (footnote 1).
  const auto distance_split = [](int rounds) {
    return [rounds](int round) { return std::exp2(round) / (round == rounds - 1 ? 2 : 1); };
  };
  EXPECT_NEAR(congestion("mirrored", {16, 16}, false), modelled(2, 4, distance_split(4)), 1e-9);
  EXPECT_NEAR(congestion("mirrored", {8, 8, 8}, false), modelled(3, 3, distance_split(3)), 1e-9);
  EXPECT_NEAR(modelled(2, 25, [](int round) { return std::exp2(round); }), 3.0 / 2.0, 1e-6);
  EXPECT_NEAR(modelled(3, 15, [](int round) { return std::exp2(round); }), 7.0 / 6.0, 1e-4);
}

TEST(Congestion, of_mirrored_recursive_doubling_is_higher_than_of_swing) {
  for (const Sides& sides : std::vector<Sides>{{8, 8}, {16, 16}, {8, 8, 8}, {16, 4}}) {
    EXPECT_GT(congestion("mirrored", sides), congestion("swing", sides)) << to_string(sides);
  }
}

TEST(Congestion, of_bucket_and_hamiltonian_rings_is_none) {
  for (const Sides& sides : std::vector<Sides>{{4, 4}, {8, 8}, {9, 3}, {5, 5}}) {
    const double optimum = 1.0 - 1.0 / ranks_of(sides);
    EXPECT_NEAR(congestion("hamiltonian", sides), optimum, 1e-9) << to_string(sides);
    if (sides[0] != sides[1]) continue;  // the shorter side's ports wait for the longer one's
    EXPECT_NEAR(congestion("bucket", sides), optimum, 1e-9) << to_string(sides);
  }
}

}  // namespace
}  // namespace colltopo
