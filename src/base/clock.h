// Wall-clock time as text. Code that decides takes the time as a parameter; only the edge asks for
// it.
#pragma once

#include <chrono>
#include <string>

namespace pawl {

using WallTime = std::chrono::system_clock::time_point;

std::string ToRfc3339(WallTime time);       // "2026-01-02T03:04:05Z", as Kubernetes' metav1.Time
std::string ToRfc3339Micro(WallTime time);  // "2026-01-02T03:04:05.678901Z", as metav1.MicroTime

}  // namespace pawl
