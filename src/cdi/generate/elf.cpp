#include "cdi/generate/elf.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "base/files.h"

namespace pawl::cdi {
namespace {

// More than any real library has; a file that claims more is not read.
constexpr size_t kMaxProgramHeaders = 256;
constexpr size_t kMaxDynamicEntries = 4096;
constexpr size_t kMaxSoname = 255;

template <typename T>
bool ReadAt(int fd, uint64_t offset, std::vector<T>& out) {
  const size_t size = out.size() * sizeof(T);
  if (offset > static_cast<uint64_t>(INT64_MAX) - size) return false;
  return pread(fd, out.data(), size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
}

std::optional<Elf64_Ehdr> ReadHeader(int fd) {
  std::vector<Elf64_Ehdr> header(1);
  if (!ReadAt(fd, 0, header)) return std::nullopt;
  const Elf64_Ehdr& elf = header.front();
  if (std::memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 || elf.e_ident[EI_CLASS] != ELFCLASS64 ||
      elf.e_ident[EI_DATA] != ELFDATA2LSB || elf.e_phentsize != sizeof(Elf64_Phdr) ||
      elf.e_phnum == 0 || elf.e_phnum > kMaxProgramHeaders) {
    return std::nullopt;
  }
  return elf;
}

// Where a virtual address lies in the file.
std::optional<uint64_t> OffsetOf(const std::vector<Elf64_Phdr>& segments, uint64_t address) {
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr) continue;
    const uint64_t inside = address - segment.p_vaddr;
    if (inside < segment.p_filesz && segment.p_offset <= UINT64_MAX - inside) {
      return segment.p_offset + inside;
    }
  }
  return std::nullopt;
}

struct SonamePlace {
  uint64_t strings = 0;  // virtual address of the string table
  uint64_t offset = 0;   // of the name in it
};

std::optional<SonamePlace> FindSoname(int fd, const std::vector<Elf64_Phdr>& segments) {
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_DYNAMIC) continue;
    const size_t count = segment.p_filesz / sizeof(Elf64_Dyn);
    if (count > kMaxDynamicEntries) return std::nullopt;
    std::vector<Elf64_Dyn> entries(count);
    if (!ReadAt(fd, segment.p_offset, entries)) return std::nullopt;
    std::optional<uint64_t> strings;
    std::optional<uint64_t> soname;
    for (const Elf64_Dyn& entry : entries) {
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_STRTAB) strings = entry.d_un.d_ptr;
      if (entry.d_tag == DT_SONAME) soname = entry.d_un.d_val;
    }
    if (strings && soname) return SonamePlace{*strings, *soname};
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> ReadSoname(const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return std::nullopt;
  const std::optional<Elf64_Ehdr> header = ReadHeader(file.get());
  if (!header) return std::nullopt;
  std::vector<Elf64_Phdr> segments(header->e_phnum);
  if (!ReadAt(file.get(), header->e_phoff, segments)) return std::nullopt;
  const std::optional<SonamePlace> place = FindSoname(file.get(), segments);
  if (!place || place->strings > UINT64_MAX - place->offset) return std::nullopt;
  const std::optional<uint64_t> offset = OffsetOf(segments, place->strings + place->offset);
  if (!offset || *offset > static_cast<uint64_t>(INT64_MAX)) return std::nullopt;

  std::string text(kMaxSoname + 1, '\0');
  const ssize_t got = pread(file.get(), text.data(), text.size(), static_cast<off_t>(*offset));
  if (got <= 0) return std::nullopt;
  const size_t end = text.substr(0, static_cast<size_t>(got)).find('\0');
  if (end == std::string::npos || end == 0) return std::nullopt;
  text.resize(end);
  if (text.find('/') != std::string::npos || text.find("::") != std::string::npos || text == "." ||
      text == "..") {
    return std::nullopt;
  }
  return text;
}

}  // namespace pawl::cdi
