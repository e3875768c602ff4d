// Datatypes over ints that know where their ints lie, and buffers of them in which every int that no element covers is
// watched.
#pragma once

#include <functional>

#include "mpi_test.h"

namespace mpi_test {

inline constexpr int k_untouched = -777;

/// A datatype over ints, and where its ints lie, in units of an int, in the order of its type map.
struct Layout {
  std::string name;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::vector<long> places;
  long extent = 0;
};

inline MPI_Datatype committed(MPI_Datatype type) {
  MPI_Type_commit(&type);
  return type;
}

inline MPI_Datatype resized(MPI_Datatype type, long lower_ints, long extent_ints) {
  constexpr auto k_int = static_cast<MPI_Aint>(sizeof(int));
  MPI_Datatype result = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(type, lower_ints * k_int, extent_ints * k_int, &result);
  MPI_Type_free(&type);
  return committed(result);
}

inline MPI_Datatype indexed(const std::vector<int>& places) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_indexed_block(static_cast<int>(places.size()), 1, places.data(), MPI_INT, &type);
  return type;
}

/// Room for `elements` of a layout, wherever they lie around the address that MPI is given.
class Buffer {
 public:
  Buffer(const Layout& layout, std::size_t elements)
      : layout_(layout), ints_(k_margin * 2 + static_cast<std::size_t>(layout.extent) * elements, k_untouched) {}

  int* address() { return ints_.data() + k_margin; }
  /// The i-th int of the data.
  int& at(std::size_t i) {
    const std::size_t per_element = layout_.places.size();
    const long place = static_cast<long>(i / per_element) * layout_.extent + layout_.places[i % per_element];
    return address()[place];
  }
  void fill(std::size_t ints, const std::function<int(std::size_t)>& value_at) {
    for (std::size_t i = 0; i < ints; ++i) at(i) = value_at(i);
  }
  /// That the data is as said and everything else untouched.
  void check(const char* what, std::size_t ints, const std::function<int(std::size_t)>& value_at) {
    std::vector<int> wanted(ints_.size(), k_untouched);
    wanted.swap(ints_);
    fill(ints, value_at);
    wanted.swap(ints_);
    for (std::size_t i = 0; i < ints_.size(); ++i) {
      expect(ints_[i] == wanted[i], "%s of '%s': int %zu to be %d, not %d", what, layout_.name.c_str(), i, wanted[i],
             ints_[i]);
    }
  }

 private:
  static constexpr std::size_t k_margin = 600;
  const Layout& layout_;
  std::vector<int> ints_;
};

/// Elements that so many ints of data are.
inline int elements_of(const Layout& layout, std::size_t ints) { return static_cast<int>(ints / layout.places.size()); }

// The operation on a derived datatype knows its layout from here.
inline const Layout* reduced = nullptr;

inline void add_laid_out(void* in, void* inout, int* elements, MPI_Datatype*) {
  for (long element = 0; element < *elements; ++element) {
    for (const long place : reduced->places) {
      static_cast<int*>(inout)[element * reduced->extent + place] +=
          static_cast<int*>(in)[element * reduced->extent + place];
    }
  }
}

}  // namespace mpi_test
