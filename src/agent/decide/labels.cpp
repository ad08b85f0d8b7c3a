#include "agent/decide/labels.h"

#include <algorithm>

#include "base/text.h"
#include "gpu/node_features.h"

namespace pawl::agent {
namespace {

constexpr size_t kLongestValue = 63;

bool IsAlphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Cut to what Kubernetes takes.
std::string Fitted(std::string value) {
  if (value.size() > kLongestValue) value.resize(kLongestValue);
  while (!value.empty() && !IsAlphanumeric(value.back())) value.pop_back();
  value.erase(value.begin(), std::find_if(value.begin(), value.end(), IsAlphanumeric));
  return value;
}

// Foreign characters deleted, runs of spaces to one dash.
std::string Sanitized(std::string_view text) {
  std::string kept;
  for (const char c : text) {
    if (IsAlphanumeric(c) || c == '-' || c == '_' || c == '.' || c == ' ') kept += c;
  }
  return Join(SplitWords(kept), "-");
}

std::string Product(const std::vector<std::string>& parts) {
  std::vector<std::string> sanitized;
  for (const std::string& part : parts) {
    std::string clean = Sanitized(part);
    if (!clean.empty()) sanitized.push_back(std::move(clean));
  }
  return Fitted(Join(sanitized, "-"));
}

// Writes labels under nvidia.com/ and keeps illegal values out.
class Writer {
 public:
  explicit Writer(ComputedLabels& into) : into_(into) {}

  void Put(std::string_view key, std::string value) {
    if (!gpu::IsLabelValue(value)) {
      Complain(std::string(key) + ": \"" + value + "\" is no legal label value");
      return;
    }
    into_.labels["nvidia.com/" + std::string(key)] = std::move(value);
  }
  template <std::integral T>
  void Put(std::string_view key, T number) {
    Put(key, std::to_string(number));
  }
  void Put(std::string_view key, bool flag) { Put(key, std::string(flag ? "true" : "false")); }

  void Complain(std::string what) { into_.problems.push_back(std::move(what)); }

 private:
  ComputedLabels& into_;
};

void PutDriverVersion(const std::string& version, Writer& writer) {
  std::vector<std::string> parts = Split(version, '.');
  if (parts.size() < 2 || parts.size() > 3) {
    writer.Complain("cuda.driver-version: \"" + version + "\" is not of the form X.Y or X.Y.Z");
    return;
  }
  parts.resize(3);
  writer.Put("cuda.driver-version.full", version);
  writer.Put("cuda.driver-version.major", parts[0]);
  writer.Put("cuda.driver-version.minor", parts[1]);
  writer.Put("cuda.driver-version.revision", parts[2]);
  writer.Put("cuda.driver.major", parts[0]);
  writer.Put("cuda.driver.minor", parts[1]);
  writer.Put("cuda.driver.rev", parts[2]);
}

void PutCudaVersion(int version, Writer& writer) {
  if (version <= 0) {
    writer.Complain("cuda.runtime-version: the driver does not say its CUDA version");
    return;
  }
  const std::string major = std::to_string(version / 1000);
  const std::string minor = std::to_string(version % 1000 / 10);
  writer.Put("cuda.runtime-version.full", major + "." + minor);
  writer.Put("cuda.runtime-version.major", major);
  writer.Put("cuda.runtime-version.minor", minor);
  writer.Put("cuda.runtime.major", major);
  writer.Put("cuda.runtime.minor", minor);
}

bool IsMigEnabled(const gpu::Gpu& gpu) { return gpu.mig_enabled.value_or(false); }

// The GPUs of one model name.
struct Model {
  const gpu::Gpu* first = nullptr;
  int count = 0;
  bool all_mig = true;
};

// The model that the labels tell of: one that has a GPU to give whole before one that has none,
// then the one with the most GPUs, then the one with the first GPU.
Model ChooseModel(const gpu::Snapshot& snapshot, Writer& writer) {
  std::vector<Model> models;
  for (const gpu::Gpu& gpu : snapshot.gpus) {
    auto model = std::find_if(models.begin(), models.end(),
                              [&gpu](const Model& other) { return other.first->name == gpu.name; });
    if (model == models.end()) model = models.insert(model, Model{.first = &gpu});
    ++model->count;
    model->all_mig = model->all_mig && IsMigEnabled(gpu);
  }
  const auto better = [](const Model& a, const Model& b) {
    return a.all_mig != b.all_mig ? b.all_mig : a.count > b.count;
  };
  const Model chosen = *std::min_element(models.begin(), models.end(), better);
  if (models.size() > 1) {
    writer.Complain("gpu.product: the node has " + std::to_string(models.size()) +
                    " models of GPU, the labels tell of " + chosen.first->name);
  }
  return chosen;
}

std::string_view StrategyWord(SharingStrategy strategy) {
  switch (strategy) {
    case SharingStrategy::kTimeSlicing:
      return "time-slicing";
    case SharingStrategy::kMps:
      return "mps";
    case SharingStrategy::kNone:
      break;
  }
  return "none";
}

// The entry of the active sharing list for a resource; nullptr where it is not shared.
const ResourceSharing* SharingOf(const Sharing& sharing, const std::string& resource) {
  if (sharing.strategy == SharingStrategy::kNone) return nullptr;
  const auto found = sharing.resources.find(resource);
  return found == sharing.resources.end() ? nullptr : &found->second;
}

void PutResource(const LabelInput& input, Writer& writer) {
  const Model model = ChooseModel(input.snapshot, writer);
  const ResourceSharing* shared = SharingOf(input.sharing, "nvidia.com/gpu");
  if (model.all_mig) shared = nullptr;  // no whole GPU of it to share
  std::vector<std::string> product = {model.first->name};
  if (shared != nullptr && !shared->renamed) product.emplace_back("SHARED");
  writer.Put("gpu.product", Product(product));
  writer.Put("gpu.count", model.count);
  writer.Put("gpu.replicas", shared != nullptr ? shared->replicas : (model.all_mig ? 0 : 1));
  writer.Put("gpu.sharing-strategy",
             std::string(StrategyWord(shared != nullptr ? input.sharing.strategy
                                                        : SharingStrategy::kNone)));
  constexpr uint64_t kMebibyte = uint64_t{1} << 20;
  const uint64_t memory = model.first->memory_bytes.value_or(0) / kMebibyte;
  if (memory > 0) writer.Put("gpu.memory", memory);
  if (model.first->compute_major == 0) return;
  writer.Put("gpu.family",
             std::string(GpuFamily(model.first->compute_major, model.first->compute_minor)));
  writer.Put("gpu.compute.major", model.first->compute_major);
  writer.Put("gpu.compute.minor", model.first->compute_minor);
}

// Over the labels of the resource, where the single strategy cannot be kept: a GPU is in MIG mode,
// and no MIG device of it is known (spec/feature-discovery.md §5).
void PutSingleStrategy(const LabelInput& input, Writer& writer) {
  const auto mig =
      std::find_if(input.snapshot.gpus.begin(), input.snapshot.gpus.end(), IsMigEnabled);
  if (mig == input.snapshot.gpus.end()) return;
  writer.Complain("mig.strategy: single, and " + mig->uuid +
                  " is in MIG mode and no MIG device of it is known: it cannot be allocated");
  writer.Put("gpu.product", Product({mig->name, "MIG", "INVALID"}));
  writer.Put("gpu.count", 0);
  writer.Put("gpu.replicas", 0);
  writer.Put("gpu.sharing-strategy", std::string());
  writer.Put("gpu.memory", 0);
}

void PutModes(const LabelInput& input, Writer& writer) {
  const std::vector<gpu::Gpu>& gpus = input.snapshot.gpus;
  const bool any_mig = std::any_of(gpus.begin(), gpus.end(), IsMigEnabled);
  writer.Put("mig.capable", std::any_of(gpus.begin(), gpus.end(), [](const gpu::Gpu& gpu) {
               return gpu.mig_enabled.has_value();
             }));
  const bool mps = input.sharing.strategy == SharingStrategy::kMps;
  if (mps && any_mig) {
    writer.Complain("mps.capable: MPS cannot be used with a GPU in MIG mode");
  } else {
    writer.Put("mps.capable", mps);
  }
  if (input.mig_strategy == MigStrategy::kSingle) writer.Put("mig.strategy", std::string("single"));
  if (input.mig_strategy == MigStrategy::kMixed) writer.Put("mig.strategy", std::string("mixed"));
}

void PutClique(const gpu::Snapshot& snapshot, Writer& writer) {
  std::string clique;
  for (const gpu::Gpu& gpu : snapshot.gpus) {
    if (!gpu.fabric || !gpu.fabric->attached) continue;
    std::string own = gpu.fabric->cluster_uuid + "." + std::to_string(gpu.fabric->clique_id);
    if (!clique.empty() && clique != own) {
      writer.Complain("gpu.clique: the GPUs are in different cliques: " +
                      Join({clique, own}, ", "));
      return;
    }
    clique = std::move(own);
  }
  if (!clique.empty()) writer.Put("gpu.clique", clique);
}

void PutVgpu(const LabelInput& input, Writer& writer) {
  if (!input.vgpu) return;
  writer.Put("vgpu.present", input.vgpu->has_value());
  if (!*input.vgpu) return;
  writer.Put("vgpu.host-driver-version", (*input.vgpu)->driver_version);
  writer.Put("vgpu.host-driver-branch", (*input.vgpu)->driver_branch);
}

}  // namespace

Result<MigStrategy> ParseMigStrategy(std::string_view word) {
  if (word == "none") return MigStrategy::kNone;
  if (word == "single") return MigStrategy::kSingle;
  if (word == "mixed") return MigStrategy::kMixed;
  return Fail(ErrorKind::kInvalid,
              "MIG strategy \"" + std::string(word) + "\": expected none, single or mixed");
}

ComputedLabels ComputeLabels(const LabelInput& input) {
  ComputedLabels computed;
  Writer writer(computed);
  if (input.timestamp) writer.Put("gfd.timestamp", *input.timestamp);
  if (!input.snapshot.gpus.empty()) {
    writer.Put("gpu.machine",
               input.machine_type ? SanitizeLabelValue(*input.machine_type) : "unknown");
    PutDriverVersion(input.snapshot.driver_version, writer);
    PutCudaVersion(input.snapshot.cuda_version, writer);
    PutModes(input, writer);
    PutResource(input, writer);
    if (input.mig_strategy == MigStrategy::kSingle) PutSingleStrategy(input, writer);
    writer.Put("gpu.mode", input.gpu_mode);
    PutClique(input.snapshot, writer);
  }
  PutVgpu(input, writer);
  return computed;
}

std::string SanitizeLabelValue(std::string_view text) { return Fitted(Sanitized(text)); }

std::string_view GpuFamily(int compute_major, int compute_minor) {
  constexpr int kTuringMinor = 5;
  constexpr int kAdaMinor = 9;
  switch (compute_major) {
    case 1:
      return "tesla";
    case 2:
      return "fermi";
    case 3:
      return "kepler";
    case 5:
      return "maxwell";
    case 6:
      return "pascal";
    case 7:
      return compute_minor < kTuringMinor ? "volta" : "turing";
    case 8:
      return compute_minor < kAdaMinor ? "ampere" : "ada-lovelace";
    case 9:
      return "hopper";
    case 10:
    case 12:
      return "blackwell";
    case 13:
      return "rubin";
    default:
      return "undefined";
  }
}

std::string LabelFile(const Labels& labels) {
  std::string file;
  for (const auto& [key, value] : labels) {
    file += key;
    file += '=';
    file += value;
    file += '\n';
  }
  return file;
}

}  // namespace pawl::agent
