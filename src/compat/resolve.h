// The resolver: from a question to an answer. Pure: the same knowledge and input give the same
// answer, nothing is read or kept.
//
//   Result<KnowledgeBase> knowledge = KnowledgeBase::BuiltIn();
//   Input input;
//   input.gpus = {"1EB8"};
//   input.kernel = "5.15.0-113-generic";
//   input.os_id = "ubuntu", input.os_version = "22.04";
//   Answer answer = Resolve(*knowledge, input);
//   answer.recommended->version;  // and answer.why
#pragma once

#include "compat/answer.h"
#include "compat/input.h"
#include "compat/knowledge.h"

namespace pawl::compat {

Answer Resolve(const KnowledgeBase& knowledge, const Input& input);

}  // namespace pawl::compat
