// What previous components are known to do, priced as if we did it.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "choice/previous.h"
#include "choice/variants.h"

namespace colltopo {

class Played {
 public:
  /// The terrain must stay.
  Played(const Terrain& terrain, const Machine& machine);

  /// As parts_of_previous(), on the ranks of the terrain.
  std::vector<Part> parts_of(std::string_view component, Collective collective, std::size_t bytes) const;
  /// "binomial + recursive-doubling + binomial".
  std::string names_of(std::span<const Part> parts);

  using Factor = std::function<double(const Part&)>;
  /// Of parts that follow each other, each times its factor. What is clearly behind `best` seconds by its count alone,
  /// or by what it takes at least even if only this part of it counts (`lead`, at most 1), needs no programs.
  double seconds_of(std::span<const Part> parts, double best, double lead, const Factor& factor);

 private:
  struct Known {
    Part part;
    Variant variant;
  };
  Variant& variant_of(const Part& part);
  const Terrain& terrain_of(Level level);

  const Terrain& all_;
  Machine machine_;
  std::unique_ptr<Terrain> within_, between_;
  std::deque<Known> known_;
};

}  // namespace colltopo
