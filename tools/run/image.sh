# shellcheck shell=bash
# The container image, made without a container daemon: dist/pawl.tar, a docker-archive named localhost/pawl:dev, and
# dist/pawl.oci/. tools/image says what it holds and takes the options.

run_image() {
  step "building the image" tools/image --build build/release --out dist "$@"
}
