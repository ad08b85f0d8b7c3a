#include "cdi/generate/write_spec.h"

#include "base/json.h"
#include "base/yaml.h"
#include "cdi/model/read.h"
#include "cdi/model/write.h"

namespace pawl::cdi {
namespace {

Result<SpecFormat> FormatOf(const std::string& path) {
  if (path.ends_with(".json")) return SpecFormat::kJson;
  if (path.ends_with(".yaml")) return SpecFormat::kYaml;
  return Fail(ErrorKind::kInvalid, path + ": a CDI file's name must end with .json or .yaml");
}

}  // namespace

std::string SpecText(const Spec& spec, SpecFormat format) {
  const json::value value = ToJsonValue(spec);
  return format == SpecFormat::kJson ? ToPrettyJson(value) : "---\n" + ToYaml(value);
}

Result<Written> WriteSpec(const std::string& path, const Spec& spec) {
  const Result<SpecFormat> format = FormatOf(path);
  if (!format) return Fail(format.error());
  const size_t slash = path.rfind('/');
  if (slash != std::string::npos && slash != 0) {
    if (Status made = MakeFolders(path.substr(0, slash)); !made) return Fail(made.error());
  }
  return WriteFileAtomic(path, SpecText(spec, *format), 0644);
}

Result<Spec> ReadSpec(const std::string& path) {
  const Result<SpecFormat> format = FormatOf(path);
  if (!format) return Fail(format.error());
  constexpr size_t kLimit = size_t{16} << 20;
  const Result<std::string> text = ReadFile(path, kLimit);
  if (!text) return Fail(text.error());
  const Result<json::value> value =
      *format == SpecFormat::kJson ? ParseJson(*text) : ParseYaml(*text);
  if (!value) return Fail(value.error().With(path));
  Result<Spec> spec = SpecFromJson(*value);
  if (!spec) return Fail(spec.error().With(path));
  return spec;
}

}  // namespace pawl::cdi
