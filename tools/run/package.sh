# shellcheck shell=bash
# Packages for plain servers, where `pawl advise` works with nothing else installed: a .deb and a tarball in dist/.
# tools/package says what they hold and takes the options.

run_package() {
  step "building the packages" tools/package --build build/release --out dist "$@"
}
