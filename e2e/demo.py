"""What `./run demo` shows once a cluster is up and the image is on its nodes: the main job, step by step."""

import sys
import time

import pawl
from cluster import Cluster, CommandFailed, Deadline, condition_of, pod, use_alone
from pawl import NODE, SLEEP, gpus_in

COLOURED = sys.stdout.isatty()
BOLD, DIM, GREEN, RED, PLAIN = [f"\x1b[{code}m" if COLOURED else "" for code in (1, 2, 32, 31, 0)]


class Teller:
    """Says what happens, with the seconds since the demo began."""

    def __init__(self):
        self.began = time.monotonic()
        self.steps = 0

    def heading(self, text):
        self.steps += 1
        print(f"\n{BOLD}{self.steps}. {text}{PLAIN}", flush=True)

    def command(self, text):
        print(f"   {DIM}$ {text}{PLAIN}", flush=True)

    def show(self, text):
        for line in text.rstrip().splitlines():
            print(f"     {line}", flush=True)

    def good(self, text):
        print(f"   {GREEN}✓{PLAIN} {text}  {DIM}(at {time.monotonic() - self.began:.1f} s){PLAIN}", flush=True)

    def waiting(self, text):
        print(f"   {DIM}… {text}{PLAIN}", flush=True)


def unschedulable(seen):
    return condition_of(seen, "PodScheduled").get("reason") == "Unschedulable"


def clear(cluster):
    """What an earlier demo left."""
    cluster.delete("pod", "one", "left", "right", "five", "all", "none")
    pawl.uninstall(cluster)


def install(cluster, tell):
    tell.heading("Install pawl with helm, on a node that has a driver and four GPUs")
    tell.command("helm install --wait --generate-name -n gpu-operator --create-namespace ./deploy/helm/pawl"
                 " --set driver.enabled=false")
    clear(cluster)
    tell.began = time.monotonic()
    release = pawl.install(cluster)
    tell.good(f"release {release} is installed")
    tell.waiting("kubelet tells the API server of new resources at most every 10 s")
    cluster.wait_until_schedulable(NODE, pawl.RESOURCE, 4)
    tell.good(f"{NODE} has 4 {pawl.RESOURCE} allocatable")


def show_node(cluster, tell):
    tell.heading("What the node says of itself")
    node = cluster.wait_for("condition GPUReady", pawl.gpus_ready, "node", NODE)
    tell.command(f"kubectl get node {NODE} -o yaml")
    labels = node["metadata"]["labels"]
    for key in ("product", "count", "memory", "family"):
        tell.show(f"nvidia.com/gpu.{key}: {labels.get(f'nvidia.com/gpu.{key}')}")
    tell.show(f"and {sum(key.startswith('nvidia.com/') for key in labels) - 4} more labels under nvidia.com/")
    condition = condition_of(node, "GPUReady")
    tell.good(f"condition GPUReady is {condition['status']}: {condition['reason']}. {condition['message']}")


def one_gpu(cluster, tell):
    tell.heading("A pod asks for one GPU and gets one")
    tell.command("kubectl run: limits nvidia.com/gpu: 1, command nvidia-smi -L")
    cluster.apply(pod("one", ["nvidia-smi", "-L"], gpus=1))
    cluster.wait_for_pod("one", "Succeeded")
    output = cluster.logs("one")
    tell.show(output)
    assert len(gpus_in(output)) == 1, "the pod sees more or less than one GPU"
    tell.good("it sees one of the four")


def two_pods(cluster, tell):
    tell.heading("Two pods get different GPUs")
    cluster.apply([pod(name, SLEEP, gpus=1) for name in ("left", "right")])
    seen = {}
    for name in ("left", "right"):
        cluster.wait_for_pod(name, "Running")
        output = cluster.execute(name, "nvidia-smi", "-L")
        seen[name] = {uuid for _, uuid in gpus_in(output)}
        tell.command(f"kubectl exec {name} -- nvidia-smi -L")
        tell.show(output)
    assert seen["left"].isdisjoint(seen["right"]), "both pods see the same GPU"
    tell.good("no GPU is in both")


def five_gpus(cluster, tell):
    tell.heading("A pod that asks for five waits, and Kubernetes says why")
    cluster.apply(pod("five", SLEEP, gpus=5))
    seen = cluster.wait_for("the scheduler gives a reason", unschedulable, "pod", "five")
    tell.show(condition_of(seen, "PodScheduled")["message"])
    tell.good(f"it is {seen['status']['phase']}")
    cluster.delete("pod", "five", wait=False)


def freed(cluster, tell):
    tell.heading("Deleting pods frees their GPUs")
    cluster.apply(pod("all", ["nvidia-smi"], gpus=4))
    tell.waiting("a pod that asks for four waits, two are in use")
    cluster.wait_for("the pod waits", unschedulable, "pod", "all")
    tell.command("kubectl delete pod left right")
    cluster.delete("pod", "left", "right")
    cluster.wait_for_pod("all", "Succeeded")
    tell.show(cluster.logs("all"))
    tell.good("it got all four")


def no_request(cluster, tell):
    tell.heading("A pod that asks for none sees none")
    cluster.apply(pod("none", SLEEP))
    cluster.wait_for_pod("none", "Running")
    tell.command("kubectl exec none -- ls /dev")
    devices = cluster.execute("none", "ls", "/dev")
    tell.show(" ".join(devices.split()))
    assert "nvidia" not in devices, "the pod has a device node of a GPU"
    try:
        cluster.execute("none", "nvidia-smi")
    except CommandFailed:
        tell.good("no device node, and no nvidia-smi either")
    else:
        raise AssertionError("nvidia-smi runs in a pod that asked for no GPU")


def farewell():
    print(f"""
{BOLD}The cluster stays up. Look around:{PLAIN}
   ./run cluster status
   ./run cluster kubectl get pods -A
   ./run cluster kubectl describe node {NODE}
   ./run cluster kubectl apply -f e2e/gpu-pod.yaml
   ./run cluster kubectl exec -it gpu-pod -- nvidia-smi
   ./run cluster node 1 bash
{BOLD}and take it down:{PLAIN}
   ./run cluster down
""", flush=True)


def main():
    alone = use_alone()
    cluster, tell = Cluster(), Teller()
    try:
        for act in (install, show_node, one_gpu, two_pods, five_gpus, freed, no_request):
            act(cluster, tell)
        cluster.delete("pod", "one", "all", "none", wait=False)
    except (AssertionError, CommandFailed, Deadline) as problem:
        print(f"   {RED}✗{PLAIN} {problem}\n\n{pawl.story(cluster)}", file=sys.stderr)
        sys.exit(1)
    alone.close()
    farewell()


if __name__ == "__main__":
    main()
