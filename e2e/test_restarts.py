"""What runs beside pawl on a node restarts, and pawl itself is killed: GPUs come back, and pods keep theirs."""

import unittest

import pawl
from pawl import GPUS, NODE, RESOURCE, SLEEP, gpus_in


class Restarts(pawl.InstalledTest):
    def setUp(self):
        self.start("keeper", SLEEP, gpus=1)
        self.cluster.wait_for_pod("keeper", "Running")
        self.held = gpus_in(self.cluster.execute("keeper", "nvidia-smi", "-L"))

    def restart(self, daemon, signal):
        """Ends a daemon of the node; its supervisor starts it again."""
        self.cluster.node(1, "sh", "-c", f"kill -{signal} $(cat /run/pawl/{daemon}.pid)")

    def expect_a_new_pod_to_run_and_the_old_one_to_stay(self):
        self.start("newcomer", ["nvidia-smi", "-L"], gpus=1)
        self.cluster.wait_for_pod("newcomer", "Succeeded", within=60)
        got = gpus_in(self.cluster.logs("newcomer"))
        self.assertEqual(len(got), 1)
        self.assertNotEqual(got, self.held)
        self.cluster.wait_for_pod("keeper", "Running")
        kept = self.cluster.get("pod", "keeper", namespace="default")["status"]["containerStatuses"][0]
        self.assertEqual(kept["restartCount"], 0)
        self.assertEqual(gpus_in(self.cluster.execute("keeper", "nvidia-smi", "-L")), self.held)
        self.cluster.wait_until_schedulable(NODE, RESOURCE, GPUS, within=60)

    def test_kubelet_restarts(self):
        self.restart("kubelet", "KILL")
        self.expect_a_new_pod_to_run_and_the_old_one_to_stay()

    def test_containerd_is_told_to_read_its_configuration_anew(self):
        self.restart("containerd", "HUP")
        self.expect_a_new_pod_to_run_and_the_old_one_to_stay()

    def test_the_agent_is_killed(self):
        self.cluster.node(1, "sh", "-c", "kill -KILL $(pgrep -f '^/usr/bin/pawl agent')")
        self.expect_a_new_pod_to_run_and_the_old_one_to_stay()


if __name__ == "__main__":
    unittest.main()
