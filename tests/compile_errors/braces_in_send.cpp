// SPDX-License-Identifier: BSD-3-Clause
// only: g++ before 13
// expect: destroys such a temporary of a co_await twice: give the function

#include <tertulia/describe.hpp>
#include <tertulia/output.hpp>

struct progress {
  std::string phase;
  int percent = 0;
};

BOOST_DESCRIBE_STRUCT(progress, (), (phase, percent))

tertulia::task<> report(tertulia::output<progress> out, std::string phase) {
  co_await out.send(progress{phase, 40});
}
