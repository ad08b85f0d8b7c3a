#include "testing/nvml/faults.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace pawl::stand_in {
namespace {

using Words = std::vector<std::string_view>;

Words SplitWords(std::string_view line) {
  Words words;
  line = line.substr(0, line.find('#'));
  std::size_t at = 0;
  while ((at = line.find_first_not_of(" \t\r", at)) != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

std::optional<std::uint64_t> Number(std::string_view text) {
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, hex ? 16 : 10);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

bool IsFunction(std::string_view word) { return word.starts_with("nvml"); }

// Whether a function is the one that a fault names, in any version: nvmlDeviceGetName_v2 for
// nvmlDeviceGetName.
bool IsVersionOf(std::string_view function, std::string_view named) {
  if (!function.starts_with(named)) return false;
  const std::string_view rest = function.substr(named.size());
  return rest.empty() || rest == "V" || (rest.size() == 3 && rest.starts_with("_v"));
}

// The words from `at` on as an action.
bool ParseAction(const Words& words, std::size_t at, Fault& fault) {
  if (at >= words.size()) return false;
  const std::string_view action = words[at];
  if (action == "error" && words.size() == at + 2) {
    const auto code = Number(words[at + 1]);
    if (!code || *code == 0 || *code > 999) return false;
    fault.action = FaultAction::kError;
    fault.code = static_cast<nvmlReturn_t>(*code);
    return true;
  }
  if (words.size() != at + 1) return false;
  if (action == "hang")
    fault.action = FaultAction::kHang;
  else if (action == "crash")
    fault.action = FaultAction::kCrash;
  else if (action == "abort")
    fault.action = FaultAction::kAbort;
  else
    return false;
  return true;
}

bool ParseGpuLine(const Words& words, Faults& faults) {
  if (words.size() < 3) return false;
  const auto gpu = Number(words[1]);
  if (!gpu || *gpu > 255) return false;
  if (words[2] == "lost" && words.size() == 3) {
    faults.lost.push_back(static_cast<unsigned>(*gpu));
    return true;
  }
  Fault fault{.function = "*", .gpu = static_cast<unsigned>(*gpu)};
  std::size_t at = 2;
  if (IsFunction(words[at])) fault.function = words[at++];
  if (!ParseAction(words, at, fault)) return false;
  faults.faults.push_back(std::move(fault));
  return true;
}

// event ID gpu N xid NUMBER | event ID gpu N type MASK DATA
bool ParseEventLine(const Words& words, Faults& faults) {
  if (words.size() < 6 || words[2] != "gpu") return false;
  const auto id = Number(words[1]);
  const auto gpu = Number(words[3]);
  const auto first = Number(words[5]);
  if (!id || !gpu || *gpu > 255 || !first) return false;
  HardwareEvent event{.id = *id, .gpu = static_cast<unsigned>(*gpu)};
  if (words[4] == "xid" && words.size() == 6) {
    event.type = kNvmlEventXid;
    event.data = *first;
  } else if (words[4] == "type" && words.size() == 7) {
    const auto data = Number(words[6]);
    if (!data) return false;
    event.type = *first;
    event.data = *data;
  } else {
    return false;
  }
  faults.events.push_back(event);
  return true;
}

bool ParseLine(const Words& words, Faults& faults) {
  if (words[0] == "gpu") return ParseGpuLine(words, faults);
  if (words[0] == "event") return ParseEventLine(words, faults);
  Fault fault;
  std::size_t action_at = 1;
  if (words[0] == "init") {
    fault.function = "init";
  } else if (words[0] == "call" && words.size() > 2 && IsFunction(words[1])) {
    fault.function = words[1];
    action_at = 2;
  } else {
    return false;
  }
  if (!ParseAction(words, action_at, fault)) return false;
  faults.faults.push_back(std::move(fault));
  return true;
}

std::optional<std::string> ReadWhole(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  std::string text;
  std::array<char, 4096> buffer;
  ssize_t got = 0;
  while ((got = read(fd, buffer.data(), buffer.size())) > 0)
    text.append(buffer.data(), static_cast<std::size_t>(got));
  close(fd);
  if (got < 0) return std::nullopt;
  return text;
}

}  // namespace

bool Faults::IsLost(unsigned gpu) const {
  return std::find(lost.begin(), lost.end(), gpu) != lost.end();
}

const Fault* Faults::Find(std::string_view function, std::optional<unsigned> gpu) const {
  for (const Fault& fault : faults) {
    if (fault.gpu && fault.gpu != gpu) continue;
    if (fault.function == "*" || IsVersionOf(function, fault.function)) return &fault;
  }
  return nullptr;
}

Faults ParseFaults(std::string_view text, std::string& complaints) {
  Faults faults;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    const Words words = SplitWords(line);
    if (words.empty() || ParseLine(words, faults)) continue;
    complaints += "line " + std::to_string(number) +
                  ": expected init, call, gpu or event with its action, found '" +
                  std::string(line) + "'\n";
  }
  std::stable_sort(faults.events.begin(), faults.events.end(),
                   [](const HardwareEvent& a, const HardwareEvent& b) { return a.id < b.id; });
  return faults;
}

nvmlReturn_t Suffer(const Fault& fault) {
  switch (fault.action) {
    case FaultAction::kError:
      return fault.code;
    case FaultAction::kAbort:
      std::abort();
    case FaultAction::kCrash: {
      // A page that may not be touched, as when the library reads a mapping that the driver took
      // away.
      void* const gone = mmap(nullptr, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      *static_cast<volatile char*>(gone) = 1;
      std::abort();
    }
    case FaultAction::kHang:
      break;
  }
  // A call into the driver that never returns hears no signal but SIGKILL.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  for (;;) pause();
}

std::shared_ptr<const Faults> FaultFile::Current() {
  struct stat found {};
  Stamp stamp;
  if (!path_.empty() && stat(path_.c_str(), &found) == 0) {
    stamp = {.inode = found.st_ino,
             .size = found.st_size,
             .changed_ns = found.st_mtim.tv_sec * 1'000'000'000L + found.st_mtim.tv_nsec};
  }
  const std::scoped_lock lock(mutex_);
  if (stamp == stamp_) return faults_;
  std::string complaints;
  faults_ = std::make_shared<const Faults>(ParseFaults(ReadWhole(path_).value_or(""), complaints));
  stamp_ = stamp;
  if (!complaints.empty()) std::fprintf(stderr, "%s: %s", path_.c_str(), complaints.c_str());
  return faults_;
}

FolderWait::FolderWait(const std::string& folder) : fd_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
  if (fd_ < 0) return;
  if (inotify_add_watch(fd_, folder.c_str(),
                        IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM) >= 0)
    return;
  close(fd_);
  fd_ = -1;
}

FolderWait::~FolderWait() {
  if (fd_ >= 0) close(fd_);
}

void FolderWait::Wait(int timeout_ms) {
  constexpr int kLookAgainMs = 100;
  pollfd watched{.fd = fd_, .events = POLLIN, .revents = 0};
  if (fd_ < 0) {
    poll(nullptr, 0, timeout_ms < 0 ? kLookAgainMs : std::min(timeout_ms, kLookAgainMs));
    return;
  }
  if (poll(&watched, 1, timeout_ms) <= 0) return;
  std::array<char, 4096> news;  // only that there are some matters
  while (read(fd_, news.data(), news.size()) > 0) {
  }
}

}  // namespace pawl::stand_in
