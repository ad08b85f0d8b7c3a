#include "compat/input.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "compat/version.h"

namespace pawl::compat {

namespace {

Error Wrong(std::string_view field, std::string_view expected, const json::value& found) {
  return {ErrorKind::kInvalid,
          std::string(field) + ": expected " + std::string(expected) + ", found " + ToJson(found)};
}

Status TakeText(const json::value& value, std::string_view field, std::string& into) {
  if (!value.is_string()) return Fail(Wrong(field, "a text in quotes", value));
  into = Trim(value.get_string());
  return {};
}

Status TakeChoice(const json::value& value, std::string_view field,
                  std::initializer_list<std::string_view> choices, std::string& into) {
  if (value.is_string() &&
      std::ranges::find(choices, std::string_view(value.get_string())) != choices.end()) {
    into = value.get_string();
    return {};
  }
  std::vector<std::string> words(choices.begin(), choices.end());
  return Fail(Wrong(field, "one of " + Join(words, ", "), value));
}

Status TakeFlag(const json::value& value, std::string_view field, bool& into) {
  if (!value.is_bool()) return Fail(Wrong(field, "true or false", value));
  into = value.get_bool();
  return {};
}

Status TakeVersion(const json::value& value, std::string_view field, std::string& into) {
  if (Status text = TakeText(value, field, into); !text) return text;
  into = WithoutPackaging(into);
  if (!into.empty() && !ParseVersion(into))
    return Fail(Wrong(field, "numbers between dots", value));
  return {};
}

Status TakeGpus(const json::value& value, Input& input) {
  if (!value.is_array()) return Fail(Wrong("gpus", "a list of PCI ids or names", value));
  for (const json::value& gpu : value.get_array()) {
    std::string text;
    if (Status taken = TakeText(gpu, "gpus", text); !taken) return taken;
    if (text.empty()) return Fail(Wrong("gpus", "PCI ids or names", value));
    input.gpus.push_back(std::move(text));
  }
  return {};
}

Status TakeOs(const json::value& value, Input& input) {
  if (value.is_string()) return SetOs(value.get_string(), input);
  if (!value.is_object())
    return Fail(Wrong("os", "{id, version} or a text like ubuntu22.04", value));
  for (const auto& [key, field] : value.get_object()) {
    if (key != "id" && key != "version")
      return Fail(ErrorKind::kInvalid, "os." + std::string(key) + ": is not known");
    if (Status taken =
            TakeText(field, "os." + std::string(key), key == "id" ? input.os_id : input.os_version);
        !taken) {
      return taken;
    }
  }
  input.os_id = ToLower(input.os_id);
  return {};
}

std::string FrameworkName(std::string_view name) {
  std::string lower = ToLower(name);
  if (lower == "torch") return "pytorch";
  if (lower == "tf" || lower == "tensorflow-gpu") return "tensorflow";
  if (lower == "onnx" || lower == "onnxruntime-gpu") return "onnxruntime";
  if (lower == "jaxlib") return "jax";
  return lower;
}

Status TakeFramework(const json::value& value, Input& input) {
  if (value.is_string()) {
    Result<FrameworkWish> wish = ParseFramework(value.get_string());
    if (!wish) return Fail(wish.error().With("framework"));
    input.framework = *std::move(wish);
    return {};
  }
  if (!value.is_object())
    return Fail(Wrong("framework", "{name, version, …} or a text like torch==2.5.1", value));
  FrameworkWish wish;
  const std::array<std::pair<std::string_view, std::string*>, 4> fields = {
      {{"name", &wish.name},
       {"version", &wish.version},
       {"cuda_variant", &wish.cuda_variant},
       {"variant", &wish.variant}}};
  for (const auto& member : value.get_object()) {
    const std::string_view key = member.key();
    const auto* known =
        std::ranges::find_if(fields, [key](const auto& pair) { return pair.first == key; });
    if (known == fields.end()) {
      return Fail(ErrorKind::kInvalid, "framework." + std::string(key) + ": is not known");
    }
    if (member.value().is_null()) continue;
    const std::string path = "framework." + std::string(key);
    if (Status taken = TakeText(member.value(), path, *known->second); !taken) return taken;
  }
  if (wish.name.empty()) return Fail(ErrorKind::kInvalid, "framework.name: is required");
  wish.name = FrameworkName(wish.name);
  if (!wish.cuda_variant.empty()) {
    wish.cuda_variant = CudaVariant(wish.cuda_variant);
    if (wish.cuda_variant.empty())
      return Fail(Wrong("framework.cuda_variant", "a CUDA version like 12.4", value));
  }
  input.framework = std::move(wish);
  return {};
}

Status TakePolicy(const json::value& value, Input& input) {
  if (value.is_string()) {
    if (auto policy = ParsePolicy(value.get_string())) {
      input.policy = *std::move(policy);
      return {};
    }
  }
  return Fail(Wrong("policy", "one of production, ltsb, pb, latest", value));
}

Status TakeDriver(const json::value& value, Input& input) {
  if (value.is_int64() && value.get_int64() > 0) {  // a branch without its quotes
    input.driver = std::to_string(value.get_int64());
    return {};
  }
  if (value.is_string() && (value.get_string() == "auto" || value.get_string().empty())) return {};
  return TakeVersion(value, "driver", input.driver);
}

Status TakeDate(const json::value& value, Input& input) {
  if (Status text = TakeText(value, "today", input.today); !text) return text;
  const std::string& day = input.today;
  const bool fits = day.size() == 10 && day[4] == '-' && day[7] == '-' &&
                    ParseUnsigned(day.substr(0, 4)) && ParseUnsigned(day.substr(5, 2)) &&
                    ParseUnsigned(day.substr(8));
  if (!fits) return Fail(Wrong("today", "a day like 2026-12-01", value));
  return {};
}

Status TakeConfig(const json::value& value, Input& input) {
  if (!value.is_object())
    return Fail(Wrong("kernel_config", "a mapping of CONFIG_… to y or m", value));
  std::map<std::string, std::string> config;
  for (const auto& [key, option] : value.get_object()) {
    if (Status taken = TakeText(option, "kernel_config." + std::string(key), config[key]); !taken)
      return taken;
  }
  input.kernel_config = std::move(config);
  return {};
}

Status TakeRecords(const json::value& value, Input& input) {
  if (!value.is_array())
    return Fail(Wrong("build_records", "a list of {version, flavour, kernel, built}", value));
  for (const json::value& item : value.get_array()) {
    const json::value* built = Find(item, "built");
    BuildRecord record{TextAt(item, {"version"}), TextAt(item, {"flavour"}),
                       TextAt(item, {"kernel"}), false};
    if (record.version.empty() || record.flavour.empty() || record.kernel.empty() ||
        built == nullptr || !built->is_bool()) {
      return Fail(Wrong("build_records", "{version, flavour, kernel, built}", item));
    }
    record.built = built->get_bool();
    input.build_records.push_back(std::move(record));
  }
  return {};
}

Status TakeField(std::string_view key, const json::value& value, Input& input) {
  if (key == "gpus") return TakeGpus(value, input);
  if (key == "os") return TakeOs(value, input);
  if (key == "kernel") return TakeText(value, key, input.kernel);
  if (key == "kernel_build") return TakeText(value, key, input.kernel_build);
  if (key == "compiler") return TakeText(value, key, input.compiler);
  if (key == "module_flavour")
    return TakeChoice(value, key, {"auto", "open", "proprietary"}, input.module_flavour);
  if (key == "driver") return TakeDriver(value, input);
  if (key == "cuda") return TakeVersion(value, key, input.cuda);
  if (key == "framework") return TakeFramework(value, input);
  if (key == "image") return TakeText(value, key, input.image);
  if (key == "policy") return TakePolicy(value, input);
  if (key == "mode")
    return TakeChoice(value, key, {"container", "precompiled", "host_packages"}, input.mode);
  if (key == "forward_compat") return TakeFlag(value, key, input.forward_compat);
  if (key == "ngc_ready") return TakeFlag(value, key, input.ngc_ready);
  if (key == "needs_ptx_jit") return TakeFlag(value, key, input.needs_ptx_jit);
  if (key == "mig") return TakeChoice(value, key, {"none", "mixed_with_full_gpus"}, input.mig);
  if (key == "secure_boot") return TakeFlag(value, key, input.secure_boot);
  if (key == "platform") return TakeChoice(value, key, {"x86_64", "aarch64"}, input.platform);
  if (key == "kernel_config") return TakeConfig(value, input);
  if (key == "build_records") return TakeRecords(value, input);
  if (key == "today") return TakeDate(value, input);
  return Fail(ErrorKind::kInvalid, std::string(key) + ": is not known");
}

}  // namespace

Result<Input> ParseInput(const json::value& value) {
  if (!value.is_object()) return Fail(Wrong("input", "a mapping", value));
  Input input;
  for (const auto& [key, field] : value.get_object()) {
    if (field.is_null()) continue;
    if (Status taken = TakeField(key, field, input); !taken) return Fail(taken.error());
  }
  return input;
}

Status SetOs(std::string_view text, Input& input) {
  const std::string lower = ToLower(Trim(text));
  const size_t digit = lower.find_first_of("0123456789");
  std::string_view id = std::string_view(lower).substr(0, digit);
  while (!id.empty() && (id.back() == ' ' || id.back() == ':' || id.back() == '-'))
    id.remove_suffix(1);
  const std::string_view version =
      digit == std::string::npos ? std::string_view{} : std::string_view(lower).substr(digit);
  if (id.empty() || (!version.empty() && !ParseVersion(version))) {
    return Fail(ErrorKind::kInvalid,
                "os: expected a text like ubuntu22.04, found \"" + std::string(text) + "\"");
  }
  input.os_id = id;
  input.os_version = version;
  return {};
}

Result<FrameworkWish> ParseFramework(std::string_view text) {
  FrameworkWish wish;
  std::string_view rest = Trim(text);
  const size_t name_end = rest.find_first_of("[= @:");
  wish.name = FrameworkName(rest.substr(0, name_end));
  rest.remove_prefix(name_end == std::string_view::npos ? rest.size() : name_end);
  if (rest.starts_with('[')) {
    const size_t close = rest.find(']');
    if (close == std::string_view::npos)
      return Fail(ErrorKind::kInvalid, "expected ] in \"" + std::string(text) + "\"");
    if (wish.name == "jax") wish.variant = rest.substr(1, close - 1);
    rest.remove_prefix(close + 1);
  }
  while (!rest.empty() && std::string_view("= @:v").find(rest.front()) != std::string_view::npos)
    rest.remove_prefix(1);
  const size_t plus = rest.find('+');
  wish.version = rest.substr(0, plus);
  if (plus != std::string_view::npos) {
    const std::string_view local = rest.substr(plus + 1);
    wish.cuda_variant = local.starts_with("cu") ? CudaVariant(local.substr(2)) : "";
    if (wish.cuda_variant.empty()) {
      return Fail(ErrorKind::kInvalid,
                  "expected a CUDA variant like +cu124 in \"" + std::string(text) + "\"");
    }
  }
  if (wish.name.empty())
    return Fail(ErrorKind::kInvalid,
                "expected a text like torch==2.5.1, found \"" + std::string(text) + "\"");
  return wish;
}

std::string CudaVariant(std::string_view text) {
  if (text.find('.') != std::string_view::npos) return ParseVersion(text) ? std::string(text) : "";
  if (!ParseUnsigned(text) || text.size() < 2 || text.size() > 3) return "";
  return std::string(text.substr(0, text.size() - 1)) + "." + text.back();
}

std::optional<std::string> ParsePolicy(std::string_view text) {
  std::string lower = ToLower(text);
  if (lower == "lts" || lower == "ltsb") return "ltsb";
  if (lower == "production" || lower == "pb" || lower == "latest") return lower;
  return std::nullopt;
}

}  // namespace pawl::compat
