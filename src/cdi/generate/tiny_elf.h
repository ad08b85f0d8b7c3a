// For tests: the smallest shared library that has a SONAME.
#pragma once

#include <elf.h>

#include <cstring>
#include <string>

namespace pawl::cdi {

inline std::string TinyElf(const std::string& soname) {
  constexpr size_t kHeaders = sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr);
  constexpr size_t kStrings = kHeaders + 3 * sizeof(Elf64_Dyn);
  constexpr Elf64_Addr kBase = 0x1000;  // so that an address is not an offset by chance
  const std::string strings = std::string(1, '\0') + soname + '\0';

  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_phoff = sizeof(Elf64_Ehdr);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 2;
  Elf64_Phdr load{};
  load.p_type = PT_LOAD;
  load.p_vaddr = kBase;
  load.p_filesz = kStrings + strings.size();
  Elf64_Phdr dynamic{};
  dynamic.p_type = PT_DYNAMIC;
  dynamic.p_offset = kHeaders;
  dynamic.p_vaddr = kBase + kHeaders;
  dynamic.p_filesz = 3 * sizeof(Elf64_Dyn);
  Elf64_Dyn table[3] = {};
  table[0].d_tag = DT_STRTAB;
  table[0].d_un.d_ptr = kBase + kStrings;
  table[1].d_tag = DT_SONAME;
  table[1].d_un.d_val = 1;

  std::string file;
  const auto append = [&](const auto& part) {
    file.append(reinterpret_cast<const char*>(&part), sizeof part);
  };
  append(header);
  append(load);
  append(dynamic);
  append(table);
  return file + strings;
}

}  // namespace pawl::cdi
