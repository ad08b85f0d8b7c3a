#!/usr/bin/env python3
"""clang-tidy over the sources, but only over what changed since it last passed. Tests are left to the compiler's own
warnings and to the sanitizers, under which they run: half of the time would be theirs.

A source has passed as long as it, every header of ours that its object was built from (ninja knows them), .clang-tidy
and the compiler's options are the same. Stamps of that lie in ~/.cache/pawl/tidy/
and are good for every clone.
    tidy.py             all sources
    tidy.py --changed   those that differ from the last commit (headers: all that include them)
    tidy.py --fix       also applies what clang-tidy proposes
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build/release"
STAMPS = pathlib.Path.home() / ".cache/pawl/tidy"
ROOMS = ("src/", "testing/", "bench/")
# GCC's options that clang does not know.
CLANG = ["--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-ignored-optimization-argument"]
NOISE = re.compile(r"^(\d+ warnings?( and \d+ errors?)? generated\.|\d+ warnings? treated as errors?|Suppressed .*)$")


def sources():
    """The compile command of each source of ours, by its path from the root."""
    found = {}
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["file"])
        if path.name.endswith("_test.cpp"):
            continue
        if path.is_relative_to(ROOT) and str(path.relative_to(ROOT)).startswith(ROOMS):
            found[str(path.relative_to(ROOT))] = entry["command"]
    return found


def dependencies():
    """The headers of ours that each source's object was built from. A source that was not built has none here."""
    out = subprocess.run(["ninja", "-C", str(BUILD), "-t", "deps"], capture_output=True, text=True, check=True).stdout
    found = {}
    for block in out.split("\n\n"):
        lines = block.splitlines()
        if not lines or "#deps" not in lines[0]:
            continue
        files = [os.path.normpath(BUILD / line.strip()) for line in lines[1:]]
        ours = [os.path.relpath(f, ROOT) for f in files if f.startswith(str(ROOT)) and not f.startswith(str(BUILD))]
        if ours:
            found[ours[0]] = sorted(set(ours))
    return found


def digest(source, command, headers, common):
    h = hashlib.sha256(common)
    h.update(command.replace(str(ROOT), ".").encode())
    for path in (source, *headers):
        h.update(path.encode())
        h.update((ROOT / path).read_bytes() if (ROOT / path).exists() else b"gone")
    return h.hexdigest()


def changed_files():
    out = subprocess.run(["git", "-C", str(ROOT), "status", "--porcelain", "--untracked-files=all"],
                         capture_output=True, text=True, check=True).stdout
    return {line[3:].split(" -> ")[-1] for line in out.splitlines()}


def check(source, fix):
    command = ["clang-tidy", "--quiet", "-p", str(BUILD), *CLANG]
    if fix:
        command.append("--fix")
    command.append(str(ROOT / source))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    text = "\n".join(line for line in (done.stdout + done.stderr).splitlines() if not NOISE.match(line))
    return done.returncode == 0, text


def main():
    STAMPS.mkdir(parents=True, exist_ok=True)
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    common = version + (ROOT / ".clang-tidy").read_bytes() + " ".join(CLANG).encode()
    known = dependencies()
    changed = changed_files() if "--changed" in sys.argv else None
    work = {}
    for source, command in sorted(sources().items()):
        headers = known.get(source, [])
        if changed is not None and not changed.intersection([source, *headers]):
            continue
        key = digest(source, command, headers, common)
        stamp = STAMPS / (source.replace("/", "+") + ".ok")
        if not stamp.exists() or stamp.read_text() != key:
            work[source] = (stamp, key)
    began, bad = time.monotonic(), []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        jobs = {pool.submit(check, source, "--fix" in sys.argv): source for source in work}
        for number, job in enumerate(concurrent.futures.as_completed(jobs), 1):
            source, (ok, text) = jobs[job], job.result()
            stamp, key = work[source]
            if ok:
                stamp.write_text(key)
            else:
                bad.append(source)
            print(f"[{number}/{len(work)}] {'ok' if ok else 'BAD'} {source}{'' if ok else chr(10) + text}", flush=True)
    print(f"clang-tidy: {len(work)} looked at in {time.monotonic() - began:.0f} s, {len(bad)} with findings")
    for source in bad:
        print(f"   {source}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
