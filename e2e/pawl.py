"""Installing pawl on a test cluster, and the names that users know it by."""

import json
import os
import re
import time
import unittest

from cluster import REPO, Cluster, CommandFailed, condition_of, pod

NAMESPACE = "gpu-operator"
CHART = str(REPO / "deploy/helm/pawl")
RESOURCE = "nvidia.com/gpu"
NODE = "node1"
GPUS = 4  # on each node, by testing/profiles/t4x4.yaml
SLEEP = ["sh", "-c", "trap 'exit 0' TERM; sleep 3600 & wait"]  # and ends at once when it is told to
UUID_LINE = re.compile(r"GPU \d+: (?P<model>.+) \(UUID: (?P<uuid>GPU-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\)")
# The image that `./run cluster load dist/pawl.tar` put on the nodes serves every role.
IMAGE = ("--set", "operator.repository=localhost", "--set", "operator.image=pawl", "--set", "operator.version=dev",
         "--set", "operator.imagePullPolicy=Never",
         "--set", "tests.image=localhost/pawl-test:1", "--set", "tests.imagePullPolicy=Never")


def install(cluster, *options):
    """Installs the chart as a user would, the driver being on the nodes already. Returns the release's name."""
    output = cluster.helm("install", "--wait", "--timeout", "2m", "--generate-name", "-n", NAMESPACE,
                          "--create-namespace", CHART, "--set", "driver.enabled=false", *IMAGE, *options)
    return next(line.split(":", 1)[1].strip() for line in output.splitlines() if line.startswith("NAME:"))


def releases(cluster):
    """The names of pawl's releases on the cluster; there should be one or none."""
    return cluster.helm("list", "-n", NAMESPACE, "-a", "-q").split()


def uninstall(cluster):
    """Takes all of pawl away again, and what helm leaves: the next install finds a node that never had pawl."""
    for release in releases(cluster):
        cluster.helm("uninstall", release, "-n", NAMESPACE, "--wait", "--timeout", "2m")
    # Pods that tests left. The operator's lease: a new operator would wait for the old one's to run out.
    cluster.kubectl("delete", "pods", "--all", "-n", "default", "--grace-period=1", "--timeout=60s", timeout=90)
    cluster.kubectl("delete", "pods,leases", "--all", "-n", NAMESPACE, "--ignore-not-found", "--timeout=60s",
                    timeout=90)
    for node in cluster.get("nodes"):
        name = node["metadata"]["name"]
        ours = [f"{label}-" for label in node["metadata"]["labels"]
                if label.startswith(("nvidia.com/", "feature.node.kubernetes.io/"))]
        if ours:
            cluster.kubectl("label", "node", name, *ours)
        gone = {"status": {"conditions": [{"type": "GPUReady", "$patch": "delete"}]}}
        cluster.kubectl("patch", "node", name, "--subresource=status", "-p", json.dumps(gone))
        # kubelet tells of it with its next status, at most 10 s later.
        cluster.wait_for(f"{name} has no {RESOURCE} left",
                         lambda seen: seen["status"]["allocatable"].get(RESOURCE, "0") == "0", "node", name)


class Installed:
    """pawl, newly installed on the cluster, and how many seconds it took until its GPUs could be allocated."""

    def __init__(self, cluster):
        self.cluster = cluster
        uninstall(cluster)
        self.began = time.monotonic()
        self.release = install(cluster)
        cluster.wait_until_schedulable(NODE, RESOURCE, GPUS, within=30)
        self.allocatable_after = time.monotonic() - self.began


class InstalledTest(unittest.TestCase):
    """Tests of an installed pawl: one installation a class."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.addClassCleanup(uninstall_unless_kept, cls.cluster)
        cls.installed = Installed(cls.cluster)

    def start(self, name, command, **options):
        """Starts a pod that goes away with the test."""
        self.addCleanup(self.cluster.delete, "pod", name)
        self.cluster.apply(pod(name, command, **options))

    def wait_for_ready_gpus(self, within=30):
        return self.cluster.wait_for("the node's condition GPUReady is True", gpus_ready, "node", NODE, within=within)


def uninstall_unless_kept(cluster):
    """With PAWL_E2E_KEEP=1 pawl stays after the tests, so that one can look around."""
    if os.environ.get("PAWL_E2E_KEEP") != "1":
        uninstall(cluster)


def gpus_ready(node):
    return condition_of(node, "GPUReady").get("status") == "True"


def gpus_in(text):
    """The GPUs that `nvidia-smi -L` listed, as a list of (model, UUID)."""
    return [(line["model"], line["uuid"]) for line in map(UUID_LINE.fullmatch, text.splitlines()) if line]


def story(cluster):
    try:
        return cluster.story(NAMESPACE)
    except CommandFailed as failure:
        return str(failure)
