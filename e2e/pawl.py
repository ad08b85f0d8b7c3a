"""Installing pawl on a test cluster, and the names that users know it by."""

import os
import time

from cluster import REPO, CommandFailed

NAMESPACE = "gpu-operator"
CHART = str(REPO / "deploy/helm/pawl")
RESOURCE = "nvidia.com/gpu"
# The image that `./run cluster load dist/pawl.tar` put on the nodes; it serves every role.
IMAGE = ("--set", "operator.repository=localhost", "--set", "operator.image=pawl", "--set", "operator.version=dev",
         "--set", "operator.imagePullPolicy=Never")


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
    """pawl on the cluster, for the tests of one class: makes it when it is not there, and keeps how long it took.

    With PAWL_E2E_KEEP=1 it stays after the tests, so that one can look around.
    """

    def __init__(self, cluster):
        self.cluster = cluster
        uninstall(cluster)
        self.began = time.monotonic()
        self.release = install(cluster)
        self.ready_after = time.monotonic() - self.began

    def remove(self):
        if os.environ.get("PAWL_E2E_KEEP") != "1":
            uninstall(self.cluster)


def story(cluster):
    try:
        return cluster.story(NAMESPACE)
    except CommandFailed as failure:
        return str(failure)
