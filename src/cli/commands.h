// The sub-commands of `pawl`, one file each. Add… declares the flags; parsing the sub-command runs
// it and sets `exit_code`. Only these files read the environment.
#pragma once

namespace CLI {
class App;
}

namespace pawl::cli {

void AddAdvise(CLI::App& app, int& exit_code);    // people: which driver, and why
void AddAgent(CLI::App& app, int& exit_code);     // node: the agent
void AddCdi(CLI::App& app, int& exit_code);       // people: CDI specifications
void AddDiscover(CLI::App& app, int& exit_code);  // people: the labels of this machine
void AddDoctor(CLI::App& app, int& exit_code);  // people: the stages of this node and why they wait
void AddNvml(CLI::App& app, int& exit_code);    // node: the agent's NVML worker
void AddOperator(CLI::App& app, int& exit_code);  // cluster: the operator
void AddPlan(CLI::App& app, int& exit_code);      // people: what the operator would do
void AddScout(CLI::App& app, int& exit_code);  // node: finds GPUs, writes what the rest relies on
void AddValidate(CLI::App& app, int& exit_code);  // node: readiness probe
void AddVersion(CLI::App& app, int& exit_code);   // people: what this is

}  // namespace pawl::cli
