// What fmt's shared library holds, compiled once and linked into what needs it: that library would bring the C++
// runtime into every C program that loads the component, and compiling all of it in every file takes three quarters of
// a build.
//
// fmt is made here as for programs that use its headers alone, whose functions are inline: an address taken has one
// emitted. The list is what files that leave them out ask for; what were missing would not link.
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <string>

namespace {

namespace detail = fmt::detail;

struct Needed {
  std::string (*format)(fmt::string_view, fmt::format_args) = &fmt::vformat;
  void (*print)(fmt::string_view, fmt::format_args) = &fmt::vprint;
  void (*print_to)(std::FILE*, fmt::string_view, fmt::format_args) = &fmt::vprint;
  void (*fail)(const char*) = &detail::throw_format_error;
  bool (*is_printable)(std::uint32_t) = &detail::is_printable;
  detail::thousands_sep_result<char> (*thousands)(detail::locale_ref) = &detail::thousands_sep_impl<char>;
  char (*point)(detail::locale_ref) = &detail::decimal_point_impl<char>;
  detail::dragonbox::decimal_fp<float> (*decimal_float)(float) = &detail::dragonbox::to_decimal<float>;
  detail::dragonbox::decimal_fp<double> (*decimal_double)(double) = &detail::dragonbox::to_decimal<double>;
};

[[gnu::used]] const Needed k_needed;

}  // namespace
