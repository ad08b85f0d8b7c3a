// The answer for a person: short tables and the commands that help. Pure text.
#pragma once

#include <string>
#include <vector>

#include "compat/answer.h"
#include "compat/inspect.h"
#include "compat/knowledge.h"

namespace pawl::compat {

// What a reboot into another installed kernel would mean.
struct NextKernel {
  std::string kernel;
  Answer answer;
};

// How `pawl advise` ends: 0 fits, 1 conflict, 2 cannot tell.
int ExitCode(const Answer& answer, const std::vector<NextKernel>& next);

std::string RenderAnswer(const KnowledgeBase& knowledge, const Input& input, const Answer& answer,
                         Detail detail);

// With what was found on the machine in front, and its next kernels behind.
std::string RenderMachine(const KnowledgeBase& knowledge, const Machine& machine,
                          const Input& input, const Answer& answer,
                          const std::vector<NextKernel>& next, Detail detail);

// One row a branch: what these GPUs can have of it.
struct MatrixRow {
  std::string branch, type, end_of_life, version, flavour,
      reason;  // reason: why there is no version
  bool past = false;
  CudaMax cuda;
  std::string pytorch;
};
std::vector<MatrixRow> Matrix(const KnowledgeBase& knowledge, const Input& input);
std::string RenderMatrix(const std::vector<MatrixRow>& rows);
json::array ToJson(const std::vector<MatrixRow>& rows);

// The commands that put a recommended driver in place; empty where none can be told.
std::vector<std::string> Commands(const Input& input, const Recommended& recommended);

}  // namespace pawl::compat
