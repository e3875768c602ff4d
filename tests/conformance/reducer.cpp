// The table of operations. All results are exact: small integers, in floating point too.
#include "reducer.h"

#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>

namespace conformance {

namespace {

template <typename Value>
Value value_at(const unsigned char* at) {
  Value value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <typename Value>
void put(const Value& value, unsigned char* to) {
  std::memcpy(to, &value, sizeof value);
}

/// So small that 32 of them add up in 8 bits without a sign, and 1,000 of wider ones in their bits.
template <typename Value>
void draw_small(std::uint64_t hash, unsigned char* to) {
  if constexpr (sizeof(Value) == 1) {
    put(static_cast<Value>(hash % 8), to);
  } else if constexpr (std::is_same_v<Value, std::complex<double>>) {
    put(Value(static_cast<double>(hash % 9) - 4, static_cast<double>(hash / 16 % 9) - 4), to);
  } else if constexpr (std::is_unsigned_v<Value>) {
    put(static_cast<Value>(hash % 21), to);
  } else {
    put(static_cast<Value>(static_cast<int>(hash % 21) - 10), to);
  }
}

template <typename Value>
void draw_factor(std::uint64_t hash, unsigned char* to) {
  const int factor = hash % 16 == 0 ? 2 : hash % 2 == 0 ? 1 : -1;
  put(static_cast<Value>(std::is_floating_point_v<Value> || factor != 2 ? factor : 1), to);
}

template <typename Value>
void draw_bits(std::uint64_t hash, unsigned char* to) {
  put(static_cast<Value>(hash), to);
}

template <typename Value>
void draw_truth(std::uint64_t hash, unsigned char* to) {
  put(static_cast<Value>(hash % 8 == 0 ? 0 : hash % 5), to);
}

/// The layout of MPI's pairs of a value and an int.
template <typename Value>
struct Located {
  Value value;
  int index;
};

template <typename Value>
void draw_located(std::uint64_t hash, unsigned char* to) {
  put(static_cast<Value>(hash % 3), to);
  put(static_cast<int>(hash / 8 % 100), to + offsetof(Located<Value>, index));
}

template <typename Value, typename Function>
void combine(const unsigned char* left, unsigned char* right) {
  put(static_cast<Value>(Function()(value_at<Value>(left), value_at<Value>(right))), right);
}

template <typename Value, bool least>
void locate(const unsigned char* left, unsigned char* right) {
  constexpr std::size_t k_index = offsetof(Located<Value>, index);
  const Value a = value_at<Value>(left), b = value_at<Value>(right);
  const int i = value_at<int>(left + k_index), j = value_at<int>(right + k_index);
  const bool ahead = least ? a < b : a > b;
  put(a == b || !ahead ? b : a, right);
  put(a == b ? std::min(i, j) : ahead ? i : j, right + k_index);
}

struct Sum {
  template <typename V>
  V operator()(V a, V b) const {
    return static_cast<V>(a + b);
  }
};
struct Product {
  template <typename V>
  V operator()(V a, V b) const {
    return static_cast<V>(a * b);
  }
};
struct Least {
  template <typename V>
  V operator()(V a, V b) const {
    return b < a ? b : a;
  }
};
struct Most {
  template <typename V>
  V operator()(V a, V b) const {
    return a < b ? b : a;
  }
};
struct BitsOfBoth {
  template <typename V>
  V operator()(V a, V b) const {
    return static_cast<V>(a & b);
  }
};
struct BitsOfEither {
  template <typename V>
  V operator()(V a, V b) const {
    return static_cast<V>(a | b);
  }
};
struct BitsOfOne {
  template <typename V>
  V operator()(V a, V b) const {
    return static_cast<V>(a ^ b);
  }
};
struct Both {
  template <typename V>
  V operator()(V a, V b) const {
    return static_cast<V>(a != 0 && b != 0);
  }
};
struct Either {
  template <typename V>
  V operator()(V a, V b) const {
    return static_cast<V>(a != 0 || b != 0);
  }
};
struct One {
  template <typename V>
  V operator()(V a, V b) const {
    return static_cast<V>((a != 0) != (b != 0));
  }
};

constexpr std::uint32_t k_prime = 251;

/// x -> a * x + b modulo a prime, with a and b in the halves of a word: maps, one after the other, which do not
/// commute.
struct After {
  std::uint32_t operator()(std::uint32_t left, std::uint32_t right) const {
    const std::uint32_t a = left >> 16, b = left & 0xffff, c = right >> 16, d = right & 0xffff;
    return (a * c % k_prime) << 16 | (b * c + d) % k_prime;
  }
};
struct SumModuloPrime {
  std::uint32_t operator()(std::uint32_t left, std::uint32_t right) const { return (left + right) % k_prime; }
};
void draw_map(std::uint64_t hash, unsigned char* to) {
  put(static_cast<std::uint32_t>((1 + hash % (k_prime - 1)) << 16 | hash / 1024 % k_prime), to);
}
void draw_remainder(std::uint64_t hash, unsigned char* to) { put(static_cast<std::uint32_t>(hash % k_prime), to); }

template <typename Function>
void on_words(void* left, void* right, int* count, MPI_Datatype* type) {
  const Layout* layout = *type == MPI_UNSIGNED ? nullptr : layout_named(*type);
  const std::ptrdiff_t extent = layout != nullptr ? layout->extent : 4;
  const std::vector<std::ptrdiff_t> first = {0};
  for (int i = 0; i < *count; ++i)
    for (const std::ptrdiff_t place : layout != nullptr ? layout->places : first)
      combine<std::uint32_t, Function>(static_cast<unsigned char*>(left) + i * extent + place,
                                       static_cast<unsigned char*>(right) + i * extent + place);
}

template <typename Value>
void add_arithmetic(std::vector<Reducer>& all, const Basic* basic) {
  all.push_back({"MPI_SUM", basic, MPI_SUM, nullptr, true, draw_small<Value>, combine<Value, Sum>});
  all.push_back({"MPI_MAX", basic, MPI_MAX, nullptr, true, draw_small<Value>, combine<Value, Most>});
  all.push_back({"MPI_MIN", basic, MPI_MIN, nullptr, true, draw_small<Value>, combine<Value, Least>});
  if constexpr (sizeof(Value) > 1) {
    all.push_back({"MPI_PROD", basic, MPI_PROD, nullptr, true, draw_factor<Value>, combine<Value, Product>});
  }
}

template <typename Value>
void add_bits(std::vector<Reducer>& all, const Basic* basic) {
  all.push_back({"MPI_BAND", basic, MPI_BAND, nullptr, true, draw_bits<Value>, combine<Value, BitsOfBoth>});
  all.push_back({"MPI_BOR", basic, MPI_BOR, nullptr, true, draw_bits<Value>, combine<Value, BitsOfEither>});
  all.push_back({"MPI_BXOR", basic, MPI_BXOR, nullptr, true, draw_bits<Value>, combine<Value, BitsOfOne>});
  all.push_back({"MPI_LAND", basic, MPI_LAND, nullptr, true, draw_truth<Value>, combine<Value, Both>});
  all.push_back({"MPI_LOR", basic, MPI_LOR, nullptr, true, draw_truth<Value>, combine<Value, Either>});
  all.push_back({"MPI_LXOR", basic, MPI_LXOR, nullptr, true, draw_truth<Value>, combine<Value, One>});
}

template <typename Value>
void add_located(std::vector<Reducer>& all, const Basic* basic) {
  all.push_back({"MPI_MINLOC", basic, MPI_MINLOC, nullptr, true, draw_located<Value>, locate<Value, true>});
  all.push_back({"MPI_MAXLOC", basic, MPI_MAXLOC, nullptr, true, draw_located<Value>, locate<Value, false>});
}

std::vector<Reducer> table() {
  static const Basic k_int = {"MPI_INT", MPI_INT, 4, 4}, k_long = {"MPI_LONG", MPI_LONG, 8, 8},
                     k_byte = {"MPI_UINT8_T", MPI_UINT8_T, 1, 1}, k_short = {"MPI_SHORT", MPI_SHORT, 2, 2},
                     k_float = {"MPI_FLOAT", MPI_FLOAT, 4, 4}, k_double = {"MPI_DOUBLE", MPI_DOUBLE, 8, 8},
                     k_word = {"MPI_UNSIGNED", MPI_UNSIGNED, 4, 4}, k_2int = {"MPI_2INT", MPI_2INT, 8, 8},
                     k_complex = {"MPI_C_DOUBLE_COMPLEX", MPI_C_DOUBLE_COMPLEX, 16, 16},
                     k_double_int = {"MPI_DOUBLE_INT", MPI_DOUBLE_INT, 12, 16},
                     k_float_int = {"MPI_FLOAT_INT", MPI_FLOAT_INT, 8, 8};
  std::vector<Reducer> all;
  add_arithmetic<int>(all, &k_int);
  add_arithmetic<long>(all, &k_long);
  add_arithmetic<short>(all, &k_short);
  add_arithmetic<std::uint8_t>(all, &k_byte);
  add_arithmetic<float>(all, &k_float);
  add_arithmetic<double>(all, &k_double);
  add_bits<int>(all, &k_int);
  add_bits<std::uint8_t>(all, &k_byte);
  add_bits<long>(all, &k_long);
  add_located<int>(all, &k_2int);
  add_located<double>(all, &k_double_int);
  add_located<float>(all, &k_float_int);
  all.push_back({"MPI_SUM", &k_complex, MPI_SUM, nullptr, true, draw_small<std::complex<double>>,
                 combine<std::complex<double>, Sum>});
  // As often as all others together, for only these take derived datatypes, and only some rows keep the order of ranks.
  for (int times = 0; times < 16; ++times) {
    all.push_back({"one map after the other", &k_word, MPI_OP_NULL, on_words<After>, false, draw_map,
                   combine<std::uint32_t, After>});
    all.push_back({"sum modulo 251", &k_word, MPI_OP_NULL, on_words<SumModuloPrime>, true, draw_remainder,
                   combine<std::uint32_t, SumModuloPrime>});
  }
  return all;
}

}  // namespace

const std::vector<Reducer>& reducers() {
  static const std::vector<Reducer> all = table();
  return all;
}

Values contribution(const Reducer& reducer, std::uint64_t key, int rank, std::size_t first) {
  return [&reducer, own = hash_of(key, static_cast<std::uint64_t>(rank)), first](std::uint64_t round, std::size_t i,
                                                                                 unsigned char* to) {
    reducer.draw(spread(own + 0x9e3779b97f4a7c15U * (first + i) + (round << 48)), to);
  };
}

Values reduced(const Reducer& reducer, std::uint64_t key, int ranks, std::size_t first) {
  std::vector<Values> of;
  for (int rank = 0; rank < ranks; ++rank) of.push_back(contribution(reducer, key, rank, first));
  return [&reducer, of](std::uint64_t round, std::size_t i, unsigned char* to) {
    unsigned char all[16], next[16];
    of[0](round, i, all);
    for (std::size_t rank = 1; rank < of.size(); ++rank) {
      of[rank](round, i, next);
      reducer.combine(all, next);
      std::memcpy(all, next, sizeof all);
    }
    std::memcpy(to, all, static_cast<std::size_t>(reducer.basic->size));
  };
}

}  // namespace conformance
