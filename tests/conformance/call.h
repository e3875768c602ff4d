// One operation on one rank: buffers, arguments, the MPI call, its requests, and what must be true afterwards.
#pragma once

#include "operation.h"
#include "reducer.h"

namespace conformance {

/// Arguments of one buffer. Of a call with one block or equal ones the first count and type; `starts` are in extents,
/// `bytes` and `far` in bytes.
struct Arguments {
  const void* buffer = nullptr;
  std::vector<int> counts = {0}, starts, bytes;
  std::vector<MPI_Aint> far;
  std::vector<MPI_Datatype> types = {MPI_DATATYPE_NULL};
  std::vector<LayoutOwner> layouts;
  std::vector<std::ptrdiff_t> offsets;  // bytes where each block begins
};

class Call {
 public:
  Call(const Operation& operation, std::shared_ptr<Place> place, const Limits& limits);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call();

  /// Makes the call, or starts a persistent one again.
  void start();
  /// Looks at every byte once it is complete; whether there is another round.
  bool check();

  const Operation& operation() const { return operation_; }
  const std::string& about() const { return about_; }
  std::vector<MPI_Request>& requests() { return requests_; }
  const Place& place() const { return *place_; }

 private:
  /// A block of data: what its values are, and how many units.
  struct Flow {
    std::uint64_t key;
    std::size_t units;
    std::string what;
  };
  void make_moves();
  void make_neighbourhood();
  void make_reduction();
  void make_inexact();
  void make_messages();
  std::size_t units_between(int from, int to, int number = 0) const;
  Flow flow(int from, int to, int number = 0) const;
  void arrange(Arguments& side, const std::vector<Flow>& flows, KindRow::Blocks blocks, const char* name, bool several);
  void place_blocks(Arguments& side, const std::vector<Flow>& flows, KindRow::Blocks blocks, Dice& dice, bool several);
  void describe(const Arguments& side, const char* name);
  void from_memory(Side& side, Arguments& arguments, bool may_be_bottom, std::uint64_t salt);
  Values values_of(const Flow& flow) const;
  int invoke();
  int invoke_reduction();
  int invoke_neighbourhood();
  int exchange_messages();
  void free_handles();
  void compare_bits();

  Operation operation_;
  std::shared_ptr<Place> place_;
  const Limits& limits_;
  const KindRow& row_;
  std::uint64_t key_;
  std::string about_;
  int root_ = 0;
  Side sent_, received_;
  Arguments send_, receive_;
  std::vector<int> counts_;  // of reduce_scatter
  MPI_Op op_ = MPI_OP_NULL;
  bool owns_op_ = false;
  std::vector<LayoutOwner> handles_;  // to be freed with the call
  std::vector<MPI_Request> requests_;
  int round_ = 0;
};

/// Ends the job: this call is not what MPI says it is.
[[noreturn]] void differs(const Call& call, const std::string& how);

/// The error code's class and text, and the end of the job, unless all is well.
void must(int code, const Call& call, const char* what);

}  // namespace conformance
