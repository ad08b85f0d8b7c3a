"""Installing pawl on a test cluster, and the names that users know it by."""

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
SLEEP = ["sleep", "3600"]
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
    """Takes all of pawl away again."""
    for release in releases(cluster):
        cluster.helm("uninstall", release, "-n", NAMESPACE, "--wait", "--timeout", "2m")


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
