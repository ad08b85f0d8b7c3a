# shellcheck shell=bash
# The container image, without a container daemon: dist/*.tar, a docker-archive named localhost/pawl:dev.

run_image() {
  mkdir -p dist
  step "building the image" tools/image dist "$@"
}
