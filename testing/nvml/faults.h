// What is wrong with the hardware, for tests: hangs, crashes, error codes, lost GPUs, Xid events.
//
// The faults of a machine stand in a text file "libnvidia-ml.faults" in the folder that the library
// was loaded from. A process that loads the library from the driver root (the node agent) meets
// them; a container that was given the one library file by CDI has no such neighbour and never
// does. testing/node/faults writes the file.
//
//   init ACTION                   every form of nvmlInit
//   call FUNCTION ACTION          one function, whatever it is asked about
//   gpu N ACTION                  every function on the handle of GPU N; getting the handle works
//   gpu N FUNCTION ACTION         one function on GPU N
//   gpu N lost                    NVML code 15 from its handle look-up and from everything else
//   event ID gpu N xid NUMBER     an event; IDs grow
//   event ID gpu N type MASK DATA another kind of event, spec/nvml.md §5
//
//   FUNCTION without a version suffix means all its versions.
//   ACTION: hang (for ever, signals blocked) | crash (invalid memory access) | abort | error CODE
//
// N is the number of /dev/nvidiaN. `#` begins a comment. The file is read again when it changes.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "testing/nvml/nvml_abi.h"

namespace pawl::stand_in {

enum class FaultAction { kHang, kCrash, kAbort, kError };

struct Fault {
  std::string function;         // "init", an NVML name, or "*"
  std::optional<unsigned> gpu;  // minor number; nothing: not about one GPU
  FaultAction action = FaultAction::kError;
  nvmlReturn_t code = NVML_ERROR_UNKNOWN;
};

struct HardwareEvent {
  std::uint64_t id = 0;
  unsigned gpu = 0;
  std::uint64_t type = 0;
  std::uint64_t data = 0;
};

struct Faults {
  std::vector<Fault> faults;
  std::vector<unsigned> lost;
  std::vector<HardwareEvent> events;  // by growing id

  bool IsLost(unsigned gpu) const;
  // The first fault for this function, on this GPU or on none.
  const Fault* Find(std::string_view function, std::optional<unsigned> gpu) const;
};

// A line that is not understood is left out and appended, with its number and what was expected, to
// `complaints`.
Faults ParseFaults(std::string_view text, std::string& complaints);

// Does what the fault says: returns its code, or never.
nvmlReturn_t Suffer(const Fault& fault);

// The file beside the library, read again when its time, size or inode change.
class FaultFile {
 public:
  explicit FaultFile(std::string path) : path_(std::move(path)) {}

  // Never null; empty when there is no file.
  std::shared_ptr<const Faults> Current();
  const std::string& path() const { return path_; }

 private:
  struct Stamp {
    std::uint64_t inode = 0;
    std::int64_t size = -1;
    std::int64_t changed_ns = 0;
    bool operator==(const Stamp&) const = default;
  };

  std::string path_;
  std::mutex mutex_;
  Stamp stamp_;
  std::shared_ptr<const Faults> faults_ = std::make_shared<const Faults>();
};

// Waits until a file in a folder may have changed. An inotify watch; where the kernel has none
// left, it looks again every 100 ms.
class FolderWait {
 public:
  explicit FolderWait(const std::string& folder);
  ~FolderWait();
  FolderWait(const FolderWait&) = delete;
  FolderWait& operator=(const FolderWait&) = delete;

  // At most `timeout_ms`; may return early.
  void Wait(int timeout_ms);

 private:
  int fd_ = -1;
};

}  // namespace pawl::stand_in
