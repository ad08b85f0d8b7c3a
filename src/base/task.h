// Coroutines on one event loop. A Task is started by `co_await` or by Spawn; between two co_awaits
// nothing else of the loop runs, so business code needs no locks.
//
// GCC 12 has defects in coroutines. Keep to this: a coroutine is a named function or member, never
// a capturing lambda; arguments are taken by value or are sure to outlive it; what has a destructor
// gets a name before a co_await uses it; no co_await inside a catch block. docs/common-errors.md
// tells what happens otherwise.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <string_view>

namespace pawl {

namespace asio = boost::asio;
using Executor = asio::any_io_executor;
using Duration = std::chrono::steady_clock::duration;
using Time = std::chrono::steady_clock::time_point;
using namespace std::chrono_literals;

template <typename T = void>
using Task = asio::awaitable<T>;

// Starts a task beside the others. An exception that leaves it is a bug: it is logged with `name`
// and the process aborts. A task whose operations are cancelled because the loop stops ends
// silently.
void Spawn(const Executor& executor, std::string_view name, Task<> task);

// Awaits this long. The only sleep there is; tests pass time in instead.
Task<> Sleep(Duration duration);

// A flag that tasks of one loop wait for. One Notify lets one waiter go on, which takes the flag;
// several before that count as one. A Notify with nobody waiting is kept until the next Wait takes
// it. Where several wait, whoever goes on and leaves something for another notifies again. Not for
// several threads: post to the loop first.
class Event {
 public:
  explicit Event(const Executor& executor) : timer_(executor, Time::max()) {}

  void Notify();
  Task<> Wait();                          // takes the flag
  Task<bool> WaitFor(Duration duration);  // true: notified; false: the time is up

 private:
  asio::steady_timer timer_;
  bool set_ = false;
};

}  // namespace pawl
