// The families of datatypes, and where their elements lie.
#include "layout.h"

#include <algorithm>

namespace conformance {

namespace {

using Places = std::vector<std::ptrdiff_t>;

/// What all constructors have at hand.
struct Wanted {
  Dice& dice;
  const Basic& basic;
  int per_element, elements;
};

struct Made {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  Places places;
  const char* about = "";
};

int divisor_of(Dice& dice, int number) {
  std::vector<int> all;
  for (int i = 1; i <= number; ++i)
    if (number % i == 0) all.push_back(i);
  return dice.one_of(all);
}

void replace(MPI_Datatype& type, std::ptrdiff_t lower, std::ptrdiff_t extent) {
  MPI_Datatype resized = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(type, lower, extent, &resized);
  MPI_Type_free(&type);
  type = resized;
}

Made contiguous(const Wanted& wanted) {
  Made made{MPI_DATATYPE_NULL, {}, "contiguous"};
  MPI_Type_contiguous(wanted.per_element, wanted.basic.type, &made.type);
  for (int i = 0; i < wanted.per_element; ++i) made.places.push_back(std::ptrdiff_t{i} * wanted.basic.extent);
  return made;
}

Made vector_of(const Wanted& wanted, int length, int stride) {
  Made made{MPI_DATATYPE_NULL, {}, "vector"};
  const int blocks = wanted.per_element / length;
  MPI_Type_vector(blocks, length, stride, wanted.basic.type, &made.type);
  for (int block = 0; block < blocks; ++block)
    for (int i = 0; i < length; ++i) made.places.push_back((std::ptrdiff_t{block} * stride + i) * wanted.basic.extent);
  return made;
}

Made vector(const Wanted& wanted) {
  const int length = divisor_of(wanted.dice, wanted.per_element);
  return vector_of(wanted, length, length + wanted.dice.between(1, 3));
}

/// Elements one by one at ascending or any places, also before the beginning.
Made indexed(const Wanted& wanted) {
  Made made{MPI_DATATYPE_NULL, {}, "indexed"};
  std::ptrdiff_t at = wanted.dice.one_in(3) ? -wanted.dice.between(1, 4) : wanted.dice.below(2);
  for (int i = 0; i < wanted.per_element; ++i, at += wanted.dice.between(1, 3))
    made.places.push_back(at * wanted.basic.extent);
  if (wanted.dice.one_in(2)) {
    wanted.dice.shuffle(made.places);
    made.about = "indexed in any order";
  }
  std::vector<MPI_Aint> places(made.places.begin(), made.places.end());
  MPI_Type_create_hindexed_block(wanted.per_element, 1, places.data(), wanted.basic.type, &made.type);
  return made;
}

Made structure(const Wanted& wanted) {
  Made made{MPI_DATATYPE_NULL, {}, "struct"};
  const int first = wanted.dice.between(0, wanted.per_element);
  const std::ptrdiff_t begin = std::ptrdiff_t{wanted.dice.between(-2, 2)} * wanted.basic.extent;
  const std::ptrdiff_t next = begin + (std::ptrdiff_t{first} + wanted.dice.below(3)) * wanted.basic.extent;
  int lengths[] = {first, wanted.per_element - first};
  MPI_Aint begins[] = {begin, next};
  MPI_Datatype types[] = {wanted.basic.type, wanted.basic.type};
  MPI_Type_create_struct(2, lengths, begins, types, &made.type);
  for (int part = 0; part < 2; ++part)
    for (int i = 0; i < lengths[part]; ++i)
      made.places.push_back(begins[part] + std::ptrdiff_t{i} * wanted.basic.extent);
  return made;
}

Made wide(const Wanted& wanted) {
  Made made = wanted.dice.one_in(2) ? contiguous(wanted) : vector(wanted);
  made.about = "resized to a larger extent";
  const std::ptrdiff_t end = *std::max_element(made.places.begin(), made.places.end()) + wanted.basic.extent;
  replace(made.type, 0, end + std::ptrdiff_t{wanted.dice.between(1, 3)} * wanted.basic.extent);
  return made;
}

/// A column of a matrix: elements of the datatype that follow each other lie within each other.
Made column(const Wanted& wanted) {
  Made made = vector_of(wanted, 1, wanted.elements + wanted.dice.below(3));
  made.about = "column, resized to a smaller extent";
  replace(made.type, 0, wanted.basic.extent);
  return made;
}

Made lowered(const Wanted& wanted) {
  Made made = vector(wanted);
  made.about = "resized to a negative lower bound";
  const std::ptrdiff_t before = std::ptrdiff_t{wanted.dice.between(1, 3)} * wanted.basic.extent;
  const std::ptrdiff_t end = *std::max_element(made.places.begin(), made.places.end()) + wanted.basic.extent;
  replace(made.type, -before, before + end);
  return made;
}

Made nested(const Wanted& wanted) {
  const int inner = divisor_of(wanted.dice, wanted.per_element), times = wanted.per_element / inner;
  Made part = wide({wanted.dice, wanted.basic, inner, times});
  Made made{MPI_DATATYPE_NULL, {}, "contiguous of resized"};
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_get_extent(part.type, &lower, &extent);
  MPI_Type_contiguous(times, part.type, &made.type);
  MPI_Type_free(&part.type);
  for (int i = 0; i < times; ++i)
    for (const std::ptrdiff_t place : part.places) made.places.push_back(i * std::ptrdiff_t{extent} + place);
  return made;
}

Made duplicate(const Wanted& wanted) {
  Made made = structure(wanted);
  MPI_Datatype copy = MPI_DATATYPE_NULL;
  MPI_Type_dup(made.type, &copy);
  MPI_Type_free(&made.type);
  made.type = copy;
  made.about = "duplicate of a struct";
  return made;
}

LayoutOwner owner_of(Made made, const Basic& basic) {
  auto layout = std::make_shared<Layout>();
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_get_extent(made.type, &lower, &extent);
  MPI_Type_commit(&made.type);
  layout->type = made.type;
  layout->owned = true;
  layout->basic = &basic;
  layout->places = std::move(made.places);
  layout->extent = extent;
  layout->about = std::string(made.about) + " of " + std::to_string(layout->places.size()) + " " + basic.name;
  return layout;
}

int layout_key() {
  static int key = MPI_KEYVAL_INVALID;
  if (key == MPI_KEYVAL_INVALID) MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &key, nullptr);
  return key;
}

}  // namespace

const std::vector<Basic>& basics() {
  static const std::vector<Basic> all = {{"MPI_INT", MPI_INT, 4, 4},
                                         {"MPI_DOUBLE", MPI_DOUBLE, 8, 8},
                                         {"MPI_BYTE", MPI_BYTE, 1, 1},
                                         {"MPI_CHAR", MPI_CHAR, 1, 1},
                                         {"MPI_SHORT", MPI_SHORT, 2, 2},
                                         {"MPI_FLOAT", MPI_FLOAT, 4, 4},
                                         {"MPI_LONG", MPI_LONG, 8, 8},
                                         {"MPI_UNSIGNED", MPI_UNSIGNED, 4, 4},
                                         {"MPI_INT64_T", MPI_INT64_T, 8, 8},
                                         {"MPI_2INT", MPI_2INT, 8, 8},
                                         {"MPI_DOUBLE_INT", MPI_DOUBLE_INT, 12, 16},
                                         {"MPI_AINT", MPI_AINT, 8, 8},
                                         {"MPI_UINT8_T", MPI_UINT8_T, 1, 1}};
  return all;
}

void Layout::free_type() {
  if (owned && type != MPI_DATATYPE_NULL) MPI_Type_free(&type);
  owned = false;
}

std::ptrdiff_t Layout::least() const { return *std::min_element(places.begin(), places.end()); }
std::ptrdiff_t Layout::most() const { return *std::max_element(places.begin(), places.end()) + basic->size; }

LayoutOwner plain_layout(const Basic& basic) {
  auto layout = std::make_shared<Layout>();
  layout->type = basic.type;
  layout->basic = &basic;
  layout->places = {0};
  layout->extent = basic.extent;
  layout->about = basic.name;
  return layout;
}

LayoutOwner any_layout(Dice& dice, const Basic& basic, int per_element, int elements) {
  if (per_element == 1 && dice.below(4) != 0) return plain_layout(basic);
  const Wanted wanted{dice, basic, per_element, std::max(elements, 1)};
  switch (dice.below(9)) {
    case 0:
      return owner_of(contiguous(wanted), basic);
    case 1:
      return owner_of(vector(wanted), basic);
    case 2:
      return owner_of(indexed(wanted), basic);
    case 3:
      return owner_of(structure(wanted), basic);
    case 4:
      return owner_of(wide(wanted), basic);
    case 5:
      return owner_of(column(wanted), basic);
    case 6:
      return owner_of(lowered(wanted), basic);
    case 7:
      return owner_of(nested(wanted), basic);
    default:
      return owner_of(duplicate(wanted), basic);
  }
}

LayoutOwner empty_layout(Dice& dice, const Basic& basic) {
  Made made{MPI_DATATYPE_NULL, {}, "nothing"};
  MPI_Type_contiguous(0, basic.type, &made.type);
  if (dice.one_in(2)) {
    made.about = "nothing, resized";
    replace(made.type, 0, 8);
  }
  return owner_of(std::move(made), basic);
}

LayoutOwner from_bottom(const Layout& layout, const void* origin) {
  MPI_Aint address = 0, lower = 0, extent = 0;
  MPI_Get_address(origin, &address);
  MPI_Type_get_extent(layout.type, &lower, &extent);
  int one = 1;
  Made made{MPI_DATATYPE_NULL, layout.places, ""};
  MPI_Datatype of[] = {layout.type};
  MPI_Type_create_struct(1, &one, &address, of, &made.type);
  replace(made.type, address + lower, extent);
  LayoutOwner owner = owner_of(std::move(made), *layout.basic);
  owner->about = layout.about + " from MPI_BOTTOM";
  return owner;
}

void name_layout(const Layout& layout) { MPI_Type_set_attr(layout.type, layout_key(), const_cast<Layout*>(&layout)); }

const Layout* layout_named(MPI_Datatype type) {
  void* layout = nullptr;
  int found = 0;
  MPI_Type_get_attr(type, layout_key(), &layout, &found);
  return found != 0 ? static_cast<const Layout*>(layout) : nullptr;
}

}  // namespace conformance
