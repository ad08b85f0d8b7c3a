#include "compat/inspect.h"

#include <unistd.h>

#include <algorithm>

#include "base/files.h"
#include "base/text.h"
#include "compat/version.h"

namespace pawl::compat {

namespace {

constexpr std::string_view kSecureBoot =
    "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";

std::string Content(const std::string& root, std::string_view path) {
  Result<std::string> text = ReadFile(Under(root, path));
  return text ? std::string(Trim(*text)) : "";
}

std::vector<std::string> Names(const std::string& root, std::string_view folder) {
  Result<std::vector<std::string>> names = ListFolder(Under(root, folder));
  return names ? *std::move(names) : std::vector<std::string>{};
}

// Display controllers (class 03) of vendor 10de.
std::vector<std::string> Gpus(const std::string& root) {
  std::vector<std::string> gpus;
  for (const std::string& name : Names(root, "/sys/bus/pci/devices")) {
    const std::string folder = "/sys/bus/pci/devices/" + name;
    if (Content(root, folder + "/vendor") != "0x10de" ||
        !Content(root, folder + "/class").starts_with("0x03"))
      continue;
    std::string id = Content(root, folder + "/device");
    if (id.starts_with("0x")) id.erase(0, 2);
    for (char& c : id) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    gpus.push_back(std::move(id));
  }
  return gpus;
}

std::string Unquoted(std::string_view text) {
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
      text.back() == text.front()) {
    text = text.substr(1, text.size() - 2);
  }
  return std::string(text);
}

void ReadOs(const std::string& root, Machine& machine) {
  std::string text = Content(root, "/etc/os-release");
  if (text.empty()) text = Content(root, "/usr/lib/os-release");
  for (const std::string& line : Lines(text)) {
    const size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    const std::string_view key = std::string_view(line).substr(0, equals);
    const std::string value = Unquoted(Trim(std::string_view(line).substr(equals + 1)));
    if (key == "ID") machine.os_id = value;
    if (key == "VERSION_ID") machine.os_version = value;
    if (key == "PRETTY_NAME") machine.os_name = value;
  }
}

std::string CompilerName(std::string_view banner) {
  const auto compiler = ParseCompiler(banner);
  return compiler ? compiler->name + "-" + std::to_string(compiler->major) : "";
}

// Where the link /usr/bin/gcc leads: "gcc-11", "x86_64-linux-gnu-gcc-12".
std::string HostCompiler(const std::string& root) {
  std::string buffer(256, '\0');
  const ssize_t size =
      ::readlink(Under(root, "/usr/bin/gcc").c_str(), buffer.data(), buffer.size());
  return size <= 0 ? ""
                   : CompilerName(std::string_view(buffer).substr(0, static_cast<size_t>(size)));
}

std::string Platform(const std::string& root) {
  const std::string arch = Content(root, "/proc/sys/kernel/arch");
  if (!arch.empty()) return arch;
  return Exists(Under(root, "/lib/ld-linux-aarch64.so.1")) ? "aarch64" : "x86_64";
}

void ReadDriver(const std::string& root, Machine& machine) {
  machine.driver = WithoutPackaging(Content(root, "/sys/module/nvidia/version"));
  if (machine.driver.empty()) return;
  const std::string banner = Content(root, "/proc/driver/nvidia/version");
  machine.driver_flavour =
      banner.find("Open Kernel Module") != std::string::npos ? "open" : "proprietary";
}

// "12.4.1" of the toolkit's version.json, else what the folder's name says.
std::string ToolkitIn(const std::string& root, const std::string& folder) {
  if (Result<json::value> version = ParseJson(Content(root, folder + "/version.json"))) {
    if (std::string cuda = TextAt(*version, {"cuda", "version"}); !cuda.empty()) return cuda;
  }
  const size_t dash = folder.rfind("cuda-");
  if (dash == std::string::npos) return "";
  const std::string_view named = std::string_view(folder).substr(dash + 5);
  return ParseVersion(named) && named.find('.') != std::string_view::npos ? std::string(named) : "";
}

std::vector<std::string> Toolkits(const std::string& root) {
  std::vector<std::string> toolkits;
  for (const std::string& name : Names(root, "/usr/local")) {
    if (!name.starts_with("cuda")) continue;
    const std::string cuda = ToolkitIn(root, "/usr/local/" + name);
    if (!cuda.empty() && std::ranges::find(toolkits, cuda) == toolkits.end())
      toolkits.push_back(cuda);
  }
  std::ranges::sort(toolkits, {}, [](const std::string& text) { return VersionOf(text); });
  // "12.4" of a link's name says nothing beside "12.4.1".
  std::erase_if(toolkits, [&](const std::string& text) {
    return std::ranges::any_of(
        toolkits, [&](const std::string& other) { return other != text && Covers(text, other); });
  });
  return toolkits;
}

// Order of kernels of one machine: the version, then the number after the first dash (Ubuntu's
// and Debian's ABI, the release of enterprise kernels).
std::pair<Version, std::vector<uint64_t>> KernelOrder(const std::string& release) {
  const auto kernel = ParseKernel(release, "", "");
  std::pair<Version, std::vector<uint64_t>> order{kernel ? kernel->version : Version{}, {}};
  const size_t dash = release.find('-');
  if (dash == std::string::npos) return order;
  for (const std::string& part : Split(std::string_view(release).substr(dash + 1), '.')) {
    const auto number = ParseUnsigned(std::string_view(part).substr(0, part.find('-')));
    if (!number) break;
    order.second.push_back(*number);
  }
  return order;
}

// What follows the version: "generic", "azure-fde"; another flavour is not this machine's next kernel.
std::string KernelFlavour(const std::string& release) {
  const size_t letter = release.find_first_of("abcdefghijklmnopqrstuvwxyz");
  const size_t dash = letter == std::string::npos ? letter : release.rfind('-', letter);
  return dash == std::string::npos ? "" : release.substr(dash + 1);
}

std::vector<std::string> NextKernels(const std::string& root, const Machine& machine) {
  std::vector<std::string> next;
  if (machine.kernel.empty()) return next;
  const bool by_flavour = machine.os_id == "ubuntu";
  for (const std::string& name : Names(root, "/boot")) {
    if (!name.starts_with("vmlinuz-")) continue;
    const std::string release = name.substr(8);
    if (!ParseKernel(release, "", "") || KernelOrder(release) <= KernelOrder(machine.kernel))
      continue;
    if (by_flavour && KernelFlavour(release) != KernelFlavour(machine.kernel)) continue;
    next.push_back(release);
  }
  std::ranges::sort(next, {}, KernelOrder);
  return next;
}

std::optional<std::map<std::string, std::string>> KernelConfig(const std::string& root,
                                                               const std::string& kernel) {
  const std::string text = kernel.empty() ? "" : Content(root, "/boot/config-" + kernel);
  if (text.empty()) return std::nullopt;
  std::map<std::string, std::string> config;
  for (const std::string& line : Lines(text)) {
    const size_t equals = line.find('=');
    if (line.starts_with("CONFIG_") && equals != std::string::npos)
      config[line.substr(0, equals)] = line.substr(equals + 1);
  }
  return config;
}

}  // namespace

Machine Inspect(const std::string& root) {
  Machine machine;
  machine.gpus = Gpus(root);
  ReadOs(root, machine);
  machine.kernel = Content(root, "/proc/sys/kernel/osrelease");
  machine.kernel_build = Content(root, "/proc/sys/kernel/version");
  machine.kernel_compiler = CompilerName(Content(root, "/proc/version"));
  machine.host_compiler = HostCompiler(root);
  machine.platform = Platform(root);
  ReadDriver(root, machine);
  // The variable's first four bytes are its attributes.
  if (Result<std::string> variable = ReadFile(Under(root, kSecureBoot))) {
    machine.secure_boot = variable->size() > 4 && (*variable)[4] == 1;
  }
  machine.cuda_toolkits = Toolkits(root);
  machine.next_kernels = NextKernels(root, machine);
  machine.kernel_config = KernelConfig(root, machine.kernel);
  machine.kubernetes_node = IsDirectory(Under(root, "/var/lib/kubelet"));
  return machine;
}

Input QuestionAbout(const Machine& machine) {
  Input input;
  input.gpus = machine.gpus;
  input.os_id = machine.os_id;
  input.os_version = machine.os_version;
  input.kernel = machine.kernel;
  input.kernel_build = machine.kernel_build;
  input.mode = machine.kubernetes_node ? "container" : "host_packages";
  // A driver container brings the kernel's compiler; on a host, gcc is what it is.
  input.compiler = machine.kubernetes_node || machine.host_compiler.empty()
                       ? machine.kernel_compiler
                       : machine.host_compiler;
  if (machine.platform == "aarch64") input.platform = machine.platform;
  input.driver = machine.driver;
  if (!machine.driver_flavour.empty()) input.module_flavour = machine.driver_flavour;
  input.secure_boot = machine.secure_boot;
  input.kernel_config = machine.kernel_config;
  // What is loaded was built for this kernel: the strongest evidence there is.
  if (!machine.driver.empty())
    input.build_records.push_back({machine.driver, machine.driver_flavour, machine.kernel, true});
  return input;
}

Input AfterReboot(const Input& input, const std::string& kernel) {
  Input next = input;
  next.kernel = kernel;
  next.kernel_build.clear();
  next.compiler.clear();
  next.kernel_config.reset();
  return next;
}

}  // namespace pawl::compat
