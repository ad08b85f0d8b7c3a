#include "agent/stage.h"

namespace pawl::agent {

Outcome Outcome::Ready(std::string evidence) {
  Outcome outcome;
  outcome.state = StageState::kReady;
  outcome.evidence = std::move(evidence);
  return outcome;
}

Outcome Outcome::Waiting(std::string reason, std::string evidence) {
  Outcome outcome;
  outcome.state = StageState::kWaiting;
  outcome.reason = std::move(reason);
  outcome.evidence = std::move(evidence);
  return outcome;
}

Outcome Outcome::Failed(std::string reason, std::string evidence, Duration retry) {
  Outcome outcome;
  outcome.state = StageState::kFailed;
  outcome.reason = std::move(reason);
  outcome.evidence = std::move(evidence);
  outcome.again = retry;
  return outcome;
}

Outcome&& Outcome::After(Duration duration) && {
  again = duration;
  return std::move(*this);
}

}  // namespace pawl::agent
