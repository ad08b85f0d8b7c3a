// `pawl advise`: which driver, and why. Alone it looks at this machine; flags or an input file
// describe another one. Ends with 0 where it fits, 1 on a conflict, 2 where it cannot tell and 64
// on wrong usage.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/text.h"
#include "base/yaml.h"
#include "cli/commands.h"
#include "compat/inspect.h"
#include "compat/report.h"
#include "compat/resolve.h"

namespace pawl::cli {
namespace {

constexpr int kUsage = 64;
constexpr int kCannotTell = 2;

struct AdviseFlags {
  std::vector<std::string> gpus, drivers, data;
  std::string os, kernel, kernel_build, compiler, driver, cuda, framework, image, flavour, policy,
      mode, mig, today;
  std::string input_file, root = "/", output = "text";
  bool no_forward_compat = false, needs_ptx_jit = false, secure_boot = false, ngc_ready = false,
       explain = false;

  bool describes_a_machine() const { return !gpus.empty() || !os.empty() || !kernel.empty(); }
};

int Complain(const std::string& message) {
  std::fprintf(stderr, "pawl advise: %s\n", message.c_str());
  return kUsage;
}

Status Print(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0)
    return Fail(Error::FromErrno("writing to standard output"));
  return {};
}

Status PrintValue(const json::value& value, const std::string& format) {
  return Print(format == "yaml" ? ToYaml(value) : ToPrettyJson(value));
}

// The files of --data: each a file, or a folder of .yaml, .yml and .json files.
Result<std::vector<compat::TextFile>> ReadOverrides(const std::vector<std::string>& paths) {
  std::vector<compat::TextFile> files;
  const auto read = [&files](const std::string& path) -> Status {
    Result<std::string> text = ReadFile(path);
    if (!text) return Fail(text.error());
    files.push_back({path.substr(path.rfind('/') + 1), *std::move(text)});
    return {};
  };
  for (const std::string& path : paths) {
    if (!IsDirectory(path)) {
      if (Status done = read(path); !done) return Fail(done.error());
      continue;
    }
    Result<std::vector<std::string>> names = ListFolder(path);
    if (!names) return Fail(names.error());
    for (const std::string& name : *names) {
      if (!name.ends_with(".yaml") && !name.ends_with(".yml") && !name.ends_with(".json")) continue;
      if (Status done = read(path + "/" + name); !done) return Fail(done.error());
    }
  }
  return files;
}

Result<compat::KnowledgeBase> LoadKnowledge(const AdviseFlags& flags) {
  Result<compat::KnowledgeBase> built_in = compat::KnowledgeBase::BuiltIn();
  if (!built_in || flags.data.empty()) return built_in;
  Result<std::vector<compat::TextFile>> files = ReadOverrides(flags.data);
  if (!files) return Fail(files.error());
  std::vector<std::string> notes;
  Result<compat::KnowledgeBase> merged = built_in->With(*files, &notes);
  for (const std::string& note : notes) std::fprintf(stderr, "pawl advise: %s\n", note.c_str());
  return merged;
}

Result<compat::Input> ReadInput(const std::string& path) {
  std::string text;
  if (path == "-") {
    text.assign(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
  } else {
    Result<std::string> file = ReadFile(path);
    if (!file) return Fail(file.error());
    text = *std::move(file);
  }
  const std::string name = path == "-" ? "standard input" : path;
  Result<json::value> value =
      Trim(text).starts_with('{') ? ParseJson(text) : Result<json::value>(json::value());
  if (!value || value->is_null()) value = ParseYaml(text);
  if (!value) return Fail(value.error().With(name));
  Result<compat::Input> input = compat::ParseInput(*value);
  if (!input) return Fail(input.error().With(name));
  return input;
}

// The flags as the object of spec/compat.md §2, so that both ways in are read by one parser.
json::object FlagsAsInput(const AdviseFlags& flags) {
  json::object object;
  const auto text = [&object](std::string_view key, const std::string& value) {
    if (!value.empty()) object[key] = value;
  };
  json::array gpus;
  for (const std::string& gpu : flags.gpus) gpus.emplace_back(gpu);
  if (!gpus.empty()) object["gpus"] = std::move(gpus);
  text("os", flags.os);
  text("kernel", flags.kernel);
  text("kernel_build", flags.kernel_build);
  text("compiler", flags.compiler);
  text("driver", flags.driver);
  text("cuda", flags.cuda);
  text("framework", flags.framework);
  text("image", flags.image);
  text("module_flavour", flags.flavour);
  text("policy", flags.policy);
  text("mode", flags.mode);
  text("mig", flags.mig);
  text("today", flags.today);
  if (flags.no_forward_compat) object["forward_compat"] = false;
  if (flags.needs_ptx_jit) object["needs_ptx_jit"] = true;
  if (flags.secure_boot) object["secure_boot"] = true;
  if (flags.ngc_ready) object["ngc_ready"] = true;
  return object;
}

std::string Today() { return ToRfc3339(std::chrono::system_clock::now()).substr(0, 10); }

// What the machine is, with what the flags ask about it.
Result<compat::Input> InputFor(const AdviseFlags& flags, const compat::Machine* machine) {
  Result<compat::Input> asked = flags.input_file.empty() ? compat::ParseInput(FlagsAsInput(flags))
                                                         : ReadInput(flags.input_file);
  if (!asked) return asked;
  if (machine != nullptr) {
    compat::Input input = QuestionAbout(*machine);
    if (!asked->driver.empty()) input.driver = asked->driver;
    if (!flags.flavour.empty() || !asked->driver.empty())
      input.module_flavour = asked->module_flavour;
    if (!flags.policy.empty()) input.policy = asked->policy;
    if (!flags.mode.empty()) input.mode = asked->mode;
    if (!asked->compiler.empty()) input.compiler = asked->compiler;
    input.cuda = asked->cuda;
    input.framework = asked->framework;
    input.image = asked->image;
    input.mig = asked->mig;
    input.forward_compat = asked->forward_compat;
    input.needs_ptx_jit = asked->needs_ptx_jit;
    input.ngc_ready = asked->ngc_ready;
    input.secure_boot = input.secure_boot || asked->secure_boot;
    input.today = asked->today;
    asked = std::move(input);
  }
  if (asked->today.empty()) asked->today = Today();
  return asked;
}

json::object MachineAsJson(const compat::Machine& machine) {
  json::object object;
  json::array gpus, toolkits;
  for (const std::string& gpu : machine.gpus) gpus.emplace_back(gpu);
  for (const std::string& toolkit : machine.cuda_toolkits) toolkits.emplace_back(toolkit);
  object["gpus"] = std::move(gpus);
  object["os"] = json::object{{"id", machine.os_id}, {"version", machine.os_version}};
  object["kernel"] = machine.kernel;
  object["driver"] = machine.driver.empty() ? json::value() : json::value(machine.driver);
  object["secure_boot"] = machine.secure_boot;
  object["cuda_toolkits"] = std::move(toolkits);
  return object;
}

int AdviseHere(const AdviseFlags& flags, const compat::KnowledgeBase& knowledge) {
  const compat::Machine machine = compat::Inspect(flags.root);
  Result<compat::Input> input = InputFor(flags, &machine);
  if (!input) return Complain(input.error().message());
  const compat::Answer answer = Resolve(knowledge, *input);
  std::vector<compat::NextKernel> next;
  for (const std::string& kernel : machine.next_kernels) {
    next.push_back({kernel, Resolve(knowledge, AfterReboot(*input, kernel))});
  }
  const compat::Detail detail = flags.explain ? compat::Detail::kExplain : compat::Detail::kShort;
  Status printed;
  if (flags.output == "text") {
    printed = Print(RenderMachine(knowledge, machine, *input, answer, next, detail));
  } else {
    json::object object = ToJson(answer, detail);
    object["machine"] = MachineAsJson(machine);
    json::array kernels;
    for (const compat::NextKernel& kernel : next) {
      kernels.push_back(json::object{{"kernel", kernel.kernel},
                                     {"answer", ToJson(kernel.answer, compat::Detail::kShort)}});
    }
    object["next_kernels"] = std::move(kernels);
    printed = PrintValue(object, flags.output);
  }
  if (!printed) return Complain(printed.error().message());
  const int code = ExitCode(answer, next);
  return code == 0 && machine.gpus.empty() ? kCannotTell : code;
}

int AdviseElsewhere(const AdviseFlags& flags, const compat::KnowledgeBase& knowledge) {
  Result<compat::Input> input = InputFor(flags, nullptr);
  if (!input) return Complain(input.error().message());
  const compat::Answer answer = Resolve(knowledge, *input);
  const compat::Detail detail = flags.explain ? compat::Detail::kExplain : compat::Detail::kShort;
  const Status printed = flags.output == "text"
                             ? Print(RenderAnswer(knowledge, *input, answer, detail))
                             : PrintValue(ToJson(answer, detail), flags.output);
  if (!printed) return Complain(printed.error().message());
  return ExitCode(answer, {});
}

int Advise(const AdviseFlags& flags) {
  Result<compat::KnowledgeBase> knowledge = LoadKnowledge(flags);
  if (!knowledge) return Complain(knowledge.error().message());
  if (flags.describes_a_machine() || !flags.input_file.empty())
    return AdviseElsewhere(flags, *knowledge);
  return AdviseHere(flags, *knowledge);
}

int PrintMatrix(const AdviseFlags& flags) {
  Result<compat::KnowledgeBase> knowledge = LoadKnowledge(flags);
  if (!knowledge) return Complain(knowledge.error().message());
  Result<compat::Input> input = InputFor(flags, nullptr);
  if (!input) return Complain(input.error().message());
  const std::vector<compat::MatrixRow> rows = Matrix(*knowledge, *input);
  const Status printed =
      flags.output == "text" ? Print(RenderMatrix(rows)) : PrintValue(ToJson(rows), flags.output);
  if (!printed) return Complain(printed.error().message());
  const bool any =
      std::ranges::any_of(rows, [](const compat::MatrixRow& row) { return !row.version.empty(); });
  return any ? 0 : 1;
}

// Each driver in use on the new image; the worst answer is the status.
int CheckNodeImage(const AdviseFlags& flags) {
  Result<compat::KnowledgeBase> knowledge = LoadKnowledge(flags);
  if (!knowledge) return Complain(knowledge.error().message());
  Result<compat::Input> input = InputFor(flags, nullptr);
  if (!input) return Complain(input.error().message());
  const std::vector<std::string> drivers =
      flags.drivers.empty() ? std::vector<std::string>{""} : flags.drivers;
  json::array answers;
  std::string text;
  int code = 0;
  for (const std::string& driver : drivers) {
    compat::Input asked = *input;
    if (!driver.empty() && !compat::ParseVersion(compat::WithoutPackaging(driver)))
      return Complain("--driver: expected numbers between dots, found \"" + driver + "\"");
    asked.driver = compat::WithoutPackaging(driver);
    const compat::Answer answer = Resolve(*knowledge, asked);
    const int one = ExitCode(answer, {});
    if (code != 1 && one != 0) code = one;
    text += RenderAnswer(*knowledge, asked, answer,
                         flags.explain ? compat::Detail::kExplain : compat::Detail::kShort) +
            "\n";
    answers.push_back(json::object{{"driver", driver.empty() ? json::value() : json::value(driver)},
                                   {"answer", ToJson(answer, compat::Detail::kShort)}});
  }
  if (!text.empty()) text.pop_back();
  const Status printed = flags.output == "text" ? Print(text) : PrintValue(answers, flags.output);
  if (!printed) return Complain(printed.error().message());
  return code;
}

void AddMachineFlags(CLI::App* command, AdviseFlags& flags) {
  command->add_option("--gpu", flags.gpus, "PCI id or product name; repeat for a mixed node");
  command->add_option("--os", flags.os, "As ubuntu22.04");
  command->add_option("--kernel", flags.kernel, "As uname -r prints it");
  command->add_option("--kernel-build", flags.kernel_build,
                      "As uname -v prints it (Debian hides the version there)");
  command->add_option("--compiler", flags.compiler, "What would build the modules, as gcc-12");
  command->add_flag("--secure-boot", flags.secure_boot, "Modules must be signed");
  command->add_option("--mode", flags.mode, "container, precompiled or host_packages");
  command->add_option("--flavour", flags.flavour, "Kernel modules: auto, open or proprietary");
  command->add_option("--data", flags.data,
                      "A file or folder of rows that replace built-in ones; repeat for more");
  command->add_option("-o,--output", flags.output, "text, json or yaml")
      ->check(CLI::IsMember({"text", "json", "yaml"}));
  command->add_option("--today", flags.today, "Judge lifecycles as of this day, as 2026-12-01");
  command->add_flag("--no-forward-compat", flags.no_forward_compat,
                    "The workload may not use cuda-compat");
  command->add_flag("--ngc-ready", flags.ngc_ready, "Workstation boards here are NGC-ready");
}

void AddMatrix(CLI::App* advise, int& exit_code) {
  auto flags = std::make_shared<AdviseFlags>();
  CLI::App* command =
      advise->add_subcommand("matrix", "Print what of each driver branch fits, and its CUDA");
  AddMachineFlags(command, *flags);
  command->callback([flags, &exit_code] { exit_code = PrintMatrix(*flags); });
}

void AddNodeImage(CLI::App* advise, int& exit_code) {
  auto flags = std::make_shared<AdviseFlags>();
  CLI::App* command =
      advise->add_subcommand("node-image", "Check a new node image against the drivers in use");
  AddMachineFlags(command, *flags);
  command->get_option("--os")->required();
  command->get_option("--kernel")->required();
  command->add_option("--driver", flags->drivers,
                      "A driver in use; repeat for more. None: say which to use");
  command->add_flag("--explain", flags->explain, "With the facts and their sources");
  command->callback([flags, &exit_code] { exit_code = CheckNodeImage(*flags); });
}

}  // namespace

void AddAdvise(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<AdviseFlags>();
  CLI::App* command = app.add_subcommand("advise", "Say which driver fits a machine, and why");
  command->require_subcommand(0, 1);
  AddMachineFlags(command, *flags);
  command->add_option("--driver", flags->driver,
                      "Check this version, or choose within this branch");
  command->add_option("--cuda", flags->cuda, "As 12.4");
  command->add_option("--framework", flags->framework, "As torch==2.5.1+cu124");
  command->add_option("--image", flags->image, "A container image");
  command->add_option("--policy", flags->policy, "production, lts, pb or latest");
  command->add_option("--mig", flags->mig, "none or mixed_with_full_gpus");
  command->add_flag("--needs-ptx-jit", flags->needs_ptx_jit,
                    "The code has no machine code for these GPUs, only PTX");
  command->add_option("--input", flags->input_file,
                      "The question as JSON or YAML; - reads standard input");
  command->add_option("--root", flags->root, "Look at the machine below this folder");
  command->add_flag("--explain", flags->explain,
                    "With the facts, their sources and every candidate");
  AddMatrix(command, exit_code);
  AddNodeImage(command, exit_code);
  command->callback([flags, command, &exit_code] {
    if (command->get_subcommands().empty()) exit_code = Advise(*flags);
  });
}

}  // namespace pawl::cli
