// SPDX-License-Identifier: BSD-3-Clause

#include "machine.hpp"

#include <tertulia/config.hpp>

#include <caf/actor_system.hpp>
#include <caf/config.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

#include <fstream>
#include <string>
#include <thread>

#include <gnu/libc-version.h>
#include <stdlib.h>
#include <sys/utsname.h>

namespace tertulia::bench {

namespace {

std::string cpu_model() {
  std::ifstream in{"/proc/cpuinfo"};
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("model name"))
      return line.substr(line.find(':') + 2);
  return "unknown";
}

std::string kernel() {
  utsname about{};
  uname(&about);
  return std::string{about.sysname} + ' ' + about.release + ' ' + about.machine;
}

std::string compiler() {
#ifdef __clang__
  return "clang " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

std::string caf_version() {
  return std::to_string(CAF_MAJOR_VERSION) + '.'
         + std::to_string(CAF_MINOR_VERSION) + '.'
         + std::to_string(CAF_PATCH_VERSION);
}

std::size_t scheduler_threads() {
  tertulia::config cfg;
  caf::actor_system system{cfg};
  return system.scheduler().num_workers();
}

} // namespace

nlohmann::ordered_json describe_machine() {
  double load = 0; // last minute: a busy machine spoils results
  getloadavg(&load, 1);
  return {
    {"cpu", cpu_model()},
    {"cores", std::thread::hardware_concurrency()},
    {"scheduler_threads", scheduler_threads()},
    {"load_before", load},
    {"kernel", kernel()},
    {"libc", std::string{"glibc "} + gnu_get_libc_version()},
    {"compiler", compiler()},
    {"build_type", TERTULIA_BUILD_TYPE},
    {"caf", caf_version()},
  };
}

} // namespace tertulia::bench
