// The one thing that we read of an ELF file: its SONAME, the name under which programs that were
// linked with a library ask for it.
#pragma once

#include <optional>
#include <string>

namespace pawl::cdi {

// Of a 64-bit little-endian ELF file. Nothing where the file is anything else, is cut short, or has
// no SONAME fit to be a file name. Reads some hundred bytes, whatever the file's size and whatever
// its headers claim.
std::optional<std::string> ReadSoname(const std::string& path);

}  // namespace pawl::cdi
