// Datatypes of the conformance test: where each basic element of one element of a datatype lies, known beside the
// handle.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "dice.h"

namespace conformance {

/// A predefined datatype.
struct Basic {
  std::string name;
  MPI_Datatype type;
  int size;    // bytes that carry data, from the first on
  int extent;  // bytes
};

/// Those that data is moved as.
const std::vector<Basic>& basics();

/// A datatype of `places.size()` basic elements, in the order of its type map. The handle lives as long as this, or
/// until free_type().
struct Layout {
  Layout() = default;
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;
  ~Layout() { free_type(); }

  void free_type();
  std::ptrdiff_t least() const;  // byte of the first place, from the element's beginning
  std::ptrdiff_t most() const;   // behind the last

  MPI_Datatype type = MPI_DATATYPE_NULL;
  bool owned = false;
  const Basic* basic = nullptr;
  std::vector<std::ptrdiff_t> places;
  std::ptrdiff_t extent = 0;
  std::string about;
};

using LayoutOwner = std::shared_ptr<Layout>;

/// Any datatype with `per_element` basic elements, of which a buffer has at most `elements` one after another.
LayoutOwner any_layout(Dice& dice, const Basic& basic, int per_element, int elements);
/// The predefined datatype itself.
LayoutOwner plain_layout(const Basic& basic);
/// A datatype without data.
LayoutOwner empty_layout(Dice& dice, const Basic& basic);
/// `layout` as seen from MPI_BOTTOM, its beginning at `origin`.
LayoutOwner from_bottom(const Layout& layout, const void* origin);

/// Lets operations know a datatype by its handle, also by that of a duplicate; `layout` must outlive the handle.
void name_layout(const Layout& layout);
const Layout* layout_named(MPI_Datatype type);

}  // namespace conformance
