#include "kube/resource.h"

namespace pawl::kube {
namespace {

bool IsUnreserved(unsigned char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

}  // namespace

std::string PercentEncode(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (IsUnreserved(byte)) {
      out += c;
    } else {
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out;
}

std::string Resource::ApiVersion() const {
  std::string text(group);
  if (!text.empty()) text += '/';
  text += version;
  return text;
}

std::string Resource::Path(std::string_view ns, std::string_view name,
                           std::string_view subresource) const {
  std::string path = group.empty() ? "/api/" : "/apis/";
  path += ApiVersion();
  if (namespaced && !ns.empty()) path += "/namespaces/" + PercentEncode(ns);
  path += '/';
  path += plural;
  if (!name.empty()) path += "/" + PercentEncode(name);
  if (!subresource.empty()) {
    path += '/';
    path += subresource;
  }
  return path;
}

}  // namespace pawl::kube
