#include "kube/quantity.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/text.h"

namespace pawl::kube {
namespace {

__extension__ typedef __int128 Nano;

constexpr int kNanoDigits = 9;
constexpr Nano kUnit = 1'000'000'000;
constexpr Nano kMost = static_cast<Nano>(std::numeric_limits<int64_t>::max()) * kUnit;

struct Suffix {
  std::string_view text;
  int tens;      // power of ten
  int binaries;  // power of 1024
};
constexpr Suffix kSuffixes[] = {
    {"n", -9, 0}, {"u", -6, 0}, {"m", -3, 0}, {"", 0, 0},   {"k", 3, 0},  {"M", 6, 0},
    {"G", 9, 0},  {"T", 12, 0}, {"P", 15, 0}, {"E", 18, 0}, {"Ki", 0, 1}, {"Mi", 0, 2},
    {"Gi", 0, 3}, {"Ti", 0, 4}, {"Pi", 0, 5}, {"Ei", 0, 6},
};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// A number's digits as text, so that nothing is lost whatever its length.
void MultiplyBy1024(std::string& digits) {
  int carry = 0;
  for (size_t i = digits.size(); i-- > 0;) {
    const int product = (digits[i] - '0') * 1024 + carry;
    digits[i] = static_cast<char>('0' + product % 10);
    carry = product / 10;
  }
  for (; carry > 0; carry /= 10) digits.insert(digits.begin(), static_cast<char>('0' + carry % 10));
}

// digits · 10^exponent, rounded up and held below 2^63 units.
Nano ToNano(std::string digits, int64_t exponent) {
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.empty()) return 0;
  exponent += kNanoDigits;
  const int64_t whole = static_cast<int64_t>(digits.size()) + exponent;  // digits before the point
  if (whole <= 0) return 1;
  constexpr int64_t kMostDigits = 29;
  if (whole > kMostDigits) return kMost;
  bool rest = false;
  Nano nano = 0;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (static_cast<int64_t>(i) < whole) {
      nano = nano * 10 + (digits[i] - '0');
    } else {
      rest = rest || digits[i] != '0';
    }
  }
  for (int64_t i = static_cast<int64_t>(digits.size()); i < whole; ++i) nano *= 10;
  return std::min(nano + (rest ? 1 : 0), kMost);
}

// "e3", "E-6": a power of ten. Not "E" alone, which is a suffix.
std::optional<int64_t> ParseExponent(std::string_view text) {
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return std::nullopt;
  text.remove_prefix(1);
  const bool negative = text[0] == '-';
  if (text[0] == '-' || text[0] == '+') text.remove_prefix(1);
  const std::optional<uint64_t> power = ParseUnsigned(text);
  constexpr uint64_t kLargest = 1000;
  if (!power) return std::nullopt;
  const auto held = static_cast<int64_t>(std::min(*power, kLargest));
  return negative ? -held : held;
}

int64_t RoundAway(Nano nano, Nano unit) {
  const Nano quotient = nano / unit;
  const Nano rest = nano % unit;
  const Nano rounded = quotient + (rest > 0 ? 1 : (rest < 0 ? -1 : 0));
  constexpr Nano kLargest = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::clamp(rounded, -kLargest, kLargest));
}

std::string Digits(Nano value) {
  const bool negative = value < 0;
  std::string text;
  do {
    const auto digit = static_cast<int>(value % 10);
    text.insert(text.begin(), static_cast<char>('0' + (digit < 0 ? -digit : digit)));
    value /= 10;
  } while (value != 0);
  return negative ? "-" + text : text;
}

}  // namespace

Result<Quantity> Quantity::Parse(std::string_view text) {
  const auto bad = [&](std::string_view why) {
    return Fail(ErrorKind::kInvalid, "quantity '" + std::string(text) + "': " + std::string(why));
  };
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  std::string digits;
  int64_t exponent = 0;
  bool point = false;
  size_t i = 0;
  for (; i < rest.size() && (IsDigit(rest[i]) || (rest[i] == '.' && !point)); ++i) {
    if (rest[i] == '.') {
      point = true;
      continue;
    }
    digits += rest[i];
    if (point) --exponent;
  }
  if (digits.empty()) return bad("expected a number");
  rest.remove_prefix(i);
  Quantity quantity;
  if (const std::optional<int64_t> power = ParseExponent(rest)) {
    exponent += *power;
    quantity.format_ = Format::kDecimalExponent;
  } else {
    const auto* found = std::find_if(std::begin(kSuffixes), std::end(kSuffixes),
                                     [&](const Suffix& suffix) { return suffix.text == rest; });
    if (found == std::end(kSuffixes)) {
      return bad("expected one of the suffixes n u m k M G T P E Ki Mi Gi Ti Pi Ei or an exponent");
    }
    exponent += found->tens;
    for (int n = 0; n < found->binaries; ++n) MultiplyBy1024(digits);
    if (found->binaries > 0) quantity.format_ = Format::kBinarySi;
  }
  quantity.nano_ = ToNano(std::move(digits), exponent);
  if (negative) quantity.nano_ = -quantity.nano_;
  return quantity;
}

int64_t Quantity::Value() const { return RoundAway(nano_, kUnit); }

int64_t Quantity::MilliValue() const { return RoundAway(nano_, kUnit / 1000); }

std::string Quantity::ToString() const {
  if (nano_ == 0) return "0";
  const Nano whole = nano_ / kUnit;
  const bool binary =
      format_ == Format::kBinarySi && nano_ % kUnit == 0 && (whole >= 1024 || whole <= -1024);
  if (binary) {
    constexpr std::string_view kBinary[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    Nano value = whole;
    size_t power = 0;
    for (; value % 1024 == 0 && power + 1 < std::size(kBinary); ++power) value /= 1024;
    return Digits(value) + std::string(kBinary[power]);
  }
  Nano value = nano_;
  int power = -kNanoDigits;
  constexpr int kLargestPower = 18;
  for (; value % 1000 == 0 && power < kLargestPower; power += 3) value /= 1000;
  if (format_ == Format::kDecimalExponent) {
    return power == 0 ? Digits(value) : Digits(value) + "e" + std::to_string(power);
  }
  for (const Suffix& suffix : kSuffixes) {
    if (suffix.binaries == 0 && suffix.tens == power) {
      return Digits(value) + std::string(suffix.text);
    }
  }
  return Digits(value);
}

}  // namespace pawl::kube
