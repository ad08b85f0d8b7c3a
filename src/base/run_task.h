// Runs a coroutine to its end on a loop of its own; for tests and for commands that do one thing.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <optional>
#include <utility>

#include "base/task.h"

namespace pawl {

// Runs `loop` until `task` has ended and returns what it returned. What else the loop has to do
// waits for the next run.
template <typename T>
T RunTask(asio::io_context& loop, Task<T> task) {
  std::optional<T> result;
  std::exception_ptr thrown;
  asio::co_spawn(loop, std::move(task),
                 [&result, &thrown](const std::exception_ptr& error, T value) {
                   thrown = error;
                   result.emplace(std::move(value));
                 });
  loop.restart();
  while (!result && !thrown) {
    if (loop.run_one() == 0) break;
  }
  if (thrown) std::rethrow_exception(thrown);
  return std::move(result).value();
}

inline void RunTask(asio::io_context& loop, Task<> task) {
  bool done = false;
  std::exception_ptr thrown;
  asio::co_spawn(loop, std::move(task), [&done, &thrown](const std::exception_ptr& error) {
    thrown = error;
    done = true;
  });
  loop.restart();
  while (!done) {
    if (loop.run_one() == 0) break;
  }
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace pawl
