# shellcheck shell=bash
# Installs what is missing, in one go; says nothing but one line when nothing is.

# missing_packages prints those of packages.txt that are not installed.
missing_packages() {
  local wanted
  mapfile -t wanted < <(sed -e 's/#.*//' -e '/^[[:space:]]*$/d' tools/run/packages.txt)
  # dpkg-query speaks only of packages it knows; what it does not list as installed is missing.
  dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null |
    sed -n 's/^installed //p' | sort |
    comm -13 - <(printf '%s\n' "${wanted[@]}" | sort)
}

install_packages() {
  export DEBIAN_FRONTEND=noninteractive
  # The lists are fetched when there are none, or when they are too old to have the packages.
  compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null || as_root apt-get update -q
  apt_install "$@" || { as_root apt-get update -q && apt_install "$@"; }
}

apt_install() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
    -o Dpkg::Use-Pty=0 -o Dpkg::Options::=--force-unsafe-io "$@"
}

run_setup() {
  local missing
  command -v dpkg-query >/dev/null ||
    fail "./run sets up Debian 12 only; elsewhere install what tools/run/packages.txt lists"
  mapfile -t missing < <(missing_packages)
  if [ ${#missing[@]} -eq 0 ]; then
    good "all packages are here"
    return
  fi
  note "missing: ${missing[*]}"
  as_root true # a password is asked for here, not behind the step's line
  step "installing ${#missing[@]} Debian packages" install_packages "${missing[@]}"
}
