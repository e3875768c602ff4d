#include "caller.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "probe/meet.h"

namespace colltopo::bench {

namespace {

constexpr double k_slice_s = 100e-6;

void compute_until(double time, Computing computing) {
  if (computing == Computing::sleep) {
    const double left = time - MPI_Wtime();
    if (left > 0) std::this_thread::sleep_for(std::chrono::duration<double>(left));
  }
  while (MPI_Wtime() < time) {
  }
}

// So many seconds in slices, with a look at the request after each if there is one. What a look takes is not computing,
// and a slice counts for as long as it was: sleep may take several times what it is asked for.
void compute(double seconds, Computing computing, Caller* caller) {
  bool is_over = caller == nullptr;
  for (double spent = 0; spent < seconds;) {
    const double begin = MPI_Wtime();
    compute_until(begin + std::min(k_slice_s, seconds - spent), computing);
    spent += MPI_Wtime() - begin;
    is_over = is_over || caller->test();
  }
  if (!is_over) caller->wait();
}

double median(std::vector<double> samples) { return quantiles(std::move(samples)).median; }

}  // namespace

FormedName formed(const std::string& text) {
  const auto at = text.rfind('@');
  if (at == std::string::npos) return {text, Form::blocking};
  const std::string form = text.substr(at + 1);
  if (form == "nonblocking") return {text.substr(0, at), Form::nonblocking};
  if (form == "persistent") return {text.substr(0, at), Form::persistent};
  if (text.starts_with("file:")) return {text, Form::blocking};  // of its name
  throw std::invalid_argument(
      fmt::format("\"{}\": \"{}\" is no form; expected nonblocking or persistent, as in ring@persistent", text, form));
}

Caller::Caller(Exchange& exchange, MPI_Comm comm, Form form) : exchange_(exchange), comm_(comm), form_(form) {
  if (form == Form::persistent) exchange.init(comm, &request_);
}

Caller::~Caller() {
  if (request_ != MPI_REQUEST_NULL) MPI_Request_free(&request_);
}

void Caller::call() {
  if (form_ == Form::blocking) return exchange_.call(comm_);
  start();
  wait();
}

void Caller::start() {
  if (form_ == Form::persistent)
    MPI_Start(&request_);
  else
    exchange_.start(comm_, &request_);
}

bool Caller::test() {
  int is_over = 0;
  MPI_Test(&request_, &is_over, MPI_STATUS_IGNORE);
  return is_over != 0;
}

void Caller::wait() { MPI_Wait(&request_, MPI_STATUS_IGNORE); }

double Overlap::hidden() const { return std::clamp(1 - (both_us - compute_us) / call_us, 0.0, 1.0); }

Overlap overlap(Caller& caller, Computing computing, const Effort& effort, MPI_Comm control) {
  const auto timed = [&](const auto& body) {
    meet(control);
    if (effort.pause_s > 0) std::this_thread::sleep_for(std::chrono::duration<double>(effort.pause_s));
    const double begin = MPI_Wtime();
    body();
    return slowest(MPI_Wtime() - begin, control);
  };
  for (long i = 0; i < std::max(effort.warmup, 1L); ++i) caller.call();
  std::vector<double> alone, computing_alone, both;
  double spent_s = 0;
  constexpr std::size_t k_least = 7, k_most = 200;
  for (std::size_t i = 0; i < k_least || (i < k_most && spent_s < effort.seconds); ++i) {
    alone.push_back(timed([&] { caller.call(); }));
    spent_s += alone.back();
  }
  const double seconds = 2 * median(alone);
  for (std::size_t i = 0; i < alone.size(); ++i) {
    computing_alone.push_back(timed([&] { compute(seconds, computing, nullptr); }));
    both.push_back(timed([&] {
      caller.start();
      compute(seconds, computing, &caller);
    }));
  }
  return {median(alone) * 1e6, median(computing_alone) * 1e6, median(both) * 1e6};
}

}  // namespace colltopo::bench
