// Text within SVG and HTML: names come from files and may be anything.
//
//   escaped("a<b & \"c\"")           a&lt;b &amp; &quot;c&quot;
//   data_link("text/csv", csv)       data:text/csv;charset=utf-8,...      what a link can be to without a file
#pragma once

#include <string>
#include <string_view>

namespace eureka::figure {

// For content and for attributes in double quotes. What a terminal would obey is escaped as by printable(), which also
// leaves only characters that XML allows.
std::string escaped(std::string_view text);

// Fit for an attribute in double quotes as it is.
std::string data_link(std::string_view media_type, std::string_view content);

std::string base64(std::string_view bytes);

}  // namespace eureka::figure
