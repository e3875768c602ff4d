// What fmt's shared library holds, compiled once and linked into what needs it: that library would bring the C++
// runtime into every C program that loads the component, and compiling all of it in every file takes three quarters of
// a build.
//
// fmt's functions are in a header that its library and this file include without asking for inline ones. Of its
// templates, files that leave the header out ask for these; what were missing would not link.
#include <fmt/format-inl.h>

namespace fmt::detail {

template dragonbox::decimal_fp<float> dragonbox::to_decimal(float) noexcept;
template dragonbox::decimal_fp<double> dragonbox::to_decimal(double) noexcept;
template thousands_sep_result<char> thousands_sep_impl<char>(locale_ref);
template char decimal_point_impl<char>(locale_ref);
template std::locale locale_ref::get<std::locale>() const;
#if FMT_VERSION < 110000
template void vformat_to(buffer<char>&, string_view, basic_format_args<format_context>, locale_ref);
#endif

}  // namespace fmt::detail
