"""The figures that need a cluster, each beside its budget: memory of the roles, and the time until GPUs can be used.

    ./run bench

needs a cluster with pawl's image on its nodes. Memory is read from /proc/PID/smaps_rollup on the node. Times come from
kubelet's log, which has microseconds, and from the start time of the process that the kernel keeps.
"""

import datetime
import re
import sys
import time

import pawl
from cluster import STATE, Cluster, Deadline, use_alone
from pawl import NODE

REGISTERED = "Got registration request from device plugin"
LISTED = "Processed device updates for resource"
# Process, as its arguments begin → budgets in MB: resident, of which anonymous. The agent's is for it and its worker.
ROLES = {"agent": ("agent", "nvml"), "scout": ("scout",), "operator": ("operator",)}
BUDGETS = {"agent": (20, 5), "scout": (9, 2), "operator": (15, None)}


class Figures:
    def __init__(self):
        self.over = 0

    def show(self, name, value, budget, unit):
        verdict = "" if budget is None else "within budget" if value <= budget else "OVER BUDGET"
        self.over += verdict.startswith("OVER")
        limit = "" if budget is None else f"≤ {budget:g} {unit}"
        print(f"   {name:<48} {value:>9.2f} {unit:<3} {limit:>12}  {verdict}", flush=True)


def processes(cluster, role):
    """The ids, on the node, of the processes `pawl ROLE …`."""
    listing = cluster.node(1, "ps", "-e", "-o", "pid=,args=")
    return [int(pid) for pid, program, first in re.findall(r"^\s*(\d+) (\S+) (\S+)", listing, re.M)
            if program.rsplit("/", 1)[-1] in ("pawl", "exe") and first == role]  # the agent starts /proc/self/exe


def memory(cluster, role):
    """Resident and anonymous memory of a role's processes together, in MB."""
    resident = anonymous = 0
    for name in ROLES[role]:
        found = processes(cluster, name)
        if not found:
            raise AssertionError(f"no process pawl {name} on {NODE}")
        for pid in found:
            rollup = cluster.node(1, "cat", f"/proc/{pid}/smaps_rollup")
            resident += int(re.search(r"^Rss:\s+(\d+)", rollup, re.M)[1])
            anonymous += int(re.search(r"^Anonymous:\s+(\d+)", rollup, re.M)[1])
    return resident / 1024, anonymous / 1024


def kubelet_saw(text, after):
    """When kubelet first logged a line with `text` after a time (both as seconds since 1970), or None."""
    year = datetime.datetime.now().year
    for line in (STATE / f"log/{NODE}-kubelet.log").read_text(errors="replace").splitlines():
        if text in line and (stamp := re.match(r"[IWE](\d\d)(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{6})", line)):
            month, day, hour, minute, second, micro = map(int, stamp.groups())
            when = datetime.datetime(year, month, day, hour, minute, second, micro).timestamp()
            if when > after:
                return when
    return None


def started(cluster, pid):
    """When a process on the node began, as seconds since 1970; good to 10 ms."""
    ticks = int(cluster.node(1, "cat", f"/proc/{pid}/stat").rsplit(")", 1)[1].split()[19])
    uptime = float(cluster.node(1, "cat", "/proc/uptime").split()[0])
    return time.time() - uptime + ticks / 100


def measure_install(cluster, figures):
    pawl.uninstall(cluster)
    began = time.time()
    installed = pawl.Installed(cluster)
    figures.show("helm install → list of GPUs at kubelet", kubelet_saw(LISTED, began) - began, 3, "s")
    figures.show("helm install → allocatable", installed.allocatable_after, 13, "s")


def measure_registration(cluster, figures):
    """Ends the agent; kubelet starts it again, and it registers."""
    old = processes(cluster, "agent")
    ended = time.time()
    cluster.node(1, "kill", "-KILL", *map(str, old))

    def restarted(agent):
        status = agent["status"].get("containerStatuses", [{}])[0]
        return status.get("restartCount", 0) > 0 and status.get("ready")

    agent = cluster.get("pods", namespace=pawl.NAMESPACE, selector="app=nvidia-device-plugin-daemonset")[0]
    cluster.wait_for("the agent runs again", restarted, "pod", agent["metadata"]["name"], namespace=pawl.NAMESPACE,
                     within=60)
    registered = kubelet_saw(REGISTERED, ended)
    if registered is None:
        raise Deadline("kubelet saw no registration of the new agent")
    figures.show("agent start → registered with kubelet",
                 (registered - started(cluster, processes(cluster, "agent")[0])) * 1000, 500, "ms")


def main():
    alone = use_alone()
    cluster, figures = Cluster(), Figures()
    try:
        measure_install(cluster, figures)
        cluster.wait_for("condition GPUReady is True", pawl.gpus_ready, "node", NODE)
        for role, (resident_budget, anonymous_budget) in BUDGETS.items():
            resident, anonymous = memory(cluster, role)
            what = "agent + NVML worker" if role == "agent" else role
            figures.show(f"{what}, resident", resident, resident_budget, "MB")
            figures.show(f"{what}, anonymous", anonymous, anonymous_budget, "MB")
        measure_registration(cluster, figures)
    finally:
        pawl.uninstall_unless_kept(cluster)
        alone.close()
    sys.exit(1 if figures.over else 0)


if __name__ == "__main__":
    main()
