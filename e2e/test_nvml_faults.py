"""The GPU library hangs or crashes under the agent: kubelet is still answered, and what is whole stays allocatable."""

import time
import unittest

import pawl
from cluster import condition_of
from pawl import GPUS, NODE, RESOURCE, gpus_in

# The agent asks each GPU something every 10 s and waits 2 s for an answer; kubelet tells of a change at most 10 s later.
NOTICED = 30
# A GPU that hung or crashed the library is tried again at most once a minute.
BACK = 90


class NvmlFaults(pawl.InstalledTest):
    def setUp(self):
        self.addCleanup(self.mend)
        self.wait_for_ready_gpus()
        self.assertEqual(self.allocatable(), str(GPUS))

    def mend(self):
        """All is well again, also for the next test: a new agent has no grudge against any GPU."""
        self.cluster.node(1, "gpu-faults", "clear")
        self.replace_agent()
        self.cluster.wait_until_schedulable(NODE, RESOURCE, GPUS, within=60)
        self.wait_for_ready_gpus()

    def faults(self, *words):
        self.cluster.node(1, "gpu-faults", *words)

    def allocatable(self):
        return self.cluster.get("node", NODE)["status"]["allocatable"][RESOURCE]

    def replace_agent(self):
        """Deletes the agent's pod and returns how many seconds its process took to end; the DaemonSet makes a new one.

        Signals would do as well, but kubelet makes a container that ended wait before it starts it again.
        """
        agent = self.cluster.node(1, "pgrep", "-o", "-f", "^/usr/bin/pawl agent").strip()
        began = time.monotonic()
        self.cluster.kubectl("delete", "pod", "-n", pawl.NAMESPACE, "-l", "app=nvidia-device-plugin-daemonset",
                             "--wait=false")
        self.cluster.node(1, "timeout", "20", "tail", f"--pid={agent}", "-f", "/dev/null")
        return time.monotonic() - began

    def expect_one_gpu_less(self, word):
        self.cluster.wait_until_schedulable(NODE, RESOURCE, GPUS - 1, within=NOTICED)
        node = self.cluster.get("node", NODE)
        self.assertEqual(node["status"]["capacity"][RESOURCE], str(GPUS))
        told = self.cluster.wait_for("the condition names the GPU", lambda seen: condition_of(
            seen, "GPUReady").get("reason") == "Degraded", "node", NODE)
        self.assertEqual(condition_of(told, "GPUReady")["status"], "True")
        self.assertIn(word, condition_of(told, "GPUReady")["message"])

    def expect_pods_to_run(self, count):
        names = [f"on-the-rest-{number}" for number in range(count)]
        for name in names:
            self.start(name, ["nvidia-smi", "-L"], gpus=1)
        seen = set()
        for name in names:
            self.cluster.wait_for_pod(name, "Succeeded")
            seen.update(gpus_in(self.cluster.logs(name)))
            self.cluster.delete("pod", name)
        return seen

    def test_a_gpu_whose_calls_hang_costs_that_gpu_only(self):
        self.faults("gpu", "2", "hang")
        self.expect_one_gpu_less("NvmlHung")
        self.assertTrue(self.expect_pods_to_run(GPUS - 1))
        self.assertLess(self.replace_agent(), 3, "2 s, and the time that kubectl and kubelet take")

    def test_a_gpu_that_crashes_the_library_costs_that_gpu_only_and_comes_back(self):
        self.faults("gpu", "1", "crash")
        self.expect_one_gpu_less("NvmlCrashed")
        self.assertTrue(self.expect_pods_to_run(GPUS - 1))
        self.faults("clear")
        self.cluster.wait_until_schedulable(NODE, RESOURCE, GPUS, within=BACK)

    def test_a_library_that_hangs_in_init_leaves_an_agent_that_answers_and_ends(self):
        self.faults("init", "hang")
        self.replace_agent()
        # The new agent cannot read the GPUs, but says so at once, and kubelet has its list.
        self.cluster.wait_for("the condition says what hangs", lambda seen: "NVML" in condition_of(
            seen, "GPUReady").get("message", "") or "Nvml" in condition_of(seen, "GPUReady").get("message", ""),
            "node", NODE, within=NOTICED)
        self.assertEqual(self.cluster.get("node", NODE)["status"]["capacity"][RESOURCE], str(GPUS))
        self.assertLess(self.replace_agent(), 3, "2 s, and the time that kubectl and kubelet take")

    def test_a_lost_gpu_is_taken_away_and_comes_back(self):
        self.faults("lost", "3")
        self.expect_one_gpu_less("lost")
        self.start("asks-for-all", ["nvidia-smi", "-L"], gpus=GPUS)
        refused = self.cluster.wait_for("the scheduler says why", lambda seen: condition_of(
            seen, "PodScheduled").get("reason") == "Unschedulable", "pod", "asks-for-all")
        self.assertIn(RESOURCE, condition_of(refused, "PodScheduled")["message"])
        self.faults("clear")
        self.cluster.wait_for_pod("asks-for-all", "Succeeded", within=BACK)


if __name__ == "__main__":
    unittest.main()
