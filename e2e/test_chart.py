"""The chart by itself: what it renders, and what it refuses. Nothing is installed."""

import unittest

import pawl
from cluster import Cluster, CommandFailed


class Chart(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()

    def render(self, *options):
        values = [argument for option in options for argument in ("--set", option)]
        return self.cluster.helm("template", "release", pawl.CHART, "-n", "elsewhere", "--kube-version", "1.36.3", *values)

    def refused(self, *options):
        with self.assertRaises(CommandFailed) as caught:
            self.render(*options)
        return caught.exception.output

    def test_it_passes_helms_lint(self):
        self.cluster.helm("lint", "--strict", pawl.CHART)

    def test_a_value_that_does_nothing_is_refused(self):
        self.assertIn("tolerations", self.refused("devicePlugin.tolerations[0].key=x"))
        self.assertIn("dcgmExporter", self.refused("dcgmExporter.enabled=true"))
        self.assertIn("strategy", self.refused("mig.strategy=double"))
        self.assertIn("cdi", self.refused("cdi.enabled=false"))
        self.assertIn("nriPluginEnabled", self.refused("cdi.nriPluginEnabled=true"))
        self.assertIn("migManager", self.refused("migManager.enabled=true"))

    def test_it_names_things_as_upstreams_does(self):
        rendered = self.render()
        for name in ("name: gpu-operator\n", "name: cluster-policy\n", "app: gpu-operator\n", "name: 53822513.nvidia.com\n"):
            self.assertIn(name, rendered)

    def test_an_image_is_a_triple_a_digest_or_a_whole_reference(self):
        image = ("operator.repository=r.example/a", "operator.image=i")
        self.assertIn("image: r.example/a/i:v1\n", self.render(*image, "operator.version=v1"))
        self.assertIn("image: r.example/a/i@sha256:cafe\n", self.render(*image, "operator.version=sha256:cafe"))
        self.assertIn("image: r.example/a/i:v2\n", self.render(
            "operator.repository=", "operator.image=r.example/a/i:v2", "operator.version="))

    def test_without_the_scout_node_feature_discovery_is_left_to_others(self):
        self.assertIn("node-feature-discovery-worker", self.render())
        self.assertNotIn("node-feature-discovery", self.render("nfd.enabled=false"))

    def test_secrets_for_pulling_reach_every_pod_template(self):
        rendered = self.render("operator.imagePullSecrets={mirror}")
        # Operator and scout as references, the agent by the ClusterPolicy as a name.
        self.assertEqual(rendered.count("- name: mirror"), 2)
        self.assertEqual(rendered.count("- mirror"), 1)

    def test_the_operator_may_not_touch_roles_secrets_or_pods(self):
        rendered = self.render()
        self.assertNotIn("secrets]", rendered)
        self.assertNotIn("pods]", rendered)
        self.assertNotIn("resources: [roles", rendered)
        self.assertNotIn("events]", rendered)
        self.assertNotIn("'*'", rendered)


if __name__ == "__main__":
    unittest.main()
