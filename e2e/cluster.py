"""The cluster of `./run cluster up`, as tests see it.

Everything goes through kubectl, helm and a shell on the nodes: what a person at this cluster could do, a test can do.
Nothing sleeps. `wait_for` follows a watch until a condition holds or its deadline passes; the error then says what was
waited for and shows the object as it was last seen.
"""

import codecs
import contextlib
import fcntl
import json
import os
import pathlib
import select
import shlex
import subprocess
import sys
import time

REPO = pathlib.Path(__file__).resolve().parent.parent
STATE = pathlib.Path(os.environ.get("PAWL_STATE") or pathlib.Path.home() / ".cache/pawl/state")
NETNS = "/run/netns/pawl-ctl"
NODE_STORY = (r'{range .items[*]}{.metadata.name} {.status.allocatable}{"\n"}'
              r'{range .status.conditions[*]}   {.type}={.status} {.reason}: {.message}{"\n"}{end}{end}')


class CommandFailed(AssertionError):
    """A command ended with another status than 0. `output` is what it wrote, both streams."""

    def __init__(self, command, status, output):
        super().__init__(f"{shlex.join(command)} ended with {status}:\n{output.strip()}")
        self.status = status
        self.output = output


class Deadline(AssertionError):
    """Something did not happen in time."""


def run(command, *, stdin=None, timeout=60):
    """Runs a command and returns its standard output; raises CommandFailed."""
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=timeout, check=False)
    if done.returncode != 0:
        raise CommandFailed(command, done.returncode, done.stdout + done.stderr)
    return done.stdout


def use_alone():
    """Waits until no other run of tests, demo or bench uses the cluster; keeps others off until this program ends.

    A program that holds the cluster for longer, such as ./run test, hands its lock on as file 8.
    """
    _shape()
    path = STATE / "use.lock"
    lock = open(8 if _is_file(8, path) else path, "a+", encoding="utf-8")  # stays open, and with that locked
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        who = path.read_text(encoding="utf-8").strip()
        print(f"   … waiting for another run on this cluster ({who})", flush=True)
        fcntl.flock(lock, fcntl.LOCK_EX)
        _shape()  # it may have gone meanwhile
    path.write_text(f"{pathlib.Path(sys.argv[0]).name}, process {os.getpid()}\n", encoding="utf-8")
    return lock


def _is_file(number, path):
    """Whether this program was started with that file open."""
    try:
        return os.path.samestat(os.fstat(number), os.stat(path))
    except OSError:
        return False


def _shape():
    """What `cluster up` wrote about the cluster: bin, nodes, profile, images."""
    path = STATE / "shape"
    if not path.exists():
        raise RuntimeError("there is no cluster; ./run cluster up starts one")
    lines = (line.split("=", 1) for line in path.read_text().splitlines())
    return {key: shlex.split(value)[0] for key, value in lines}


class Cluster:
    """A handle on the running cluster. Cheap to make."""

    def __init__(self):
        self.shape = _shape()
        self._inside = ["nsenter", f"--net={NETNS}"]
        self._kubectl = [*self._inside, f"{self.shape['bin']}/kubectl", "--kubeconfig", f"{STATE}/pki/admin.conf"]
        self._helm = [*self._inside, "env", f"KUBECONFIG={STATE}/pki/admin.conf", f"HELM_CACHE_HOME={STATE}/helm/cache",
                      f"HELM_CONFIG_HOME={STATE}/helm/config", f"HELM_DATA_HOME={STATE}/helm/data",
                      f"{self.shape['bin']}/helm"]

    # Commands

    def kubectl(self, *arguments, stdin=None, timeout=60):
        return run([*self._kubectl, *arguments], stdin=stdin, timeout=timeout)

    def helm(self, *arguments, timeout=180):
        return run([*self._helm, *arguments], timeout=timeout)

    def node(self, number, *command, timeout=60):
        """Runs a command on node `number` (from 1), as root who is logged in there."""
        return run([str(REPO / "run"), "cluster", "node", str(number), *command], timeout=timeout)

    def audit(self):
        """Every request that the API server has answered so far, oldest first."""
        with open(STATE / "audit/log.json", encoding="utf-8") as log:
            return [json.loads(line) for line in log if line.endswith("\n")]

    # Objects

    def get(self, kind, name=None, *, namespace=None, selector=None):
        """One object when `name` is given, else the list of objects."""
        found = json.loads(self.kubectl("get", *_target(kind, name, namespace, selector), "-o", "json"))
        return found if name else found["items"]

    def apply(self, manifest):
        """Applies one object or a list of objects."""
        items = manifest if isinstance(manifest, list) else [manifest]
        self.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))

    def delete(self, kind, *names, namespace=None, wait=True):
        """Deletes objects at once, and returns when they are gone. Deleting what is not there is fine."""
        self.kubectl("delete", *_target(kind, None, namespace, None), *names, "--ignore-not-found", "--grace-period=1",
                     f"--wait={str(wait).lower()}", "--timeout=60s", timeout=90)

    def logs(self, pod, *, namespace=None, container=None):
        chosen = ["-c", container] if container else []
        return self.kubectl("logs", *_target(None, pod, namespace, None), *chosen)

    def execute(self, pod, *command, namespace=None):
        return self.kubectl("exec", *_target(None, pod, namespace, None), "--", *command)

    # Waiting

    def watch(self, kind, name=None, *, namespace=None, selector=None, within):
        """Yields (type, object) of a watch, from the present state on; raises Deadline after `within` seconds.

        A watch that the API server ends, or that cannot be had yet, is begun again.
        """
        end = time.monotonic() + within
        command = [*self._kubectl, "get", *_target(kind, name, namespace, selector), "-o", "json", "--watch",
                   "--output-watch-events"]
        while True:
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as watcher:
                try:
                    yield from _events(watcher.stdout, end)
                finally:
                    watcher.kill()

    def wait_for(self, what, condition, kind, name=None, *, namespace=None, selector=None, within=30):
        """Waits until `condition(object)` is true, and returns that object. `what` names it in errors."""
        seen = None
        watch = self.watch(kind, name, namespace=namespace, selector=selector, within=within)
        try:
            with contextlib.closing(watch) as events:
                for event, seen in events:
                    if event != "DELETED" and condition(seen):
                        return seen
        except Deadline:
            pass
        raise Deadline(f"not within {within} s: {what}; last seen:\n{_brief(seen)}")

    def wait_for_pod(self, pod, phase, *, namespace=None, within=30):
        """Waits until a pod has a phase, and for `Running` until it is ready. A failed pod ends the wait."""

        def reached(seen):
            status = seen.get("status", {})
            if status.get("phase") == "Failed" and phase != "Failed":
                raise AssertionError(f"pod {pod} failed:\n{_brief(seen)}\n{self._pod_logs(pod, namespace)}")
            if status.get("phase") != phase:
                return False
            return phase != "Running" or condition_of(seen, "Ready").get("status") == "True"

        return self.wait_for(f"pod {pod} is {phase}", reached, "pod", pod, namespace=namespace, within=within)

    def wait_until_schedulable(self, node, resource, count, within=30):
        """Waits until a node lets `count` of a resource be allocated."""
        return self.wait_for(f"{node} has {count} {resource} allocatable",
                             lambda seen: seen["status"]["allocatable"].get(resource) == str(count),
                             "node", node, within=within)

    def _pod_logs(self, pod, namespace):
        try:
            return self.logs(pod, namespace=namespace)
        except CommandFailed as failure:
            return failure.output

    def story(self, namespace):
        """What a person would look at first when something in a namespace went wrong, as text."""
        parts = []
        for title, arguments in (
                ("nodes", ("get", "nodes", "-o", "jsonpath=" + NODE_STORY)),
                ("pods", ("get", "pods", "-A", "-o", "wide")),
                ("warnings", ("get", "events", "-A", "--sort-by=.lastTimestamp", "--field-selector=type=Warning")),
                ("logs", ("logs", "-n", namespace, "-l", "app", "--all-containers", "--prefix", "--tail=30",
                          "--ignore-errors"))):
            try:
                parts.append(f"--- {title}\n{self.kubectl(*arguments, timeout=20)}")
            except (CommandFailed, subprocess.TimeoutExpired) as failure:
                parts.append(f"--- {title}\n{failure}")
        return "\n".join(parts)


def condition_of(thing, kind):
    """The condition of that type of an object, or {}."""
    return next((c for c in thing.get("status", {}).get("conditions", []) if c["type"] == kind), {})


def pod(name, command, *, gpus=0, image="localhost/pawl-test:1", namespace="default", **spec):
    """A pod of one container that asks for GPUs in the way of kubelet's device plugins, or for none."""
    container = {"name": "main", "image": image, "imagePullPolicy": "Never", "command": command}
    if gpus:
        container["resources"] = {"limits": {"nvidia.com/gpu": str(gpus)}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace},
            "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [container], **spec}}


def _target(kind, name, namespace, selector):
    words = [word for word in (kind, name) if word]
    if namespace:
        words += ["-n", namespace]
    if selector:
        words += ["-l", selector]
    return words


def _events(stream, end):
    """Decodes kubectl's watch events from its output until that ends; raises Deadline when `end` passes."""
    decoder = json.JSONDecoder()
    letters = codecs.getincrementaldecoder("utf-8")()  # a chunk may end inside a letter
    text = ""
    while True:
        left = end - time.monotonic()
        if left <= 0 or not select.select([stream], [], [], left)[0]:
            raise Deadline("the watch's deadline passed")
        chunk = os.read(stream.fileno(), 1 << 20)
        if not chunk:
            return
        text += letters.decode(chunk)
        while text := text.lstrip():
            try:
                event, length = decoder.raw_decode(text)
            except json.JSONDecodeError:
                break
            text = text[length:]
            yield event["type"], event["object"]


def _brief(thing):
    """An object as JSON without what nobody reads."""
    if thing is None:
        return "(nothing)"
    metadata = {k: v for k, v in thing.get("metadata", {}).items() if k in ("name", "namespace", "labels")}
    status = {k: v for k, v in thing.get("status", {}).items() if k not in ("images",)}
    return json.dumps({"metadata": metadata, "status": status}, indent=1)[:6000]
