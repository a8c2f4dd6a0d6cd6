// SHA-512 (FIPS 180-4), the checksum npm publishes of every package.
//
//   sha512_hex("abc") == "ddaf35a193617aba...a54ca49f"
#pragma once

#include <string>
#include <string_view>

namespace eureka {

std::string sha512_hex(std::string_view bytes);

}  // namespace eureka
