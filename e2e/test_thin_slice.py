"""A pod gets its GPU: the main job, on a real cluster whose node has four T4."""

import re
import unittest

import pawl
from cluster import CommandFailed, condition_of
from pawl import NODE, SLEEP, gpus_in

# spec/feature-discovery.md §3 and §4 for testing/profiles/t4x4.yaml: 25 labels with gpu.machine, which depends on the
# kernel below, a timestamp, and mig.strategy, which the chart sets to `single`.
DISCOVERY_LABELS = {
    "cuda.driver-version.full": "550.163.01",
    "cuda.driver-version.major": "550",
    "cuda.driver-version.minor": "163",
    "cuda.driver-version.revision": "01",
    "cuda.driver.major": "550",
    "cuda.driver.minor": "163",
    "cuda.driver.rev": "01",
    "cuda.runtime-version.full": "12.4",
    "cuda.runtime-version.major": "12",
    "cuda.runtime-version.minor": "4",
    "cuda.runtime.major": "12",
    "cuda.runtime.minor": "4",
    "gpu.compute.major": "7",
    "gpu.compute.minor": "5",
    "gpu.count": "4",
    "gpu.family": "turing",
    "gpu.memory": "15360",
    "gpu.mode": "compute",
    "gpu.product": "Tesla-T4",
    "gpu.replicas": "1",
    "gpu.sharing-strategy": "none",
    "mig.capable": "false",
    "mig.strategy": "single",
    "mps.capable": "false",
    "vgpu.present": "false",
}
# spec/operator.md §3.2 and §3.3. No mig-manager: a T4 has no MIG.
OPERATOR_LABELS = {"gpu.present"} | {
    f"gpu.deploy.{operand}"
    for operand in ("driver", "gpu-feature-discovery", "container-toolkit", "device-plugin", "dcgm", "dcgm-exporter",
                    "node-status-exporter", "operator-validator", "client")
}


class ThinSlice(pawl.InstalledTest):
    maxDiff = None

    def machine(self):
        """What the node's kernel says of the machine; one without DMI cannot be dressed as another."""
        try:
            return self.cluster.node(1, "cat", "/sys/class/dmi/id/product_name").strip().replace(" ", "-")
        except CommandFailed:
            return "unknown"

    def test_the_node_carries_the_labels_of_its_gpus(self):
        seen = self.cluster.wait_for(
            "the node has the discovery labels", lambda node: "nvidia.com/gpu.product" in node["metadata"]["labels"],
            "node", NODE)["metadata"]["labels"]
        discovered = {k.removeprefix("nvidia.com/"): v for k, v in seen.items() if k.startswith("nvidia.com/")}
        timestamp = discovered.pop("gfd.timestamp")
        self.assertRegex(timestamp, r"^[0-9]{10}$")
        for label in OPERATOR_LABELS:
            self.assertEqual(discovered.pop(label, None), "true", label)
        self.assertEqual(discovered, DISCOVERY_LABELS | {"gpu.machine": self.machine()})

    def test_the_node_carries_the_labels_that_node_feature_discovery_would_write(self):
        labels = self.cluster.get("node", NODE)["metadata"]["labels"]
        prefix = "feature.node.kubernetes.io/"
        self.assertEqual(labels.get(prefix + "pci-10de.present"), "true")
        self.assertEqual(labels.get(prefix + "system-os_release.ID"), "debian")
        self.assertEqual(labels.get(prefix + "system-os_release.VERSION_ID"), "12")
        self.assertIn(prefix + "kernel-version.full", labels)

    # How soon is a figure of ./run bench and no test: a busy machine would make it lie.
    def test_four_gpus_are_allocatable_after_the_install(self):
        status = self.cluster.get("node", NODE)["status"]
        self.assertEqual(status["capacity"][pawl.RESOURCE], "4")
        self.assertEqual(status["allocatable"][pawl.RESOURCE], "4")

    def test_a_pod_with_one_gpu_prints_one_uuid(self):
        self.start("one", ["nvidia-smi", "-L"], gpus=1)
        self.cluster.wait_for_pod("one", "Succeeded")
        output = self.cluster.logs("one")
        self.assertEqual([model for model, _ in gpus_in(output)], ["Tesla T4"], output)

    def test_two_pods_have_different_gpus(self):
        for name in ("left", "right"):
            self.start(name, SLEEP, gpus=1)
        seen = {}
        for name in ("left", "right"):
            self.cluster.wait_for_pod(name, "Running")
            seen[name] = {uuid for _, uuid in gpus_in(self.cluster.execute(name, "nvidia-smi", "-L"))}
            self.assertEqual(len(seen[name]), 1)
        self.assertNotEqual(seen["left"], seen["right"])

    def test_a_pod_with_all_gpus_sees_each_of_them_once(self):
        self.start("all", ["nvidia-smi", "-L"], gpus=4)
        self.cluster.wait_for_pod("all", "Succeeded")
        self.assertEqual(len({uuid for _, uuid in gpus_in(self.cluster.logs("all"))}), 4)

    def test_a_pod_that_asks_for_five_stays_pending_with_the_schedulers_reason(self):
        self.start("five", SLEEP, gpus=5)
        seen = self.cluster.wait_for(
            "the scheduler says why the pod cannot run",
            lambda thing: condition_of(thing, "PodScheduled").get("reason") == "Unschedulable", "pod", "five")
        self.assertEqual(seen["status"]["phase"], "Pending")
        self.assertIn("Insufficient nvidia.com/gpu", condition_of(seen, "PodScheduled")["message"])

    def test_deleting_a_pod_frees_its_gpus(self):
        self.start("first", SLEEP, gpus=4)
        self.cluster.wait_for_pod("first", "Running")
        self.start("second", ["nvidia-smi", "-L"], gpus=4)
        self.cluster.wait_for(
            "the second pod waits", lambda thing: condition_of(thing, "PodScheduled").get("reason") == "Unschedulable",
            "pod", "second")
        self.cluster.delete("pod", "first")
        self.cluster.wait_for_pod("second", "Succeeded", within=60)
        self.assertEqual(len(gpus_in(self.cluster.logs("second"))), 4)

    def test_a_pod_without_a_request_sees_no_gpu(self):
        self.start("none", SLEEP)
        self.cluster.wait_for_pod("none", "Running")
        self.assertNotIn("nvidia", self.cluster.execute("none", "ls", "/dev"))
        with self.assertRaises(CommandFailed, msg="nvidia-smi is in the pod"):
            self.cluster.execute("none", "nvidia-smi", "-L")
        found = self.cluster.execute("none", "find", "/usr", "/run", "/etc", "-name", "*nvidia*")
        self.assertEqual(found.strip(), "", "files of the driver are in the pod")

    def test_a_pod_has_the_device_node_of_its_own_gpu_only(self):
        self.start("nodes", SLEEP, gpus=1)
        self.cluster.wait_for_pod("nodes", "Running")
        devices = self.cluster.execute("nodes", "ls", "/dev").split()
        gpus = [device for device in devices if re.fullmatch(r"nvidia\d+", device)]
        self.assertEqual(len(gpus), 1, devices)
        self.assertIn("nvidiactl", devices)

    def test_a_pod_finds_the_library_by_its_loader_cache(self):
        self.start("cache", SLEEP, gpus=1)
        self.cluster.wait_for_pod("cache", "Running")
        self.assertNotIn("LD_LIBRARY_PATH", self.cluster.execute("cache", "env"))
        self.cluster.execute("cache", "grep", "-q", "libnvidia-ml.so.1", "/etc/ld.so.cache")

    def test_the_node_says_that_its_gpus_are_ready(self):
        node = self.wait_for_ready_gpus()
        self.assertEqual(condition_of(node, "GPUReady")["reason"], "AllHealthy")

    def test_the_cluster_policy_is_ready(self):
        self.cluster.wait_for("ClusterPolicy is ready", lambda thing: thing.get("status", {}).get("state") == "ready",
                              "clusterpolicies.nvidia.com", "cluster-policy")

    def test_the_charts_own_test_passes(self):
        self.cluster.helm("test", self.installed.release, "-n", pawl.NAMESPACE, "--timeout", "60s")

    def test_an_idle_node_is_not_written_to(self):
        self.wait_for_ready_gpus()
        seen_before = len(self.cluster.audit())
        # kubelet renews its lease every 10 s: the third sight of it is at least 10 s after now.
        renewals = []
        self.cluster.wait_for("kubelet renewed its lease twice",
                              lambda lease: renewals.append(lease["spec"]["renewTime"]) or len(set(renewals)) == 3,
                              "lease", NODE, namespace="kube-node-lease", within=60)
        writes = [request for request in self.cluster.audit()[seen_before:]
                  if request["user"]["username"].startswith(f"system:serviceaccount:{pawl.NAMESPACE}:")
                  and request["verb"] in ("create", "update", "patch", "delete")
                  and request.get("objectRef", {}).get("resource") in ("nodes", "daemonsets", "clusterpolicies")]
        self.assertLessEqual(len(writes), 1, [(w["verb"], w["requestURI"]) for w in writes])


if __name__ == "__main__":
    unittest.main()
