// Carries actions out, several at a time.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/task.h"
#include "kube/client.h"
#include "operator/action.h"
#include "operator/view.h"

namespace pawl::op {

class Applier {
 public:
  // `changed` hears of every object as the API server answered it, before its watch does.
  using Changed = std::function<void(const kube::Resource&, const json::value&)>;

  Applier(const Executor& executor, kube::Client& client, Changed changed)
      : client_(client), changed_(std::move(changed)), done_(executor) {}

  struct Report {
    std::map<std::string, Failure> failures;  // by subject
    bool again = false;  // something was refused, or a node had changed: look again soon
  };
  // One call at a time.
  Task<Report> CarryOut(std::vector<Action> actions);

 private:
  struct Refusal {
    std::string wanted;   // the object as text
    std::string version;  // of the live object
  };

  Task<> Work();
  Task<Status> Do(const Action& action);
  Task<Status> DoPatch(const PatchNode& patch);
  Task<Status> DoApply(const ApplyObject& apply, const std::string& subject);
  Task<Status> DoDelete(const DeleteObject& gone);

  kube::Client& client_;
  Changed changed_;
  Event done_;
  std::vector<Action> actions_;
  size_t next_ = 0;
  size_t working_ = 0;
  Report report_;
  // What the API server accepts and yet stores otherwise: asking again would go on for ever.
  std::map<std::string, Refusal> unsettled_;
  std::map<std::string, std::string> warned_;  // by subject: the trouble that was logged
};

}  // namespace pawl::op
