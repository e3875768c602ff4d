// What auto chooses, and why.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <thread>

#include "choice/previous.h"
#include "choice/variants.h"
#include "colltopo/choice.h"
#include "colltopo/error.h"

namespace colltopo {
namespace {

using testing::HasSubstr;

Placement on_nodes(Rank ranks, Rank per_node) {
  Placement placement;
  for (Rank r = 0; r < ranks; ++r) placement.node_of.push_back(r / per_node);
  return placement;
}

Candidate named(const std::vector<Candidate>& all, std::string_view name) {
  for (const Candidate& candidate : all) {
    if (candidate.name.starts_with(name)) return candidate;
  }
  ADD_FAILURE() << name << " is not a candidate";
  return {};
}

TEST(Choice, small_blocks_between_many_nodes_go_by_tra2) {
  Chooser chooser(64, on_nodes(64, 16), {}, {});
  const Candidate chosen = chooser.choose({Collective::alltoall, 0, 64, true, true});
  EXPECT_THAT(chosen.name, HasSubstr("tra2"));
}

TEST(Choice, the_radix_grows_with_the_block) {
  Chooser chooser(256, on_nodes(256, 1), {}, {});
  int last = 0;
  for (const std::size_t bytes : {8u, 1024u, 16384u, 1u << 20}) {
    int best = 0;
    double seconds = 1e9;
    for (const Candidate& c : chooser.candidates({Collective::alltoall, 0, bytes, true, true})) {
      if (c.algorithm != nullptr && c.algorithm->name == "tra" && c.seconds < seconds)
        best = c.options.values.value_or("radix", 0), seconds = c.seconds;
    }
    EXPECT_GE(best, last) << bytes;
    last = best;
  }
  EXPECT_GT(last, 8);
}

TEST(Choice, the_radix_is_within_5_percent_of_the_best_of_all) {
  const Algorithm& tra = *algorithm_named("tra");
  for (const auto& [ranks, per_node] : {std::pair{64, 1}, std::pair{64, 32}, std::pair{100, 1}, std::pair{256, 32}}) {
    Chooser chooser(ranks, on_nodes(ranks, per_node), {}, {});
    for (const std::size_t bytes : {8u, 64u, 256u, 1024u, 8192u, 65536u}) {
      const Request request{Collective::alltoall, 0, bytes, true, true};
      double best = std::numeric_limits<double>::infinity();
      for (int radix = 2; radix <= ranks; ++radix) {
        AlgorithmOptions given;
        given.values.set("radix", radix);
        best = std::min(best, chooser.price(tra, given, request).seconds);
      }
      const Choice chosen = chooser.price(tra, {}, request);
      EXPECT_LE(chosen.seconds, 1.05 * best) << chosen.name << " of " << bytes << " bytes, " << ranks << " ranks";
    }
  }
}

TEST(Choice, the_previous_component_stays_unless_it_is_beaten_clearly) {
  Chooser chooser(4, on_nodes(4, 4), {}, {});
  const Candidate chosen = chooser.choose({Collective::bcast, 0, 8, true, true});
  EXPECT_EQ(chosen.algorithm, nullptr);
  EXPECT_THAT(chosen.name, HasSubstr("fallback"));
}

TEST(Choice, what_no_trial_corrects_must_be_further_ahead) {
  std::vector<int> node_of(16);
  std::iota(node_of.begin(), node_of.end(), 0);
  Chooser chooser(16, Placement{node_of, {4, 4}}, {}, {});
  int taken_if_tried = 0, taken = 0;
  for (const Collective collective : {Collective::allreduce, Collective::reduce, Collective::reduce_scatter}) {
    for (std::size_t bytes = 8; bytes <= 1 << 22; bytes *= 2) {
      Request request;
      request.collective = collective;
      request.bytes = bytes;
      const Candidate tried = chooser.choose(request);
      request.tried = false;
      const Candidate untried = chooser.choose(request);
      const std::vector<Candidate> all = chooser.candidates(request);
      const auto previous = std::ranges::find(all, nullptr, &Candidate::algorithm);
      ASSERT_NE(previous, all.end());
      if (tried.algorithm != nullptr) {
        ++taken_if_tried;
        EXPECT_LT(tried.seconds, 0.95 * previous->seconds);
      }
      if (untried.algorithm != nullptr) {
        ++taken;
        EXPECT_LT(untried.seconds, 0.75 * previous->seconds);
      }
    }
  }
  EXPECT_GT(taken, 0);
  EXPECT_LT(taken, taken_if_tried);
}

TEST(Choice, orders_that_show_are_excluded) {
  Chooser chooser(8, on_nodes(8, 1), {}, {});
  const auto floats = chooser.candidates({Collective::allreduce, 0, 8, true, false});
  EXPECT_THAT(named(floats, "swing-latency").excluded, HasSubstr("floating point"));
  const auto ordered = chooser.candidates({Collective::allreduce, 0, 8, false, false});
  EXPECT_THAT(named(ordered, "ring").excluded, HasSubstr("order of ranks"));
  EXPECT_EQ(named(ordered, "recursive-doubling").excluded, "");
  EXPECT_EQ(ordered.front().excluded, "");
  EXPECT_NE(ordered.back().excluded, "");
}

TEST(Choice, swing_beats_recursive_halving_on_a_torus) {
  Placement placement = on_nodes(64, 1);
  placement.dimensions = {8, 8};
  AlgorithmOptions options;
  options.dimensions = {8, 8};
  Machine machine;
  machine.bandwidth_network = 1e9;  // slower than memory, so that links and not packing decide
  Chooser chooser(64, placement, machine, options);
  const auto all = chooser.candidates({Collective::allreduce, 0, 1 << 20, true, true});
  EXPECT_LT(named(all, "swing").seconds, named(all, "recursive-halving").seconds);
}

TEST(Choice, every_row_that_serves_the_collective_and_repeats_no_other_is_a_candidate) {
  Chooser chooser(16, on_nodes(16, 4), {}, {});
  AlgorithmOptions given;
  given.groups = grouped(on_nodes(16, 4).node_of);
  for (int c = 0; c < k_collectives; ++c) {
    const auto collective = static_cast<Collective>(c);
    const auto all = chooser.candidates({collective, 0, 1024, true, true});
    for (const Algorithm& algorithm : algorithms()) {
      const bool tried = std::ranges::any_of(all, [&](const Candidate& one) { return one.algorithm == &algorithm; });
      const bool repeats = algorithm.repeats && algorithm.repeats({collective, 16, 1, 0}, given);
      EXPECT_EQ(tried, serves(algorithm, collective) && !repeats) << algorithm.name << " " << name(collective);
    }
  }
}

TEST(Choice, what_settings_fix_for_a_collective_holds_for_it_alone) {
  CollectiveValues values;
  values[static_cast<std::size_t>(Collective::alltoall)].set("radix", 5);
  Chooser chooser(16, on_nodes(16, 4), {}, {}, values);
  for (const Candidate& one : chooser.candidates({Collective::alltoall, 0, 1024, true, true})) {
    if (one.algorithm != nullptr && one.algorithm->name == "tra") {
      EXPECT_EQ(one.name, "tra radix=5");
    }
  }
  EXPECT_EQ(named(chooser.candidates({Collective::allgather, 0, 1024, true, true}), "bruck radix=2").excluded, "");
}

// Once the sampled ranks were those of rank 0's node, so that roots elsewhere were predicted to take 0 us.
TEST(Choice, a_root_on_any_node_costs_the_same) {
  Chooser chooser(32, on_nodes(32, 4), {}, {});
  for (const Collective collective : {Collective::bcast, Collective::reduce}) {
    const auto at_0 = chooser.candidates({collective, 0, 8, true, true});
    for (const Candidate& one : at_0) {
      EXPECT_GT(one.seconds, 2e-6) << one.name << ": at least one message between nodes";
    }
    for (const Rank root : {1, 4, 17, 31}) {
      EXPECT_EQ(&chooser.choose({collective, 0, 8, true, true}), &chooser.choose({collective, root, 8, true, true}));
    }
  }
}

TEST(Choice, pairwise_takes_a_latency_for_every_round) {
  const Machine machine;
  Chooser chooser(64, on_nodes(64, 1), machine, {});
  const auto all = chooser.candidates({Collective::alltoall, 0, 1, true, true});
  EXPECT_GE(named(all, "pairwise").seconds, 63 * machine.latency_network);
  EXPECT_TRUE(algorithm_named("pairwise")->paced_by_steps);
  EXPECT_LT(named(all, "linear").seconds, 63 * machine.latency_network);
}

// Of node-pairs with as many nodes as ranks on each the first rank of all, which is looked at, has no partner.
TEST(Choice, what_must_leave_a_node_takes_its_link_that_long) {
  const Machine machine;
  for (const auto& [ranks, per_node] : {std::pair{256, 16}, std::pair{1024, 32}}) {
    Chooser chooser(ranks, on_nodes(ranks, per_node), machine, {});
    const auto all = chooser.candidates({Collective::alltoall, 0, 256, true, true});
    const double link = 256.0 * per_node * (ranks - per_node) / machine.bandwidth_network;
    EXPECT_GE(named(all, "node-pairs").seconds, link);
    EXPECT_GE(named(all, "tra2").seconds, link);
    EXPECT_GE(named(all, "linear").seconds, link);
  }
}

// The root of a chain is done after one step, the call is not.
TEST(Choice, a_chain_of_ranks_costs_its_length) {
  const Machine machine;
  Chooser chooser(1024, on_nodes(1024, 8), machine, {});
  for (const Collective collective : {Collective::bcast, Collective::reduce}) {
    const auto all = chooser.candidates({collective, 0, 8, true, true});
    EXPECT_GE(named(all, "hamiltonian").seconds, 1023 * machine.latency_node) << name(collective);
    EXPECT_LT(all.front().seconds, 40e-6) << all.front().name;
  }
}

TEST(Choice, what_a_root_receives_costs_as_much_as_what_it_sends) {
  const Machine machine;
  constexpr std::size_t k_bytes = 65536;
  Chooser chooser(256, on_nodes(256, 1), machine, {});
  for (const char* const algorithm : {"linear", "binomial"}) {
    const double gather = named(chooser.candidates({Collective::gather, 0, k_bytes, true, true}), algorithm).seconds;
    const double scatter = named(chooser.candidates({Collective::scatter, 0, k_bytes, true, true}), algorithm).seconds;
    EXPECT_GE(gather, 255 * k_bytes / machine.bandwidth_network) << algorithm;
    EXPECT_NEAR(gather / scatter, 1, 0.1) << algorithm;
  }
}

TEST(Choice, what_is_not_priced_could_not_have_won) {
  for (const int per_node : {1, 8}) {
    Chooser chooser(192, on_nodes(192, per_node), {}, {});
    for (int c = 0; c < k_collectives; ++c) {
      for (const std::size_t bytes : {8u, 700u, 20000u, 1u << 20}) {
        Request request{static_cast<Collective>(c), 0, bytes, true, true};
        request.fallback_allowed = false;
        Chooser lazy(192, on_nodes(192, per_node), {}, {});
        const Candidate first = chooser.candidates(request).front(), chosen = lazy.choose(request);
        EXPECT_EQ(chosen.name, first.name) << name(request.collective) << " " << bytes;
        EXPECT_EQ(chosen.seconds, first.seconds);
      }
    }
  }
}

TEST(Choice, more_messages_than_the_window_wait_for_those_before) {
  Machine narrow, wide;
  narrow.window = 2;
  wide.window = 1000;
  const Request request{Collective::alltoall, 0, 8, true, true};
  Chooser few(64, on_nodes(64, 1), narrow, {}), many(64, on_nodes(64, 1), wide, {});
  EXPECT_GT(named(few.candidates(request), "linear").seconds, 2 * named(many.candidates(request), "linear").seconds);
}

TEST(Choice, the_previous_component_is_priced_by_its_name) {
  Chooser chooser(64, on_nodes(64, 16), {}, {});
  Request request{Collective::allreduce, 0, 8, true, true};
  const auto fallback = [&](std::string_view previous) {
    request.previous = previous;
    return named(chooser.candidates(request), "fallback");
  };
  EXPECT_EQ(fallback("tuned").name, "fallback (priced as recursive-doubling)");
  EXPECT_EQ(fallback("han").name, "fallback (priced as binomial + binomial + linear + binomial)");
  EXPECT_GT(fallback("basic").seconds, fallback("tuned").seconds);
}

TEST(Choice, parts_of_a_previous_component_are_what_an_algorithm_does) {
  for (const char* component : {"tuned", "han", "basic", "libnbc"}) {
    for (int c = 0; c < k_collectives; ++c) {
      for (const std::size_t bytes : {8u, 20000u, 1u << 20}) {
        for (const Part& part : parts_of_previous(component, static_cast<Collective>(c), 64, 4, 16, bytes)) {
          const Algorithm* const algorithm = algorithm_named(part.algorithm);
          ASSERT_NE(algorithm, nullptr) << part.algorithm;
          EXPECT_TRUE(serves(*algorithm, part.collective)) << part.algorithm << " " << name(part.collective);
        }
      }
    }
  }
}

// Its reduction and broadcast between the nodes are of whole vectors.
TEST(Choice, han_pays_for_the_vectors_that_it_sends_between_few_nodes) {
  Chooser chooser(16, on_nodes(16, 4), {}, {});
  Request request{Collective::allreduce, 0, 1 << 20, true, true};
  request.previous = "han";
  const std::vector<Candidate> all = chooser.candidates(request);
  EXPECT_GT(named(all, "fallback").seconds, 2 * all.front().seconds);
}

TEST(Choice, nothing_is_taken_from_a_component_of_which_nothing_is_known) {
  Chooser chooser(64, on_nodes(64, 16), {}, {});
  Request request{Collective::alltoall, 0, 64, true, true};
  ASSERT_NE(chooser.choose(request).algorithm, nullptr);
  request.previous = "ucc";
  EXPECT_EQ(chooser.choose(request).algorithm, nullptr);
  EXPECT_EQ(chooser.choose(request).name, "fallback");
}

/// Of the component, and of one of our algorithms as the model has it.
MeasuredRows took(std::string previous, Collective collective, double seconds, const char* ours) {
  std::vector<MeasuredRow> rows = {{collective, nullptr, {{8, seconds}, {1024, seconds}}, std::move(previous)}};
  if (ours != nullptr) {
    rows.push_back({collective, algorithm_named(ours), {}});
    Chooser plain(16, on_nodes(16, 4), {}, {});
    for (const std::size_t bytes : {8, 1024})
      rows.back().times.push_back({bytes, plain.price(*rows.back().algorithm, {}, {collective, 0, bytes}).seconds});
  }
  return std::make_shared<const std::vector<MeasuredRow>>(std::move(rows));
}

TEST(Choice, a_component_of_which_nothing_but_its_times_is_known_costs_those) {
  Request request{Collective::alltoall, 0, 64, true, true};
  request.previous = "ucc";
  Chooser slow(16, on_nodes(16, 4), {}, {}, {}, took("ucc", Collective::alltoall, 1, "linear"));
  EXPECT_NE(slow.choose(request).algorithm, nullptr);
  Chooser quick(16, on_nodes(16, 4), {}, {}, {}, took("ucc", Collective::alltoall, 1e-9, "linear"));
  EXPECT_EQ(quick.choose(request).name, "fallback (measured)");
  EXPECT_EQ(quick.choose(request).seconds, 1e-9);
  Chooser alone(16, on_nodes(16, 4), {}, {}, {}, took("ucc", Collective::alltoall, 1, nullptr));
  EXPECT_EQ(alone.choose(request).name, "fallback") << "a time beside a model decides nothing";
  request.previous = "hcoll";
  EXPECT_EQ(slow.choose(request).name, "fallback");
}

TEST(Choice, a_component_that_was_measured_costs_what_it_took) {
  Request request{Collective::allreduce, 0, 64, true, true};
  Chooser plain(16, on_nodes(16, 4), {}, {});
  const double by_model = named(plain.candidates(request), "fallback").seconds;
  for (const double times : {0.5, 1.5}) {
    Chooser fitted(16, on_nodes(16, 4), {}, {}, {}, took("tuned", Collective::allreduce, times * by_model, "swing"));
    const Candidate found = named(fitted.candidates(request), "fallback");
    EXPECT_EQ(found.name, "fallback (priced as recursive-doubling, measured)");
    EXPECT_NEAR(found.seconds / by_model, times, 0.1 * times);
    request.previous = "han";
    EXPECT_THAT(named(fitted.candidates(request), "fallback").name, testing::Not(HasSubstr("measured")));
    request.previous = "tuned";
  }
}

TEST(Choice, siblings_are_the_other_variants_of_a_row) {
  Chooser chooser(64, on_nodes(64, 4), {}, {});
  const Request request{Collective::alltoall, 0, 64};
  const Candidate tra = named(chooser.leading(request, 8), "tra radix");
  const std::vector<Candidate> siblings = chooser.siblings(request, tra, 2 * tra.seconds);
  ASSERT_FALSE(siblings.empty());
  double before = tra.seconds;
  for (const Candidate& one : siblings) {
    EXPECT_EQ(one.algorithm, tra.algorithm);
    EXPECT_NE(one.name, tra.name);
    EXPECT_GE(one.seconds, before) << "by price";
    EXPECT_LE(one.seconds, 2 * tra.seconds);
    EXPECT_EQ(one.seconds, chooser.price(*one.algorithm, one.options, request).seconds);
    before = one.seconds;
  }
  EXPECT_TRUE(chooser.siblings(request, tra, 0.5 * tra.seconds).empty());
}

// The variant that the model has as the cheapest took 1.2 times that; another one less, then more.
TEST(Choice, a_variant_that_was_measured_is_chosen_by_what_it_took) {
  const Request request{Collective::allgather, 0, 64};
  Chooser plain(16, on_nodes(16, 4), {}, {});
  const Candidate cheapest = plain.price(*algorithm_named("two-level"), {}, request);
  const std::vector<Candidate> siblings = plain.siblings(request, cheapest, 10 * cheapest.seconds);
  ASSERT_FALSE(siblings.empty());
  const Candidate& other = siblings.front();
  std::vector<MeasuredRow> rows = {{Collective::allgather, cheapest.algorithm, {{64, 1.2 * cheapest.seconds}}},
                                   {Collective::allgather, other.algorithm, {{64, 1.1 * cheapest.seconds}}}};
  rows[1].values = other.options.values;
  const auto measured = [&] { return std::make_shared<const std::vector<MeasuredRow>>(rows); };
  Chooser fitted(16, on_nodes(16, 4), {}, {}, {}, measured());
  EXPECT_EQ(fitted.price(*other.algorithm, {}, request).name, other.name);
  EXPECT_NEAR(fitted.price(*other.algorithm, {}, request).seconds, 1.1 * cheapest.seconds, 1e-9);
  rows[1].times.front().seconds = 1.3 * cheapest.seconds;
  Chooser slower(16, on_nodes(16, 4), {}, {}, {}, measured());
  EXPECT_EQ(slower.price(*other.algorithm, {}, request).name, cheapest.name);
}

TEST(Choice, less_of_a_lead_is_asked_of_a_component_that_was_measured) {
  Chooser plain(16, on_nodes(16, 4), {}, {});
  Chooser fitted(16, on_nodes(16, 4), {}, {}, {}, took("tuned", Collective::allreduce, 1e-5, "swing"));
  Request request{Collective::allreduce, 0, 64, true, true};
  const auto lead = [&](Chooser& chooser, const char* algorithm) {
    return chooser.lead_over_previous(request, algorithm_named(algorithm));
  };
  EXPECT_EQ(lead(fitted, "swing"), lead(plain, "swing"));
  request.tried = false;
  EXPECT_GT(lead(fitted, "swing"), lead(plain, "swing"));
  EXPECT_EQ(lead(fitted, "bucket"), lead(plain, "bucket")) << "that was not measured itself";
  request.collective = Collective::reduce;
  EXPECT_EQ(lead(fitted, "swing"), lead(plain, "swing"));
}

TEST(Choice, seconds_are_known_where_calls_were_measured) {
  const Algorithm* const swing = algorithm_named("swing");
  Request request{Collective::allreduce, 0, 64, true, true};
  Chooser plain(16, on_nodes(16, 4), {}, {});
  EXPECT_FALSE(plain.measured(swing, {}, request));
  EXPECT_FALSE(plain.measured(nullptr, {}, request));
  const double ours = plain.price(*swing, {}, request).seconds;
  const double previous = 1.5 * named(plain.candidates(request), "fallback").seconds;
  Chooser fitted(16, on_nodes(16, 4), {}, {}, {}, took("tuned", Collective::allreduce, previous, "swing"));
  EXPECT_NEAR(fitted.measured(swing, {}, request).value().seconds, ours, 0.1 * ours);
  EXPECT_NEAR(fitted.measured(nullptr, {}, request).value().seconds, previous, 0.1 * previous);
  request.fallback_allowed = false;
  EXPECT_FALSE(fitted.measured(nullptr, {}, request));
  request.commutative = false;
  EXPECT_FALSE(fitted.measured(swing, {}, request)) << "it may not serve the call";
}

TEST(Choice, a_collective_is_measured_with_the_component_that_serves_what_is_declined) {
  const auto measured = [](const char* component, const char* ours, const Request& request) {
    return Chooser(16, on_nodes(16, 4), {}, {}, {}, took(component, Collective::bcast, 1e-5, ours))
        .has_measured(request);
  };
  Request request{Collective::bcast, 0, 64, true, true};
  EXPECT_TRUE(measured("tuned", "binomial", request));
  EXPECT_FALSE(measured("han", "binomial", request));
  EXPECT_FALSE(measured("tuned", nullptr, request)) << "nothing of ours";
  EXPECT_FALSE(Chooser(16, on_nodes(16, 4), {}, {}).has_measured(request));
  EXPECT_FALSE(measured("tuned", "binomial", {Collective::bcast, 0, 4, true, true})) << "less than the least";
  request.fallback_allowed = false;
  EXPECT_TRUE(measured("han", "binomial", request)) << "it may not serve the call";
  request.collective = Collective::scatter;
  EXPECT_FALSE(measured("tuned", "binomial", request));
}

TEST(Choice, a_component_known_to_be_wrong_is_no_candidate) {
  Chooser chooser(4, on_nodes(4, 4), {}, {});
  for (int c = 0; c < k_collectives; ++c) {
    Request request{static_cast<Collective>(c), 0, 8, true, true};
    request.fallback_allowed = false;
    EXPECT_NE(chooser.choose(request).algorithm, nullptr) << name(request.collective);
    for (const Candidate& one : chooser.candidates(request)) EXPECT_NE(one.algorithm, nullptr);
  }
}

TEST(Choice, sizes_of_a_class_are_one_decision) {
  Chooser chooser(24, on_nodes(24, 4), {}, {});
  for (const std::size_t bytes : {0u, 1u, 7u, 8u, 9u, 100u, 1000u, 4096u, 1000000u}) {
    Request request{Collective::alltoall, 0, bytes, true, true};
    const Choice& choice = chooser.choose(request);
    EXPECT_LE(choice.from, bytes);
    EXPECT_GT(choice.to, bytes);
    for (const std::size_t same : {choice.from, choice.to - 1}) {
      request.bytes = same;
      EXPECT_EQ(&chooser.choose(request), &choice) << bytes << " " << same;
    }
    request.bytes = choice.to;
    EXPECT_NE(&chooser.choose(request), &choice);
  }
}

TEST(Choice, classes_of_sizes_follow_each_other_four_to_an_octave) {
  std::size_t bytes = 0;
  for (int classes = 0; bytes < 1 << 20; ++classes) {
    const SizeClass sizes = size_class_of(bytes);
    ASSERT_EQ(sizes.from, bytes);
    ASSERT_GT(sizes.to, bytes);
    ASSERT_EQ(size_class_of(sizes.to - 1).from, bytes);
    ASSERT_LE(classes, 8 + 4 * 17);
    bytes = sizes.to;
  }
  EXPECT_EQ(bytes, 1u << 20);
  EXPECT_EQ(size_class_of(k_any_bytes - 1).to, k_any_bytes);
}

TEST(Choice, what_is_forced_without_options_takes_its_cheapest_variant) {
  Chooser chooser(64, on_nodes(64, 1), {}, {});
  const Algorithm& tra = *algorithm_named("tra");
  const Choice& small = chooser.price(tra, {}, {Collective::alltoall, 0, 1, true, true});
  const Choice& large = chooser.price(tra, {}, {Collective::alltoall, 0, 1 << 20, true, true});
  EXPECT_LT(small.options.values.value_or("radix", 0), large.options.values.value_or("radix", 0));
  EXPECT_EQ(chooser.price(tra, {.values = {{"radix", 7}}}, {Collective::alltoall, 0, 1, true, true}).name,
            "tra radix=7");
  EXPECT_EQ(chooser.price(tra, {.values = {{"radix", 700}}}, {Collective::alltoall, 0, 1, true, true}).name,
            "tra radix=64");
}

TEST(Choice, ranks_that_lie_alike_share_a_chooser) {
  const auto chooser_of = [](Rank ranks, Rank per_node, AlgorithmOptions options = {}) {
    return shared_chooser(ranks, on_nodes(ranks, per_node), {}, options);
  };
  EXPECT_EQ(chooser_of(8, 4), chooser_of(8, 4));
  EXPECT_NE(chooser_of(8, 4), chooser_of(8, 2));
  EXPECT_NE(chooser_of(8, 4), chooser_of(4, 4));
  EXPECT_NE(chooser_of(8, 4), chooser_of(8, 4, {.values = {{"group", 2}}}));
  EXPECT_NE(chooser_of(8, 4), chooser_of(8, 4, {.groups = grouped({0, 1, 0, 1, 0, 1, 0, 1})}));
  EXPECT_EQ(chooser_of(8, 4)->nodes(), 2);
  EXPECT_EQ(chooser_of(8, 4)->ranks_per_node(), 4);
}

TEST(Choice, a_chooser_serves_threads_at_once) {
  const auto chooser = shared_chooser(24, on_nodes(24, 4), {}, {});
  std::vector<std::thread> threads;
  std::vector<std::vector<const Choice*>> found(4);
  for (auto& mine : found) {
    threads.emplace_back([&chooser, &mine] {
      for (int c = 0; c < k_collectives; ++c) {
        for (std::size_t bytes = 1; bytes < 1 << 22; bytes *= 2)
          mine.push_back(&chooser->choose({static_cast<Collective>(c), 0, bytes, true, true}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& mine : found) EXPECT_EQ(mine, found.front());
}

TEST(Choice, groups_are_made_once_and_shared_by_candidates) {
  Chooser chooser(64, on_nodes(64, 16), {}, {});
  for (const Candidate& one : chooser.candidates({Collective::alltoall, 0, 64, true, true})) {
    if (one.algorithm != nullptr) {
      EXPECT_EQ(one.options.groups, chooser.options().groups) << one.name;
    }
  }
}

TEST(Choice, equal_facts_give_equal_decisions) {
  for (const std::size_t bytes : {1u, 100u, 10000u, 1000000u}) {
    Chooser a(24, on_nodes(24, 4), {}, {}), b(24, on_nodes(24, 4), {}, {});
    for (int c = 0; c < k_collectives; ++c) {
      const Request request{static_cast<Collective>(c), 0, bytes, true, true};
      EXPECT_EQ(a.choose(request).name, b.choose(request).name);
    }
  }
}

// Programs are read when they are priced. One that throws takes its row out of the choice, on all ranks alike.
TEST(Choice, what_cannot_be_made_has_a_refusal_and_no_price) {
  Algorithm broken = *algorithm_named("ring");
  broken.program = [](const Shape&, Rank, const AlgorithmOptions&) -> Program { throw Error("scratch is too small"); };
  Variant variant = variant_of(broken, Collective::allreduce, {}, 64);
  const Terrain terrain(on_nodes(64, 8));
  EXPECT_EQ(variant.refusal, "");
  EXPECT_EQ(variant.seconds(terrain, {}, 8), 0);
  EXPECT_THAT(variant.refusal, HasSubstr("cannot be made here: scratch is too small"));
  EXPECT_FALSE(variant.has_price());
}

TEST(Choice, radices_are_fitted_to_the_room_in_scratch) {
  const Algorithm& row = *algorithm_named("recursive-multiplying");
  for (const Rank ranks : {12000, 16384, 262144}) {
    AlgorithmOptions options;
    options.values.set("radix", 512);
    const Shape shape{Collective::allreduce, ranks, 1, 0};
    EXPECT_EQ(row.refusal(shape, options), "");
    EXPECT_GT(row.program(shape, ranks - 1, options).size(), 0u) << ranks;
  }
  AlgorithmOptions leaders{{{"leaders", 1}, {"inter-radix", 2000}}, grouped(on_nodes(16384, 8).node_of), {}};
  const Algorithm& two_level = *algorithm_named("two-level");
  EXPECT_GT(two_level.program({Collective::allreduce, 16384, 1, 0}, 0, leaders).size(), 0u);
}

// 65,537 is prime: vectors that leaders halve would have a chunk for each rank and each of 8,193 nodes.
TEST(Choice, what_has_too_many_chunks_is_refused) {
  const Placement placement = on_nodes(65537, 8);
  Chooser chooser(65537, placement, {}, {});
  AlgorithmOptions halving;
  halving.values.set("leaders", 1);
  halving.values.set("halving", 1);
  const Choice& forced =
      chooser.price(*algorithm_named("two-level"), halving, {Collective::allreduce, 0, 1 << 20, true, true});
  EXPECT_THAT(forced.excluded, HasSubstr("8193 chunks a shard on 65537 ranks: more than 67108864 in all"));
  Request request{Collective::allreduce, 0, 1 << 20, true, true};
  request.fallback_allowed = false;
  EXPECT_NE(chooser.choose(request).algorithm, nullptr);
}

TEST(Choice, what_keeps_far_more_than_the_call_has_serves_smaller_calls_alone) {
  Chooser chooser(64, on_nodes(64, 8), {}, {});
  const Algorithm& pairs = *algorithm_named("node-pairs");
  const auto of = [&](std::size_t bytes) { return chooser.price(pairs, {}, {Collective::alltoall, 0, bytes}); };
  const Choice small = of(8), large = of(std::size_t{64} << 20);
  EXPECT_EQ(small.excluded, "");
  EXPECT_EQ(small.from, 0u);
  EXPECT_LT(small.to, std::size_t{64} << 20);
  EXPECT_EQ(of(small.to - 1).excluded, "");
  EXPECT_THAT(large.excluded, HasSubstr("keeps more than 512 MiB for others"));
  EXPECT_EQ(large.from, small.to);
  // As much as the call has itself is not much, however large that is.
  EXPECT_EQ(chooser.price(*algorithm_named("tra2"), {}, {Collective::alltoall, 0, std::size_t{64} << 20}).excluded, "");
}

}  // namespace
}  // namespace colltopo
