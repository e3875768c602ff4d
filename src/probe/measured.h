// The calls of one algorithm, measured in visits.
#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "comm/constants.h"
#include "probe/caller.h"
#include "probe/candidates.h"
#include "probe/counters.h"

namespace colltopo::probe {

// Times the fastest of a size: who may be the best one after all, and who is not worth a row.
constexpr double k_near_fastest = 1.5, k_far = 3;
constexpr double k_sure = 0.5;  // s, of a call that tells at once: no connection or lost message is a part of it
constexpr double k_infinite = std::numeric_limits<double>::infinity();

/// How often `part` seconds, 0 for what no clock sees, go into `all`.
int as_many(double all, double part, int least, int most);

/// The calls of one contender, from round to round; its communicator, on which its algorithm serves its collective,
/// lives as long.
class Measured {
 public:
  /// Collective. What is referred to outlives it.
  Measured(const Contender& contender, const std::string& constants, const Counters* counters, Buffers& buffers,
           RunOrder& order, Meetings& meetings);

  Collective collective() const { return contender_.collective; }
  bool is_previous() const { return contender_.algorithm == k_previous; }
  const std::set<std::size_t>& sizes() const { return sizes_; }
  void also(std::size_t bytes) { sizes_.insert(bytes); }
  /// Whether its calls have this size, and it did not leave them to another component.
  bool serves(std::size_t bytes) const { return sizes_.contains(bytes) && !left_.contains(bytes); }
  /// Collective, before each visit; false where it has no more part in this one. `fastest`: s, that the best one is
  /// known to take. Whoever was far from it, and still is in the first two calls, has no more of them: at first any may
  /// be, as connections are cold for tens of calls. Who had rows of several and is near it needs none before further
  /// ones.
  bool begin(std::size_t bytes, double fastest);
  /// s, of a call and two meetings, and how many of them make a row.
  double one() const { return one_; }
  int calls() const { return calls_; }
  /// Collective: a row.
  void time() { caller_->time(calls_); }
  /// Collective. `meetings`: [row], taken off; empty where there is no root.
  void end(std::size_t bytes, const std::vector<double>& meetings);
  /// s; infinite where it was not measured.
  double seconds(std::size_t bytes) const;
  /// The same in the best visit: on a slow network a whole visit may be disturbed by messages that an earlier one lost.
  double best_visit(std::size_t bytes) const;
  ConstantsRecord::Times times() const;

 private:
  class ServedBy {
   public:
    ServedBy(const Contender& contender, const std::string& constants);
    ~ServedBy() { MPI_Comm_free(&comm_); }
    ServedBy(const ServedBy&) = delete;
    ServedBy& operator=(const ServedBy&) = delete;
    MPI_Comm get() const { return comm_; }

   private:
    MPI_Comm comm_ = MPI_COMM_NULL;
  };

  // The calls of one size.
  struct Timed {
    std::vector<double> rows;     // s a call
    std::vector<double> middles;  // of each visit
    double best_visit = k_infinite;
    double least = 0;  // s, that can be told in the last visit
    int visits = 0;    // of several rows each
    double one = 0;    // s, of a call and two meetings in the last of these

    void forget() {
      rows.clear();
      middles.clear();
    }
    void add(const std::vector<double>& visit, double middle, double meeting);
  };

  double middle_of(const std::vector<double>& all) const;
  std::vector<double> first_calls();
  void plan_rows(double one);
  bool was_left(std::size_t bytes);

  const Contender& contender_;
  std::set<std::size_t> sizes_;  // bytes
  ServedBy comm_;
  const Counters* counters_;
  Buffers& buffers_;
  RunOrder& order_;
  Meetings& meetings_;
  std::map<std::size_t, Timed> timed_;  // by bytes
  std::set<std::size_t> left_;          // bytes
  std::optional<Caller> caller_;        // of the visit
  double one_ = 0;
  int calls_ = 0;
};

}  // namespace colltopo::probe
