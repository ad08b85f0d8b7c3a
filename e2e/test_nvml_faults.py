"""The GPU library hangs or crashes under the agent: kubelet is still answered, and what is whole stays allocatable."""

import re
import unittest

import pawl
from cluster import condition_of
from pawl import GPUS, NAMESPACE, NODE, RESOURCE, SLEEP, gpus_in

# The agent asks each GPU something every 10 s and waits 2 s for an answer; kubelet tells of a change at most 10 s later.
NOTICED = 30
# A GPU that hung or crashed the library is tried again at most once a minute.
BACK = 90
# A new pod starts, and its agent waits 15 s before it calls a node unready that was ready.
TOLD = 45
AGENT = "app=nvidia-device-plugin-daemonset"
# How long the agent takes to end, in seconds. There may be none yet: kubelet is about to start it.
TERMINATE = r"""
until agent=$(pgrep -o -f '^/usr/bin/pawl agent'); do sleep 0.1; done
began=$(date +%s.%N)
kill -TERM "$agent"
tail --pid="$agent" -s 0.02 -f /dev/null
echo "$began $(date +%s.%N)"
"""
UUID_OF_BAD = re.compile(r"(GPU-[0-9a-f-]{36}) \([0-9a-f:.]+\): ")


class NvmlFaults(pawl.InstalledTest):
    def setUp(self):
        self.addCleanup(self.mend)
        self.wait_for_ready_gpus()
        self.assertEqual(self.allocatable(), str(GPUS))

    def mend(self):
        """All is well again, also for the next test: a new agent has no grudge against any GPU."""
        self.faults("clear")
        self.wait_for_agent("Ready", other_than=self.replace_agent())
        self.cluster.wait_until_schedulable(NODE, RESOURCE, GPUS, within=60)
        self.wait_for_ready_gpus()

    def faults(self, *words):
        self.cluster.node(1, "gpu-faults", *words)

    def allocatable(self):
        return self.cluster.get("node", NODE)["status"]["allocatable"][RESOURCE]

    def replace_agent(self):
        """Deletes the agent's pod and returns its name; when this returns, the agent has ended.

        The DaemonSet makes a new pod. Kubelet would make a container that ended wait before it starts it again.
        """
        old = next(pod["metadata"]["name"]
                   for pod in self.cluster.get("pods", namespace=NAMESPACE, selector=AGENT)
                   if pod["spec"].get("nodeName") == NODE and "deletionTimestamp" not in pod["metadata"])
        self.cluster.kubectl("delete", "pod", "-n", NAMESPACE, old, "--timeout=60s", timeout=90)
        return old

    def wait_for_agent(self, condition, other_than):
        """Waits until a new pod has a condition, and returns the pod's name."""
        found = self.cluster.wait_for(
            f"the new agent is {condition}",
            lambda seen: (seen["spec"].get("nodeName") == NODE and seen["metadata"]["name"] != other_than
                          and condition_of(seen, condition).get("status") == "True"),
            "pods", namespace=NAMESPACE, selector=AGENT, within=60)
        return found["metadata"]["name"]

    def terminate_agent(self):
        """Ends the agent as kubelet would, and returns how many seconds that took, as the node saw it."""
        began, ended = self.cluster.node(1, "timeout", "40", "sh", "-c", TERMINATE).split()
        return float(ended) - float(began)

    def expect_one_gpu_less(self, word):
        """Returns the UUID of the GPU that is missing."""
        self.cluster.wait_until_schedulable(NODE, RESOURCE, GPUS - 1, within=NOTICED)
        node = self.cluster.get("node", NODE)
        self.assertEqual(node["status"]["capacity"][RESOURCE], str(GPUS))
        told = self.cluster.wait_for("the condition names the GPU", lambda seen: condition_of(
            seen, "GPUReady").get("reason") == "Degraded", "node", NODE)
        self.assertEqual(condition_of(told, "GPUReady")["status"], "True")
        message = condition_of(told, "GPUReady")["message"]
        self.assertIn(word, message)
        bad = UUID_OF_BAD.findall(message)
        self.assertEqual(len(bad), 1, message)
        return bad[0]

    def expect_pods_on_all_but(self, bad):
        names = [f"on-the-rest-{number}" for number in range(GPUS - 1)]
        for name in names:
            self.start(name, ["nvidia-smi", "-L"], gpus=1)
        seen = []
        for name in names:
            self.cluster.wait_for_pod(name, "Succeeded")
            seen += [uuid for _, uuid in gpus_in(self.cluster.logs(name))]
            self.cluster.delete("pod", name)
        self.assertEqual(len(seen), GPUS - 1)
        self.assertNotIn(bad, seen)

    def test_a_gpu_whose_calls_hang_costs_that_gpu_only(self):
        self.faults("gpu", "2", "hang")
        bad = self.expect_one_gpu_less("NvmlHung")
        self.expect_pods_on_all_but(bad)
        self.assertLess(self.terminate_agent(), 2.0)

    def test_a_gpu_that_crashes_the_library_costs_that_gpu_only_and_comes_back(self):
        self.faults("gpu", "1", "crash")
        bad = self.expect_one_gpu_less("NvmlCrashed")
        self.expect_pods_on_all_but(bad)
        self.faults("clear")
        self.cluster.wait_until_schedulable(NODE, RESOURCE, GPUS, within=BACK)

    def test_a_library_that_hangs_in_init_leaves_an_agent_that_answers_and_ends(self):
        self.start("keeper", SLEEP, gpus=1)
        self.cluster.wait_for_pod("keeper", "Running")
        self.faults("init", "hang")
        old = self.replace_agent()
        # The new agent cannot read the GPUs. It says what hangs, and kubelet has its list, in which nothing is healthy.
        told = self.cluster.wait_for("the condition says what hangs", lambda seen: "nvmlInit" in condition_of(
            seen, "GPUReady").get("message", ""), "node", NODE, within=TOLD)
        self.assertEqual(condition_of(told, "GPUReady")["status"], "False")
        node = self.cluster.wait_until_schedulable(NODE, RESOURCE, 0, within=NOTICED)
        self.assertEqual(node["status"]["capacity"][RESOURCE], str(GPUS))
        new = self.wait_for_agent("Ready", other_than=old)
        self.assertIn("registered with kubelet", self.cluster.logs(new, namespace=NAMESPACE))
        self.assertLess(self.terminate_agent(), 2.0)
        self.cluster.wait_for_pod("keeper", "Running")
        kept = self.cluster.get("pod", "keeper", namespace="default")["status"]["containerStatuses"][0]
        self.assertEqual(kept["restartCount"], 0)

    def test_a_lost_gpu_is_taken_away_and_comes_back(self):
        self.faults("lost", "3")
        self.expect_pods_on_all_but(self.expect_one_gpu_less("lost"))
        self.start("asks-for-all", ["nvidia-smi", "-L"], gpus=GPUS)
        refused = self.cluster.wait_for("the scheduler says why", lambda seen: condition_of(
            seen, "PodScheduled").get("reason") == "Unschedulable", "pod", "asks-for-all")
        self.assertIn(RESOURCE, condition_of(refused, "PodScheduled")["message"])
        self.faults("clear")
        self.cluster.wait_for_pod("asks-for-all", "Succeeded", within=BACK)


if __name__ == "__main__":
    unittest.main()
