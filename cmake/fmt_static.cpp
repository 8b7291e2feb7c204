// {fmt} as a static library, compiled from its headers: Debian ships only a shared one. Using the
// headers alone would compile all of this in every file, which doubles the time of a build.
#include <fmt/format-inl.h>

namespace fmt::detail {

// What the headers declare `extern template`, and what their inline parts call.
template thousands_sep_result<char> thousands_sep_impl(locale_ref);
template thousands_sep_result<wchar_t> thousands_sep_impl(locale_ref);
template char decimal_point_impl(locale_ref);
template wchar_t decimal_point_impl(locale_ref);
template void buffer<char>::append(const char*, const char*);
template void vformat_to(buffer<char>&, string_view, basic_format_args<buffer_context<char>>,
                         locale_ref);
template dragonbox::decimal_fp<float> dragonbox::to_decimal(float) noexcept;
template dragonbox::decimal_fp<double> dragonbox::to_decimal(double) noexcept;
template locale_ref::locale_ref(const std::locale&);
template std::locale locale_ref::get<std::locale>() const;

}  // namespace fmt::detail
