// Resource quantities ("1.5Gi", "500m", "4"), exactly, as spec/kubernetes-client.md §12.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pawl::kube {

class Quantity {
 public:
  enum class Format { kDecimalSi, kBinarySi, kDecimalExponent };

  Quantity() = default;
  explicit Quantity(int64_t whole) : nano_(static_cast<__int128>(whole) * 1'000'000'000) {}

  // Sign, digits with a point, suffix. Below 1e-9 rounds away from zero; beyond ±(2^63−1) stays
  // there. kInvalid names the text and what is wrong.
  static Result<Quantity> Parse(std::string_view text);

  int64_t Value() const;       // in units, rounded away from zero
  int64_t MilliValue() const;  // in thousandths, rounded away from zero; saturates

  // Canonical: no fraction, the largest suffix of its family that keeps it exact.
  std::string ToString() const;

  friend std::strong_ordering operator<=>(const Quantity& a, const Quantity& b) {
    return a.nano_ <=> b.nano_;
  }
  friend bool operator==(const Quantity& a, const Quantity& b) { return a.nano_ == b.nano_; }

 private:
  __extension__ typedef __int128 Nano;
  Nano nano_ = 0;
  Format format_ = Format::kDecimalSi;
};

}  // namespace pawl::kube
