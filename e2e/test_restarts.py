"""What runs beside pawl on a node restarts, and pawl itself is killed: GPUs come back, and pods keep theirs."""

import time
import unittest

import pawl
from cluster import pod
from pawl import GPUS, NODE, RESOURCE, SLEEP, gpus_in


class Restarts(pawl.InstalledTest):
    def setUp(self):
        self.start("keeper", SLEEP, gpus=1)
        self.cluster.wait_for_pod("keeper", "Running")
        self.held = gpus_in(self.cluster.execute("keeper", "nvidia-smi", "-L"))

    def restart(self, daemon, signal):
        """Ends a daemon of the node; its supervisor starts it again."""
        self.cluster.node(1, "sh", "-c", f"kill -{signal} $(cat /run/pawl/{daemon}.pid)")

    def run_newcomer(self, within=60):
        """Runs a pod with one GPU to its end.

        For a moment kubelet has no word from the plugin while the scheduler still counts its GPUs; a pod that arrives
        then is refused, and made anew, as any controller of pods would do.
        """
        end = time.monotonic() + within
        self.addCleanup(self.cluster.delete, "pod", "newcomer")
        while True:
            self.cluster.apply(pod("newcomer", ["nvidia-smi", "-L"], gpus=1))
            seen = self.cluster.wait_for("the new pod has ended",
                                         lambda thing: thing["status"].get("phase") in ("Succeeded", "Failed"),
                                         "pod", "newcomer", within=max(1, end - time.monotonic()))
            if seen["status"].get("reason") != "UnexpectedAdmissionError":
                self.assertEqual(seen["status"]["phase"], "Succeeded")
                return gpus_in(self.cluster.logs("newcomer"))
            self.cluster.delete("pod", "newcomer")

    def expect_a_new_pod_to_run_and_the_old_one_to_stay(self):
        got = self.run_newcomer()
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
