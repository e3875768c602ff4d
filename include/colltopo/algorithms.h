// The closed-form algorithms, in one table: what each is called, what it may be told, how to make one rank's program,
// which variants `auto` should price. Adding an algorithm, options included, is one file and one line of the table.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "colltopo/groups.h"
#include "colltopo/pairs.h"
#include "colltopo/schedule.h"

namespace colltopo {

/// A whole number that an algorithm may be told. Parameters, rules, commands and schedule files know it from here.
struct Option {
  std::string_view name;  // "intra-radix"; the parameter is then COLLECTIVE_intra_radix
  int least = 0, most = 0;
  std::string_view about;      // "radix within groups"
  std::string_view otherwise;  // what it is when nobody says: "about the square root of the ranks"
  /// A parameter for each collective; otherwise the parameter of the option's own name sets it for all (group).
  bool per_collective = true;
};

/// Options by name, each at most once, in the order of names.
class OptionValues {
 public:
  struct Value {
    std::string name;
    int value = 0;
    friend bool operator==(const Value&, const Value&) = default;
  };

  OptionValues() = default;
  OptionValues(std::initializer_list<Value> values);

  void set(std::string_view name, int value);
  /// Takes over what `others` has.
  void set(const OptionValues& others);
  void forget(std::string_view name);
  std::optional<int> find(std::string_view name) const;
  int value_or(std::string_view name, int otherwise) const { return find(name).value_or(otherwise); }
  std::span<const Value> all() const { return values_; }

  friend bool operator==(const OptionValues&, const OptionValues&) = default;

 private:
  std::vector<Value> values_;
};

/// What an algorithm may depend on besides the shape; what is not there is the algorithm's own choice. A value that
/// does not fit a communicator is fitted: a radix above the members is the members, the last group of a number may be
/// smaller.
struct AlgorithmOptions {
  OptionValues values = {};
  std::shared_ptr<const Groups> groups = {};  // who shares a node (package, ...), when no `group` is among the values
  std::vector<int> dimensions = {};           // sides of the torus that the ranks form, row-major; empty: none is known
  /// All-to-alls of neighbourhoods: who has something for whom, which rows may make use of. Null: everybody for all.
  std::shared_ptr<const Pairs> pairs = {};

  friend bool operator==(const AlgorithmOptions& a, const AlgorithmOptions& b);
};

/// What the verifier finds for every schedule of an algorithm and shape (colltopo/verify.h); tests hold it to that.
struct Properties {
  bool in_place = false;
  bool keeps_rank_order = false;
  bool same_on_all_ranks = false;

  friend bool operator==(const Properties&, const Properties&) = default;
};

/// What a rank has to send, as the papers count it: for choosing among variants without making their programs.
struct Counted {
  double rounds_within = 0, shards_within = 0;    // within groups
  double rounds_between = 0, shards_between = 0;  // between groups, or among all ranks where there are none
};

/// One row of the table.
struct Algorithm {
  std::string_view name;
  std::string_view about;               // one line, with the paper
  std::vector<Collective> collectives;  // that it can do
  std::vector<Option> options = {};     // that it knows
  /// Empty when it can serve the shape; otherwise why not ("radix 1 is not at least 2").
  std::function<std::string(const Shape&, const AlgorithmOptions&)> refusal;
  /// Chunks per shard that its programs use (Shape::chunks is ignored).
  std::function<Chunk(const Shape&, const AlgorithmOptions&)> chunks;
  /// The program of one rank, in memory proportional to itself; shape.chunks must be chunks(shape, options).
  std::function<Program(const Shape&, Rank, const AlgorithmOptions&)> program;
  /// Whether that takes time in proportion to all ranks, or to the program alone.
  bool programs_take_all_ranks = false;
  /// Steps of the schedule: the last step of any rank, or, of a rooted collective, no less than that. Takes far less
  /// time than a program.
  std::function<Step(const Shape&, const AlgorithmOptions&)> steps;
  /// Options as in the name of a file or a report, as they were fitted: "radix=4".
  std::function<std::string(const Shape&, const AlgorithmOptions&)> describe;
  /// For reductions: decides which calls it may serve. in_place: whether the input needs no copy under MPI_IN_PLACE.
  std::function<Properties(const Shape&, const AlgorithmOptions&)> properties = {};
  /// What `auto` should price, for a shape and a placement (groups, dimensions): what is given stays, what is free is
  /// tried. No function: as given.
  std::function<std::vector<AlgorithmOptions>(const Shape&, const AlgorithmOptions& given)> variants = {};
  /// Whether a simpler row sends the same messages here, so that `auto` need not price this one. No function: never.
  std::function<bool(const Shape&, const AlgorithmOptions& given)> repeats = {};
  /// For rows with many variants, so that those that can win at no size are never made.
  std::function<Counted(const Shape&, const AlgorithmOptions&)> counted = {};
  /// Every message goes from the rank whose data it is to the one that gets them: what it takes to serve calls whose
  /// sizes nobody else knows (colltopo/uneven.h).
  bool direct = false;
  /// Its programs of alltoall pass on whole blocks: with messages that tell their lengths (colltopo/aggregation.h) they
  /// serve such calls too.
  bool aggregates = false;
  /// Its rounds are meant one after the other although no data makes them wait: the plan must run it step by step.
  bool paced_by_steps = false;
};

std::span<const Algorithm> algorithms();
const Algorithm* algorithm_named(std::string_view name);
/// Also calls that are served by the schedules of another collective.
bool serves(const Algorithm& algorithm, Collective collective);

/// By its name, with - or _ between words; null: the row has none of that name.
const Option* option_named(const Algorithm& algorithm, std::string_view name);
/// The options of all rows, each name once, in the order of the table.
std::span<const Option> all_options();

/// A number that is not among what the option allows; empty: it is.
std::string refusal_of(const Option& option, int value);

/// The whole schedule; throws Error with the refusal.
Schedule generate(const Algorithm& algorithm, Shape shape, const AlgorithmOptions& options);

}  // namespace colltopo
