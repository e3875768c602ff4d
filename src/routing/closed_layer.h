// A layer that knows of every two links whether one leads to the other: the transitive closure of its dependencies,
// kept up to date as routes are added (Italiano 1986).
//
// A question is a bit and an answer costs no search; AcyclicLayer (dependencies.h), which searches, is for networks of
// so many links that a bit for each two of them is too much.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "colltopo/topology.h"

namespace colltopo {

class ClosedLayer {
 public:
  /// Memory: links * links / 8 bytes.
  explicit ClosedLayer(std::size_t links);

  /// Takes the route if that leaves no cycle; otherwise nothing changes and it returns false. No link is on it twice.
  bool take(std::span<const LinkId> route);

 private:
  using Word = std::uint64_t;

  std::span<Word> after(LinkId link) {
    return std::span(after_).subspan(static_cast<std::size_t>(link) * words_, words_);
  }
  bool leads(LinkId from, LinkId to) const;
  void add(LinkId held, LinkId wanted);

  std::size_t words_;                         // of a row of bits
  std::vector<Word> after_;                   // [link] what it leads to, one bit per link
  std::vector<std::vector<LinkId>> holders_;  // [link] those whose dependencies on it all others follow from
  std::vector<LinkId> stack_;
};

}  // namespace colltopo
