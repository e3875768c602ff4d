// The exponential potential of the loads, whose gradient is the length that a path pays for a link.
//
// With u_e = load / (capacity * time) the length of class e is prior_e * exp(beta * (u_e - 1)) / capacity. Minimising
// the potential under growing beta, or under priors multiplied again and again by those exponentials (the exponential
// method of multipliers), leads to the smallest largest load; the lengths lead to the dual optimum that proves it.
//
// A pair has 4 units to send over e, of capacity 1, or f, of capacity 3; time and priors are 1:
//
//                    e (1)             beta     load e, f      u e, f         length e, f
//                 .--------->.         4        2     2        2     0.67     54.6  0.09    f is shorter: goes there
//               s              t       4        0.79  3.21     0.79  1.07     0.44  0.44    at rest, 7% above optimum
//                 '--------->'         40       0.98  3.02     0.98  1.01     0.44  0.44    at rest, 0.7% above
//                    f (3)
//
// At rest both ways are equally long, so 4 * 0.44 over 0.44 * (1 + 3) proves that no flow takes less than 1.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace colltopo::synthesis {

class LinkPotential {
 public:
  explicit LinkPotential(std::span<const double> capacity);

  std::span<const double> loads() const { return load_; }
  std::span<const double> lengths() const { return length_; }
  double length(std::size_t e) const { return length_[e]; }
  double beta() const { return beta_; }
  double time() const { return time_; }

  /// The largest load over capacity.
  double largest() const;
  /// Sum of load * length over sum of capacity * length: the time if the lengths were the dual optimum.
  double mean() const;
  /// Sum of length * capacity.
  double volume() const;

  void set_loads(std::span<const double> loads);
  /// Priors that make these the lengths where all links are equally busy.
  void set_priors(std::span<const double> lengths);
  /// Lengths from the loads, exactly.
  void set(double beta, double time);
  /// Lengths become the priors, but none less than `floor` times the largest: a link whose prior has vanished would
  /// look free until it is overloaded.
  void absorb(double floor);

  /// Priors of overloaded classes grow to their lengths; the others keep theirs.
  void absorb_excess();

  /// The class gets `amount` more load, and its length follows.
  void add(std::size_t e, double amount);
  /// beta / (capacity * time): the growth of the logarithm of the length with the load.
  double rate(std::size_t e) const { return rate_[e]; }

  /// Lengths of `master` and no loads; rates are master's times `companions`: lengths follow as if so many did alike.
  /// The same master at every call.
  void restart_from(const LinkPotential& master, double companions);
  /// The load that classes [first, last) have got in all of `copies` together since those were restarted.
  static void changes(std::span<const LinkPotential> copies, std::size_t first, std::size_t last,
                      std::span<double> changes);
  /// Adds changes to classes [first, last), as add() does.
  void apply(std::span<const double> changes, std::size_t first, std::size_t last);

 private:
  std::vector<double> capacity_, log_prior_, load_, length_, rate_;  // [class]
  double beta_ = 1;
  double time_ = 1;
  std::uint64_t rates_set_ = 0;    // how often
  std::uint64_t rates_taken_ = 0;  // of a copy: its master's rates_set_ when it took them,
  double companions_taken_ = 0;    // and for how many
};

}  // namespace colltopo::synthesis
