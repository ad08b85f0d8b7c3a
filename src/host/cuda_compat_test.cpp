#include "host/cuda_compat.h"

#include <elf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "base/temporary_folder.h"

namespace pawl::host {
namespace {

// A file with one note section.
std::string ElfWithNote(const std::string& text, const std::string& owner = "NVIDIA Corporation") {
  const auto padded = [](std::string part) {
    part.resize((part.size() + 3) / 4 * 4);
    return part;
  };
  const auto bytes = [](const auto& part) {
    return std::string(reinterpret_cast<const char*>(&part), sizeof part);
  };
  Elf64_Nhdr note_header{static_cast<Elf64_Word>(owner.size() + 1),
                         static_cast<Elf64_Word>(text.size()), 1};
  const std::string note = bytes(note_header) + padded(owner + '\0') + padded(text);
  const std::string names = std::string(1, '\0') + ".note.cuda.fwd_compatibility" + '\0';

  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_shoff = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  header.e_shstrndx = 1;
  const size_t content = sizeof header + 3 * sizeof(Elf64_Shdr);
  Elf64_Shdr none{};
  Elf64_Shdr of_names{};
  of_names.sh_type = SHT_STRTAB;
  of_names.sh_offset = content;
  of_names.sh_size = names.size();
  Elf64_Shdr of_note{};
  of_note.sh_name = 1;
  of_note.sh_type = SHT_NOTE;
  of_note.sh_offset = content + names.size();
  of_note.sh_size = note.size();
  return bytes(header) + bytes(none) + bytes(of_names) + bytes(of_note) + names + note;
}

constexpr const char* kNote =
    R"({"Format":1,"CUDA Version":"12.9","Driver":[535,550,565,570,575],"Device":[1,2]})";

// spec/container-toolkit.md vector 32
TEST(CudaCompat, WithoutANoteANewerMajorVersionIsUsed) {
  const HostCuda host{"222.55.66", ""};
  EXPECT_TRUE(UseCompat("333.88.99", std::nullopt, host));
  EXPECT_FALSE(UseCompat("222.88.99", std::nullopt, host));
  EXPECT_FALSE(UseCompat("111.88.99", std::nullopt, host));
  EXPECT_FALSE(UseCompat("333.88.99", std::nullopt, {"222.55.66", "12.0"}));
  EXPECT_FALSE(UseCompat("333.88.99", std::nullopt, {"", ""}));
}

// spec/container-toolkit.md vector 33
TEST(CudaCompat, TheNoteNamesTheDriversThatItRunsOn) {
  const std::optional<CompatNote> note = ParseCompatNote(kNote);
  ASSERT_TRUE(note);
  EXPECT_TRUE(UseCompat("575.57.08", note, {"570.211.01", ""}));
  EXPECT_TRUE(UseCompat("575.57.08", note, {"575.10.10", ""}));
  EXPECT_FALSE(UseCompat("575.57.08", note, {"575.57.08", ""}));
  EXPECT_FALSE(UseCompat("575.57.08", note, {"590.44.01", ""}));
}

// spec/container-toolkit.md vector 50
TEST(CudaCompat, WithoutADriverVersionTheCudaVersionsAreCompared) {
  const std::optional<CompatNote> note = ParseCompatNote(kNote);
  EXPECT_TRUE(UseCompat("575.57.08", note, {"", "12.8"}));
  EXPECT_FALSE(UseCompat("575.57.08", note, {"", "12.9"}));
  EXPECT_FALSE(UseCompat("575.57.08", note, {"", "12.10"}));
}

TEST(CudaCompat, AnUnreadableNoteIsNone) {
  for (const char* bad : {"", "{", "[]", R"({"Driver":1})", R"({"Driver":["535"]})",
                          R"({"Driver":[535],"Device":{}})"}) {
    EXPECT_FALSE(ParseCompatNote(bad)) << bad;
  }
}

class CompatFolder : public testing::Test {
 protected:
  CompatFolder() : root_(std::move(*ContainerRoot::Open(folder_.path()))) {}

  void Enable(const HostCuda& host) {
    const Status done = EnableCudaCompat(root_, host, "/usr/local/cuda/compat");
    ASSERT_TRUE(done) << done.error().message();
  }
  std::string Conf() {
    return ReadFile(folder_.path() + "/etc/ld.so.conf.d/00-compat-pawl.conf").value_or("(missing)");
  }
  void Link(const std::string& target, const std::string& path) {
    ASSERT_EQ(symlink(target.c_str(), folder_.Path(path).c_str()), 0);
  }

  TemporaryFolder folder_;
  ContainerRoot root_;
};

TEST_F(CompatFolder, IsListedByItsRealName) {
  Link("/usr/local/cuda-12.9", "/usr/local/cuda");
  folder_.Write("/usr/local/cuda-12.9/compat/libcuda.so.575.57.08", ElfWithNote(kNote));
  Link("libcuda.so.575.57.08", "/usr/local/cuda-12.9/compat/libcuda.so.1");
  Enable({"550.107.02", ""});
  EXPECT_EQ(Conf(), "/usr/local/cuda-12.9/compat\n");
  Enable({"575.57.08", ""});  // the container starts again on a newer driver
  EXPECT_EQ(Conf(), "(missing)");
}

TEST_F(CompatFolder, IsNotUsedWithTwoLibrariesOrOnlyALink) {
  folder_.Write("/usr/local/cuda/compat/libcuda.so.575.57.08", "x");
  folder_.Write("/usr/local/cuda/compat/libcuda.so.560.1.2", "x");
  Enable({"550.107.02", ""});
  EXPECT_EQ(Conf(), "(missing)");
  ASSERT_TRUE(RemoveFile(folder_.path() + "/usr/local/cuda/compat/libcuda.so.560.1.2"));
  Enable({"550.107.02", ""});
  EXPECT_EQ(Conf(), "/usr/local/cuda/compat\n");
  ASSERT_TRUE(RemoveFile(folder_.path() + "/usr/local/cuda/compat/libcuda.so.575.57.08"));
  Link("elsewhere", "/usr/local/cuda/compat/libcuda.so.575.57.08");
  Enable({"550.107.02", ""});
  EXPECT_EQ(Conf(), "(missing)");
}

TEST_F(CompatFolder, ThatIsMissingIsNoWork) {
  Enable({"550.107.02", ""});
  EXPECT_FALSE(Exists(folder_.path() + "/etc"));
}

std::optional<CompatNote> NoteOf(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return ReadCompatNote(file.get());
}

TEST_F(CompatFolder, NotesAreFoundByTheirOwner) {
  const std::string path = folder_.Path("lib");
  EXPECT_TRUE(NoteOf(path, ElfWithNote(kNote)));
  EXPECT_FALSE(NoteOf(path, ElfWithNote(kNote, "GNU")));
}

TEST_F(CompatFolder, ADamagedFileIsReadWithinBounds) {
  const std::string path = folder_.Path("lib");
  const std::string whole = ElfWithNote(kNote);
  for (size_t i = 0; i < whole.size(); ++i) {
    (void)NoteOf(path, whole.substr(0, i));
    for (const char c : {'\x00', '\x7f', '\xff'}) {
      std::string changed = whole;
      changed[i] = c;
      (void)NoteOf(path, changed);
    }
  }
}

}  // namespace
}  // namespace pawl::host
