// Objectives against settings, in a simulation of loads.
//
//   objective_bench [--requests N] [--seed S] [--machine NAME] [--trace FILE] [--json FILE]
//
// Every machine is given every load, under every policy; then machines whose executions differ
// wildly get some, and one that frontends share; then three models share one, which is called
// "shared". Prints a table, writes a line of JSON for each load and policy, and exits with 1 where
// a bar is missed.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/objective_contest.h"
#include "bench/objective_share.h"

namespace nereid::objective {
namespace {

struct Arguments {
  size_t requests = 50'000;
  uint64_t seed = 1;
  std::string machine;
  std::string trace;
  std::string json;
};

Arguments Read(int count, char** values) {
  Arguments arguments;
  for (int i = 1; i < count; i += 2) {
    const std::string name = values[i];
    if (i + 1 == count) {
      throw std::runtime_error(name + " has no value");
    }
    const std::string value = values[i + 1];
    if (name == "--requests") {
      arguments.requests = std::max<size_t>(std::strtoull(value.c_str(), nullptr, 10), 1000);
    } else if (name == "--seed") {
      arguments.seed = std::strtoull(value.c_str(), nullptr, 10);
    } else if (name == "--machine") {
      arguments.machine = value;
    } else if (name == "--trace") {
      arguments.trace = value;
    } else if (name == "--json") {
      arguments.json = value;
    } else {
      throw std::runtime_error("unknown argument " + name +
                               ", expected --requests, --seed, --machine, --trace or --json");
    }
  }
  return arguments;
}

double Share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string Quoted(const std::string& text) { return '"' + text + '"'; }

void WriteLine(std::ofstream& file, const Machine& machine, const Contest& contest,
               const Entry& entry) {
  const Result& result = entry.result;
  file << "{\"machine\":" << Quoted(machine.name) << ",\"load\":" << Quoted(contest.load)
       << ",\"policy\":" << Quoted(entry.policy) << ",\"offered\":" << result.offered
       << ",\"kept\":" << result.kept << ",\"late\":" << result.late
       << ",\"refused\":" << result.refused
       << ",\"goodput\":" << static_cast<double>(result.kept) / contest.seconds
       << ",\"p50_ms\":" << result.p50_ms << ",\"p99_ms\":" << result.p99_ms
       << ",\"batch\":" << result.batch << "}\n";
}

void PrintContest(const Contest& contest) {
  std::printf("  %s: %.0f requests/s\n", contest.load.c_str(),
              static_cast<double>(contest.offered) / contest.seconds);
  const auto print = [&](const char* name, const Entry& entry) {
    const Result& result = entry.result;
    std::printf(
        "    %-22s %9.1f/s %5.1f%% kept %5.2f%% late %5.1f%% refused  p50 %8.3f  p99 "
        "%9.3f ms  %5.1f rows  %s\n",
        name, static_cast<double>(result.kept) / contest.seconds,
        100 * Share(result.kept, result.offered),
        100 * Share(result.late, result.kept + result.late),
        100 * Share(result.refused, result.offered), result.p50_ms, result.p99_ms, result.batch,
        entry.policy.c_str());
  };
  print("objective", contest.objective);
  print("best static", contest.BestStatic(false));
  print("best static, timeouts", contest.BestStatic(true));
  print("aimd", contest.aimd);
  std::printf("    %-22s %9.1f/s %5.1f%% kept\n", "nobody keeps more than",
              static_cast<double>(contest.most) / contest.seconds,
              100 * Share(contest.most, contest.offered));
}

void PrintShared(const char* name, const SharedContest& contest,
                 const std::vector<Result>& results) {
  std::printf("    %-30s", name);
  for (size_t i = 0; i < results.size(); ++i) {
    std::printf("  %s %5.1f%% kept %5.2f%% late", contest.names[i].c_str(),
                100 * Share(results[i].kept, results[i].offered),
                100 * Share(results[i].late, results[i].kept + results[i].late));
  }
  std::printf("\n");
}

bool PrintBars(const std::vector<Bar>& bars) {
  bool all_met = true;
  for (const Bar& bar : bars) {
    all_met = all_met && (bar.met || !bar.counts);
    std::printf("  %s  %-58s %s\n",
                bar.met      ? "met   "
                : bar.counts ? "MISSED"
                             : "missed",
                bar.name.c_str(), bar.found.c_str());
  }
  return all_met;
}

// Three models on the same processors.
bool RunShared(const Arguments& arguments) {
  std::printf("shared: %u instances, of three models\n", kTenantsWidth);
  std::vector<SharedContest> contests;
  for (const double times : {0.75, 1.0, 1.5}) {
    contests.push_back(HoldShared(times, arguments.requests / 20, arguments.seed));
    const SharedContest& contest = contests.back();
    std::printf("  %.2f of the capacity\n", times);
    PrintShared("objectives, by who is due", contest, contest.first_due);
    PrintShared("objectives, by who came", contest, contest.first_come);
    PrintShared("best static setting", contest, contest.settings);
    std::fflush(stdout);
  }
  return PrintBars(SharedBars(contests.front(), contests.back()));
}

std::vector<Contest> HoldAll(const Machine& machine, const std::vector<Load>& loads, uint64_t seed,
                             std::ofstream& json) {
  std::vector<Contest> contests;
  for (const Load& load : loads) {
    contests.push_back(Hold(machine, load, seed));
    const Contest& contest = contests.back();
    PrintContest(contest);
    WriteLine(json, machine, contest, contest.objective);
    WriteLine(json, machine, contest, contest.aimd);
    for (const Entry& entry : contest.statics) {
      WriteLine(json, machine, contest, entry);
    }
    Result most{.offered = contest.offered, .kept = contest.most};
    most.refused = contest.offered - contest.most;
    WriteLine(json, machine, contest, {.policy = "oracle", .result = most});
    std::fflush(stdout);
  }
  return contests;
}

bool RunMachine(const Machine& machine, const Arguments& arguments, std::ofstream& json) {
  const double feasible = FeasibleLoad(machine, arguments.requests / 4, arguments.seed);
  std::printf("%s: %u instances, objective p99 %.3f ms, feasible load %.1f requests/s\n",
              machine.name.c_str(), machine.instances,
              static_cast<double>(machine.latency_ns) / 1e6, feasible);
  std::vector<Load> loads = Loads(machine, feasible, arguments.requests, arguments.seed);
  if (!arguments.trace.empty()) {
    loads.push_back(Trace(arguments.trace));
  }
  return PrintBars(Bars(HoldAll(machine, loads, arguments.seed, json)));
}

bool RunWild(const Machine& machine, const Arguments& arguments, std::ofstream& json) {
  std::printf("%s: %u instances, objective p99 %.3f ms, capacity %.1f requests/s\n",
              machine.name.c_str(), machine.instances,
              static_cast<double>(machine.latency_ns) / 1e6, machine.UsualCapacity());
  const std::vector<Load> loads = WildLoads(machine, arguments.requests, arguments.seed);
  return PrintBars(WildBars(HoldAll(machine, loads, arguments.seed, json)));
}

bool RunServed(const Machine& machine, const Arguments& arguments, std::ofstream& json) {
  constexpr double kRate = 1290;
  constexpr double kSeconds = 4;
  const double both = kRate * kSeconds * 2.25;
  const int turns = 2 * static_cast<int>(static_cast<double>(arguments.requests) / both + 1);
  std::printf("%s: %u instances, objective p99 %.3f ms\n", machine.name.c_str(), machine.instances,
              static_cast<double>(machine.latency_ns) / 1e6);
  const std::vector<Load> loads = {UpAndDown(kRate, kSeconds, turns, arguments.seed)};
  return PrintBars(ServedBars(HoldAll(machine, loads, arguments.seed, json)));
}

int Run(const Arguments& arguments) {
  std::ofstream json;
  if (!arguments.json.empty()) {
    json.open(arguments.json);
  }
  bool all_met = true;
  bool some = false;
  const auto is_wanted = [&](const std::string& name) {
    const bool is = arguments.machine.empty() || arguments.machine == name;
    some = some || is;
    return is;
  };
  for (const Machine& machine : Machines()) {
    all_met = (!is_wanted(machine.name) || RunMachine(machine, arguments, json)) && all_met;
  }
  for (const Machine& machine : WildMachines()) {
    all_met = (!is_wanted(machine.name) || RunWild(machine, arguments, json)) && all_met;
  }
  const Machine served = ServedMachine();
  if (is_wanted(served.name)) {
    all_met = RunServed(served, arguments, json) && all_met;
  }
  if (is_wanted("shared")) {
    all_met = RunShared(arguments) && all_met;
  }
  if (!some) {
    throw std::runtime_error("there is no machine " + arguments.machine);
  }
  return all_met ? 0 : 1;
}

}  // namespace
}  // namespace nereid::objective

int main(int count, char** values) {
  try {
    return nereid::objective::Run(nereid::objective::Read(count, values));
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "objective_bench: %s\n", failure.what());
    return 2;
  }
}
