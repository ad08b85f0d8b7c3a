// ReadCompatNote of cuda_compat.h: one ELF section by its name, one note in it by its owner.
#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "host/cuda_compat.h"

namespace pawl::host {
namespace {

constexpr std::string_view kSection = ".note.cuda.fwd_compatibility";
constexpr std::string_view kOwner = "NVIDIA Corporation";

// What a real file stays far below; one that claims more is not read.
constexpr size_t kMaxSections = 4096;
constexpr size_t kMaxNames = 65536;
constexpr size_t kMaxNotes = 65536;

template <typename T>
bool ReadAt(int file, uint64_t offset, std::vector<T>& out) {
  const size_t size = out.size() * sizeof(T);
  if (offset > static_cast<uint64_t>(INT64_MAX) - size) return false;
  return pread(file, out.data(), size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
}

std::vector<Elf64_Shdr> ReadSections(int file, size_t& names_index) {
  std::vector<Elf64_Ehdr> headers(1);
  if (!ReadAt(file, 0, headers)) return {};
  const Elf64_Ehdr& header = headers.front();
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_shentsize != sizeof(Elf64_Shdr) ||
      header.e_shnum > kMaxSections || header.e_shstrndx >= header.e_shnum) {
    return {};
  }
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  if (!ReadAt(file, header.e_shoff, sections)) return {};
  names_index = header.e_shstrndx;
  return sections;
}

std::vector<char> ReadSection(int file, const Elf64_Shdr& section, size_t limit) {
  if (section.sh_size > limit) return {};
  std::vector<char> content(section.sh_size);
  if (!ReadAt(file, section.sh_offset, content)) return {};
  return content;
}

std::vector<char> ReadNotes(int file) {
  size_t names_index = 0;
  const std::vector<Elf64_Shdr> sections = ReadSections(file, names_index);
  if (sections.empty()) return {};
  const std::vector<char> names = ReadSection(file, sections[names_index], kMaxNames);
  const std::string_view text(names.data(), names.size());
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_NOTE || section.sh_name >= text.size()) continue;
    const size_t end = text.find('\0', section.sh_name);
    if (end == std::string_view::npos) continue;
    if (text.substr(section.sh_name, end - section.sh_name) == kSection) {
      return ReadSection(file, section, kMaxNotes);
    }
  }
  return {};
}

size_t Padded(size_t size) { return (size + 3) / 4 * 4; }

}  // namespace

std::optional<CompatNote> ReadCompatNote(int file) {
  const std::vector<char> notes = ReadNotes(file);
  const std::string_view bytes(notes.data(), notes.size());
  size_t at = 0;
  while (bytes.size() - at >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr header{};
    std::memcpy(&header, bytes.data() + at, sizeof header);
    at += sizeof header;
    const size_t name_size = header.n_namesz;
    const size_t text_size = header.n_descsz;
    const size_t left = bytes.size() - at;
    if (name_size > left || Padded(name_size) > left || text_size > left - Padded(name_size)) break;
    std::string_view owner = bytes.substr(at, name_size);
    while (owner.ends_with('\0')) owner.remove_suffix(1);
    if (owner == kOwner) return ParseCompatNote(bytes.substr(at + Padded(name_size), text_size));
    at += Padded(name_size);
    at += std::min(Padded(text_size), bytes.size() - at);
  }
  return std::nullopt;
}

}  // namespace pawl::host
