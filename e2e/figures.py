"""The figures that need a cluster, each beside its budget: memory of the roles, and the time until GPUs can be used.

    ./run bench

starts a cluster of three nodes for them and puts pawl's image there. Exit status: 0 when all is within budget, 3 when only
times are over, 1 when memory is over or a figure could not be had; what is over is listed last. Memory is read from /proc/PID/smaps_rollup on the node. Times come from
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
        self.over = []

    def show(self, name, value, budget, unit):
        verdict = "" if budget is None else "within budget" if value <= budget else "OVER BUDGET"
        if verdict.startswith("OVER"):
            self.over.append((unit, f"{name}: {value:.2f} {unit}, budget {budget:g} {unit}"))
        limit = "" if budget is None else f"≤ {budget:g} {unit}"
        print(f"   {name:<48} {value:>9.2f} {unit:<3} {limit:>12}  {verdict}", flush=True)

    def verdict(self):
        """Lists what is over and returns the exit status."""
        for _, line in self.over:
            print(f"OVER BUDGET  {line}", file=sys.stderr, flush=True)
        if not self.over:
            return 0
        return 1 if any(unit == "MB" for unit, _ in self.over) else 3


def processes(cluster, role, number=1):
    """The ids, on node `number`, of the processes `pawl ROLE …`."""
    listing = cluster.node(number, "ps", "-e", "-o", "pid=,args=")
    return [int(pid) for pid, program, first in re.findall(r"^\s*(\d+) (\S+) (\S+)", listing, re.M)
            if program.rsplit("/", 1)[-1] in ("pawl", "exe") and first == role]  # the agent starts /proc/self/exe


def nodes(cluster):
    return range(1, len(cluster.get("nodes")) + 1)


def memory(cluster, role):
    """Resident and anonymous memory of a role's processes together, in MB, on the first node that has them."""
    for number in nodes(cluster):
        found = [processes(cluster, name, number) for name in ROLES[role]]
        if all(found):
            break
    else:
        raise AssertionError(f"no node has the processes {', '.join(f'pawl {name}' for name in ROLES[role])}")
    resident = anonymous = 0
    for pid in (pid for pids in found for pid in pids):
        rollup = cluster.node(number, "cat", f"/proc/{pid}/smaps_rollup")
        resident += int(re.search(r"^Rss:\s+(\d+)", rollup, re.M)[1])
        anonymous += int(re.search(r"^Anonymous:\s+(\d+)", rollup, re.M)[1])
    return resident / 1024, anonymous / 1024


def kubelet_saw(text, after):
    """When kubelet first logged a line with `text` after a time (both as seconds since 1970)."""
    year = datetime.datetime.now().year
    for line in (STATE / f"log/{NODE}-kubelet.log").read_text(errors="replace").splitlines():
        if text in line and (stamp := re.match(r"[IWE](\d\d)(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{6})", line)):
            month, day, hour, minute, second, micro = map(int, stamp.groups())
            when = datetime.datetime(year, month, day, hour, minute, second, micro).timestamp()
            if when > after:
                return when
    raise Deadline(f"the log of kubelet on {NODE} has no line with \"{text}\" since the measurement began")


def started(cluster, pid):
    """When a process on the node began, as seconds since 1970; good to 10 ms."""
    ticks = int(cluster.node(1, "cat", f"/proc/{pid}/stat").rsplit(")", 1)[1].split()[19])
    uptime = float(cluster.node(1, "cat", "/proc/uptime").split()[0])
    return time.time() - uptime + ticks / 100


def measure_install(cluster, figures):
    pawl.uninstall(cluster)
    installed = pawl.Installed(cluster)
    began = time.time() - (time.monotonic() - installed.began)
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

    agent = next(pod for pod in cluster.get("pods", namespace=pawl.NAMESPACE,
                                            selector="app=nvidia-device-plugin-daemonset")
                 if pod["spec"]["nodeName"] == NODE)
    cluster.wait_for("the agent runs again", restarted, "pod", agent["metadata"]["name"], namespace=pawl.NAMESPACE,
                     within=60)
    registered = kubelet_saw(REGISTERED, ended)
    figures.show("agent start → registered with kubelet",
                 (registered - started(cluster, processes(cluster, "agent")[0])) * 1000, 500, "ms")


def measure(cluster, figures):
    print(f"   a cluster of {len(nodes(cluster))} node(s), warmed by a first installation", flush=True)
    pawl.Installed(cluster)
    measure_install(cluster, figures)
    for number in nodes(cluster):
        cluster.wait_for(f"condition GPUReady of node{number} is True", pawl.gpus_ready, "node", f"node{number}")
    for role, (resident_budget, anonymous_budget) in BUDGETS.items():
        resident, anonymous = memory(cluster, role)
        what = "agent + NVML worker" if role == "agent" else role
        figures.show(f"{what}, resident", resident, resident_budget, "MB")
        figures.show(f"{what}, anonymous", anonymous, anonymous_budget, "MB")
    measure_registration(cluster, figures)


def main():
    alone = use_alone()
    cluster, figures = Cluster(), Figures()
    try:
        measure(cluster, figures)
        status = figures.verdict()
    except AssertionError as problem:  # of commands and deadlines too
        print(f"FAILED       {problem}\n\n{pawl.story(cluster)}", file=sys.stderr)
        figures.verdict()
        status = 1
    finally:
        pawl.uninstall_unless_kept(cluster)
        alone.close()
    sys.exit(status)


if __name__ == "__main__":
    main()
