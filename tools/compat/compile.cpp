// compat_compile OUT SCHEMA FILE…: the compatibility data as the program embeds it.
#include <cstdio>
#include <string>

#include "base/files.h"
#include "compat/packed.h"
#include "compat/rows.h"
#include "compat/schema.h"

namespace pawl::compat {

namespace {

std::string FileName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

Status Compile(const std::string& out, const std::string& schema_path,
               const std::vector<std::string>& paths) {
  Result<std::string> schema_text = ReadFile(schema_path);
  if (!schema_text) return Fail(schema_text.error());
  Result<Schema> schema = ParseSchema(*schema_text);
  if (!schema) return Fail(schema.error());
  Packer packer;
  for (const std::string& path : paths) {
    Result<std::string> text = ReadFile(path);
    if (!text) return Fail(text.error());
    Result<ReadRows> read = Read(*schema, {FileName(path), *std::move(text)});
    if (!read) return Fail(read.error());
    for (const ReadRow& row : read->rows) packer.Add(*row.section, row.fields);
  }
  const std::vector<uint32_t> words = packer.Finish(*schema_text);
  const std::string_view bytes(reinterpret_cast<const char*>(words.data()),
                               words.size() * sizeof(uint32_t));
  Result<Written> written = WriteFileAtomic(out, bytes);
  if (!written) return Fail(written.error());
  return {};
}

}  // namespace

}  // namespace pawl::compat

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("usage: compat_compile OUT SCHEMA FILE...\n", stderr);
    return 64;
  }
  const std::vector<std::string> paths(argv + 3, argv + argc);
  pawl::Status compiled = pawl::compat::Compile(argv[1], argv[2], paths);
  if (compiled) return 0;
  std::fprintf(stderr, "%s\n", compiled.error().message().c_str());
  return 1;
}
